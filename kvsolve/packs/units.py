"""Running a program on a configuration that differs little from one already run.

Most flags of most commands keep their defaults, so most of a program would do what it did for the
last command. :class:`Units` is a program cut into units (:mod:`kvsolve.packs.unit_source`). A
:class:`Baseline` holds every value of one run in one context; another configuration then runs only
the units that read something which differs, directly or through a unit that came out differently. A
unit's outcome depends on the cells that it reads and on the context's facts alone, so the trace is
that of a whole run.
"""

from __future__ import annotations

import marshal
from itertools import chain, compress
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.packs.compile import SCOPE, UNSET, Unknowable, without_lines
from kvsolve.packs.evaluate import Failure, Trace
from kvsolve.packs.unlike import unlike

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import CodeType

    from kvsolve.model.program import Program
    from kvsolve.packs.compile import FactTable
    from kvsolve.packs.evaluate import Write
    from kvsolve.packs.exact_units import Steps

__all__ = ["Baseline", "Reach", "Units", "compile_units"]


class _Layout(NamedTuple):
    """What is to be known of units beside their code.

    Attributes:
        unit_of: For each step its unit.
        readers: For each cell the units that read it.
        parsed: Flag -> the cell of its value as parsed.
        typed: Flag -> the cell of its value as typed.
        cells: Slot at its version -> its cell, where more than one unit needs it.
        terms: Unit of a shared term -> the term's cell.
        fixed: Cell of a term of facts -> the units that read it.
        askers: Fact that units ask for themselves -> these units.
        finals: Cell of a final value -> its slot.
    """

    unit_of: tuple[int, ...]
    readers: tuple[tuple[int, ...], ...]
    parsed: dict[str, int]
    typed: dict[str, int]
    cells: dict[tuple[str, int], int]
    terms: dict[int, int]
    fixed: dict[int, tuple[int, ...]]
    askers: dict[str, tuple[int, ...]]
    finals: dict[int, str]


class Reach(NamedTuple):
    """What a configuration changes in a baseline.

    Attributes:
        cells: The cells after the run.
        marks: 1 for each unit that ran.
        trace: What these did, and every final value.
    """

    cells: list[Any]
    marks: bytearray
    trace: Trace


class Units:
    """A program in units, ready to run.

    Attributes:
        code: The generated functions' code.
        layout: What is to be known of the units beside it.
        functions: The units, in order.
        fix: Fills the cells of terms of facts.
        deep: See :func:`kvsolve.packs.remembered.deep_reads`; made when somebody first asks.
    """

    def __init__(self, code: CodeType, layout: tuple[Any, ...]) -> None:
        self.code, self.layout = code, _Layout(*layout)
        scope = {**SCOPE, "unlike": unlike}
        exec(code, scope)  # our own output from checked terms, as in packs.compile
        self.functions: tuple[Callable[..., None], ...] = scope["units"]
        self.fix: Callable[[list[Any], FactTable], None] = scope["fix"]
        self._steps: Steps | None = None
        self.deep: Sequence[frozenset[int]] | None = None

    def marshal(self) -> bytes:
        """The code and its layout, for a cache that this Python version alone can read."""
        return marshal.dumps((without_lines(self.code), tuple(self.layout)))

    @classmethod
    def unmarshal(cls, data: bytes | memoryview) -> Units:
        """The inverse of :meth:`marshal`."""
        return cls(*marshal.loads(data))

    def steps(self, program: Program) -> Steps:
        """What interpreting some of the units needs; kept, as the program is always the same."""
        if self._steps is None:
            from kvsolve.packs.exact_units import Steps

            self._steps = Steps(program, self)
        return self._steps

    def baseline(
        self, values: Mapping[str, Any], given: Collection[str], facts: FactTable
    ) -> Baseline | None:
        """Run all of it; None where a crash or a missing fact asks for the exact run.

        Args:
            values: Value of each flag as parsed.
            given: Flags that were typed.
            facts: Facts by name; they must not change while the baseline is used.
        """
        cells = self._filled(values, given, facts)
        out: tuple[Any, ...] = ([], [], {}, [])
        marks = bytearray(b"\1" * len(self.functions))
        try:
            for unit in self.functions:
                unit(cells, marks, facts, *out)
        except Exception:
            return None
        return Baseline(self, dict(values), frozenset(given), facts, cells, _trace(*out))

    def doubtful_baseline(
        self,
        values: Mapping[str, Any],
        given: Collection[str],
        facts: FactTable,
        program: Program,
    ) -> Baseline | None:
        """The same where facts are missing; None where something crashes.

        What is undefined after a crash depends on where it crashed first, so that no other run can
        begin from there; what is not known is the same however often it is asked for.

        Args:
            values: Value of each flag as parsed.
            given: Flags that were typed.
            facts: Facts by name; they must not change while the baseline is used.
            program: What the units were cut from.
        """
        from kvsolve.packs.exact_units import ExactRun

        cells = self._filled(values, given, facts)
        marks = bytearray(b"\1" * len(self.functions))
        run = ExactRun(self, self.steps(program), cells, marks, facts, {})
        trace = run.run()
        if any(failure.reason != "unknown" for failure in trace.failures):
            return None
        trace.failures.sort(key=_step_of)  # those that interpreted units tell come first
        told = self.in_doubt(cells, run.told)
        return Baseline(self, dict(values), frozenset(given), facts, cells, trace, told)

    def fixed(self, facts: FactTable) -> list[Any]:
        """The values of all terms of facts, in the order of ``layout.fixed``."""
        cells: list[Any] = [UNSET] * len(self.layout.readers)
        self.fix(cells, facts)
        return [cells[cell] for cell in self.layout.fixed]

    def in_doubt(self, cells: Sequence[Any], told: Collection[int]) -> frozenset[int]:
        """The units that read what is not known, beside those that an exact run told."""
        readers = self.layout.readers
        unknown = (cell for cell, value in enumerate(cells) if type(value) is Unknowable)
        return frozenset(told).union(*(readers[cell] for cell in unknown))

    def run(
        self, cells: list[Any], marks: bytearray, facts: FactTable, final: dict[str, Any]
    ) -> Trace | None:
        """Run the units that are marked, and those that they mark.

        None where a crash or a missing fact asks for the interpreter; the cells are of no use then.

        Args:
            cells: The cells before; they are changed.
            marks: 1 for each unit that is to run; those that ran in the end.
            facts: Facts by name.
            final: Final values before; they are changed.
        """
        refusals: list[int] = []
        writes: list[Write] = []
        unknown: list[tuple[int, str]] = []
        functions, following = self.functions, marks.find
        at = following(1)
        try:
            while at >= 0:
                functions[at](cells, marks, facts, refusals, writes, final, unknown)
                at = following(1, at + 1)
        except Exception:
            return None
        return _trace(refusals, writes, final, unknown)

    def _filled(
        self, values: Mapping[str, Any], given: Collection[str], facts: FactTable
    ) -> list[Any]:
        """The cells before any unit has run."""
        cells: list[Any] = [UNSET] * len(self.layout.readers)
        for flag, cell in self.layout.parsed.items():
            cells[cell] = values.get(flag)
        for flag, cell in self.layout.typed.items():
            cells[cell] = values.get(flag) if flag in given else None
        self.fix(cells, facts)
        return cells


def _trace(
    refusals: list[int], writes: list[Write], values: dict[str, Any], unknown: list[Any]
) -> Trace:
    return Trace(refusals, writes, [Failure(s, "unknown", label) for s, label in unknown], values)


class Baseline:
    """One run in one context, and how to run what differs from it.

    Attributes:
        units: The program.
        values: Value of each flag as parsed.
        given: Flags that were typed.
        facts: Facts by name.
        cells: The cells after the run.
        trace: What it did.
        doubtful: Units that read what is not known, so that only the interpreter runs them.
    """

    __slots__ = ("_names", "cells", "doubtful", "facts", "given", "trace", "units", "values")

    def __init__(
        self,
        units: Units,
        values: dict[str, Any],
        given: frozenset[str],
        facts: FactTable,
        cells: list[Any],
        trace: Trace,
        doubtful: frozenset[int] = frozenset(),
    ) -> None:
        self.units, self.values, self.given = units, values, given
        self.doubtful = doubtful
        self._names = list(values)
        self.facts, self.cells = facts, cells
        self.trace = trace

    def attempt(self, values: Mapping[str, Any], given: Collection[str]) -> Trace | None:
        """Run a configuration; None where a crash or a missing fact asks for the exact run.

        Args:
            values: Value of each flag as parsed.
            given: Flags that were typed.
        """
        found = self.reach(values, given)
        return None if found is None else self.told(found.trace, found.marks)

    def reach(self, values: Mapping[str, Any], given: Collection[str]) -> Reach | None:
        """The same, without what the baseline tells of all other units."""
        if self.doubtful:
            return None
        cells, marks = self._begun(values, given)
        trace = self.units.run(cells, marks, self.facts, self.trace.values.copy())
        return None if trace is None else Reach(cells, marks, trace)

    def moved(
        self, facts: FactTable, program: Program, fixed: Sequence[Any]
    ) -> tuple[Baseline, bytearray] | None:
        """The baseline of another context, and the units that differ from this one's.

        None where something crashes there, or where this one is doubtful itself.

        Args:
            facts: Facts by name; they must not change while the baseline is used.
            program: What the units were cut from.
            fixed: The terms of these facts, see :meth:`Units.fixed`.
        """
        if self.doubtful:
            return None
        units, final = self.units, self.trace.values.copy()
        cells, marks = self._with_facts(facts, fixed)
        begun = cells.copy(), marks.copy()
        new, doubtful = units.run(cells, marks, facts, final), frozenset[int]()
        if new is None:
            from kvsolve.packs.exact_units import ExactRun

            cells, marks = begun
            final = self.trace.values.copy()
            run = ExactRun(units, units.steps(program), cells, marks, facts, final)
            new = run.run()
            if any(failure.reason != "unknown" for failure in new.failures):
                return None
            doubtful = units.in_doubt(cells, run.told)
        trace = self.told(new, marks)
        found = Baseline(units, self.values, self.given, facts, cells, trace, doubtful)
        return found, marks

    def _with_facts(self, facts: FactTable, fixed: Sequence[Any]) -> tuple[list[Any], bytearray]:
        """The cells with the facts of another context, and marks of the units that read these."""
        cells, marks = self.cells.copy(), bytearray(len(self.units.functions))
        layout, readers = self.units.layout, []
        for (cell, units), value in zip(layout.fixed.items(), fixed, strict=True):
            if unlike(value, cells[cell]):
                readers.append(units)
            cells[cell] = value
        for fact, units in layout.askers.items():
            if facts.get(fact, UNSET) is not self.facts.get(fact, UNSET):
                readers.append(units)
        for unit in chain.from_iterable(readers):
            marks[unit] = 1
        return cells, marks

    def exact(self, values: Mapping[str, Any], given: Collection[str], program: Program) -> Trace:
        """Run a configuration whatever it meets: the interpreter tells what :meth:`attempt` cannot.

        Args:
            values: Value of each flag as parsed.
            given: Flags that were typed.
            program: What the units were cut from.
        """
        from kvsolve.packs.exact_units import ExactRun

        cells, marks = self._begun(values, given)
        steps, final = self.units.steps(program), self.trace.values.copy()
        run = ExactRun(self.units, steps, cells, marks, self.facts, final, self.doubtful)
        return self.told(run.run(), marks)

    def _begun(
        self, values: Mapping[str, Any], given: Collection[str]
    ) -> tuple[list[Any], bytearray]:
        """The cells with what differs, and marks of the units that read them."""
        cells, marks = self.cells.copy(), bytearray(len(self.units.functions))
        for cell in self._change(values, given, cells):
            for unit in self.units.layout.readers[cell]:
                marks[unit] = 1
        return cells, marks

    def told(self, new: Trace, marks: bytearray) -> Trace:
        """The whole trace: units that ran told anew what they do; else the baseline's word stands.

        Args:
            new: What the units that ran told; it is completed.
            marks: Which these are.
        """
        unit_of, old = self.units.layout.unit_of, self.trace
        new.refusals += [step for step in old.refusals if not marks[unit_of[step]]]
        new.writes += [write for write in old.writes if not marks[unit_of[write.step]]]
        new.failures += [f for f in old.failures if not marks[unit_of[f.step]]]
        new.refusals.sort()
        new.writes.sort()  # by step: none writes twice, so no value is ever compared
        new.failures.sort(key=_step_of)
        return new

    def _change(
        self, values: Mapping[str, Any], given: Collection[str], cells: list[Any]
    ) -> list[int]:
        """Put what differs into its cells; the cells changed."""
        changed: list[int] = []
        names = self._names
        if list(values) != names:
            names = list({**self.values, **values})
            differ = [n for n in names if values.get(n) is not self.values.get(n)]
        else:
            # One pass in C over some five hundred values, nearly all of them the very same object.
            differ = list(compress(names, map(is_not, values.values(), self.values.values())))
        layout = self.units.layout
        for name in differ:
            cell = layout.parsed.get(name)
            value = values.get(name)
            if cell is not None and unlike(value, cells[cell]):
                cells[cell] = value
                changed.append(cell)
        for name in {*differ, *self.given.symmetric_difference(given)}:
            cell = layout.typed.get(name)
            value = values.get(name) if name in given else None
            if cell is not None and unlike(value, cells[cell]):
                cells[cell] = value
                changed.append(cell)
        return changed


def _step_of(failure: Failure) -> int:
    return failure.step


_LARGEST = 12
"""Larger units run in vain too often, many small ones cost more to call; flat from 10 to 16."""
_DEAR = 3
"""With 5, runs take half as long again; with 2, units only get more."""


def compile_units(program: Program, *, largest: int = _LARGEST, dear: int = _DEAR) -> Units:
    """Cut a program into units; takes about as long as compiling it whole.

    Args:
        program: What to cut.
        largest: Steps of a unit at most.
        dear: Operations from which on a term that several units share has a unit of its own.
    """
    from kvsolve.packs.unit_source import UnitWriter

    writer = UnitWriter(program, largest, dear)
    code = compile(writer.source(), "<kvsolve units>", "exec")
    parsed, typed = writer.inputs_by_flag()
    readers = tuple(tuple(units) for units in writer.readers())
    layout = (
        tuple(writer.unit_of),
        readers,
        parsed,
        typed,
        writer.cells,
        writer.term_cells,
        writer.fixed_readers(),
        writer.askers(),
        writer.finals(),
    )
    return Units(code, layout)
