"""Running from a baseline where something crashes or a fact is missing, exactly.

Units that meet a crash or a missing fact, and those that read a slot which it left undefined, are
told by the interpreter, step by step; all others run as they are. Whatever needs the same term
again is not reached, so one interpreter serves the whole run. The trace is that of
:func:`kvsolve.packs.evaluate.interpret`, at the price of the few units in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Unknown
from kvsolve.model.program import Let, Set
from kvsolve.packs.compile import Unknowable
from kvsolve.packs.evaluate import Failure, Interpreter, NotReached, Trace, Undefined, run_step
from kvsolve.packs.remembered import Outcome
from kvsolve.packs.unlike import unlike

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.program import Program
    from kvsolve.packs.compile import FactTable
    from kvsolve.packs.remembered import Remembered
    from kvsolve.packs.units import Units

__all__ = ["ExactRun", "Steps"]


class Steps:
    """What the interpreter needs to know of a program in units.

    Attributes:
        program: The program that was cut.
        of_unit: For each unit the numbers of its steps; none where it is that of a term.
        versions: For each step the version of its slot before it.
        results: For each unit its slots at their versions, and the cells that they have.
        last: The last version of each slot that a trace tells the final value of.
    """

    __slots__ = ("last", "of_unit", "program", "results", "versions")

    def __init__(self, program: Program, units: Units) -> None:
        self.program = program
        size = len(units.functions)
        self.of_unit: list[list[int]] = [[] for _ in range(size)]
        self.results: list[list[tuple[str, int, int]]] = [[] for _ in range(size)]
        self.versions: list[int] = []
        count: dict[str, int] = {}
        for number, step in enumerate(program.steps):
            unit = units.layout.unit_of[number]
            self.of_unit[unit].append(number)
            if not isinstance(step, (Let, Set)):
                self.versions.append(0)
                continue
            before = count.get(step.name, 0)
            self.versions.append(before)
            count[step.name] = before + 1
            cell = units.layout.cells.get((step.name, before + 1))
            if cell is not None:
                self.results[unit].append((step.name, before + 1, cell))
        self.last = {s.name: count[s.name] for s in program.steps if isinstance(s, Set)}


class _Slots(dict[tuple[str, int], Any]):
    """Slots at their versions: what interpreted units made of them, else what is in the cell."""

    __slots__ = ("_cells", "_places")

    def __init__(self, cells: list[Any], places: dict[tuple[str, int], int]) -> None:
        super().__init__()
        self._cells, self._places = cells, places

    def __missing__(self, slot: tuple[str, int]) -> Any:
        name, version = slot
        place = self._places[slot if version else (name.removeprefix("raw."), 0)]
        value = self._cells[place]
        if type(value) is Unknowable:
            label = value.label
            return Undefined(NotReached(name) if label is None else Unknown(label))
        return value


class ExactRun:
    """One run of units of which some are interpreted.

    Args:
        units: The program.
        steps: What is known of it beside.
        cells: What differs from the baseline is in them already.
        marks: 1 for each unit that is to run; those that ran in the end.
        facts: Facts by name.
        final: Final values in the baseline, to change.
        told: Units that the interpreter runs in any case.
        remembered: What it made of them in the same context before.

    Attributes:
        told: The same, and those that read what this run leaves undefined.
    """

    def __init__(
        self,
        units: Units,
        steps: Steps,
        cells: list[Any],
        marks: bytearray,
        facts: FactTable,
        final: dict[str, Any],
        told: Iterable[int] = (),
        remembered: Remembered | None = None,
    ) -> None:
        self.units, self.steps = units, steps
        self.cells, self.marks, self.facts = cells, marks, facts
        self.interpreter = Interpreter(_Slots(cells, units.layout.cells), facts)
        self.trace = Trace(values=final)
        self._unknown: list[tuple[int, str]] = []
        self.told = set(told)
        self.remembered = remembered

    def run(self) -> Trace:
        """What the units that ran did, in the program's order."""
        at = self.marks.find(1)
        while at >= 0:
            if at in self.told or not self._attempt(at):
                self._tell(at)
            self._mark_doubt(at)
            at = self.marks.find(1, at + 1)
        self.trace.failures += [Failure(s, "unknown", label) for s, label in self._unknown]
        return self.trace

    def _mark_doubt(self, unit: int) -> None:
        """Run what reads a shared term that is not known, even if it was not before.

        The interpreter looks behind the term, at what this unit read.
        """
        cell = self.units.layout.terms.get(unit)
        if cell is not None and type(self.cells[cell]) is Unknowable:
            self._mark_readers(cell)

    def _mark_readers(self, cell: int) -> None:
        for reader in self.units.layout.readers[cell]:
            self.marks[reader] = 1

    def _attempt(self, unit: int) -> bool:
        """Run a unit; False, and nothing done, where it has to be interpreted."""
        trace = self.trace
        told: tuple[list[Any], ...] = (trace.refusals, trace.writes, self._unknown)
        before = [len(part) for part in told]
        context = (self.facts, trace.refusals, trace.writes, trace.values, self._unknown)
        try:
            self.units.functions[unit](self.cells, self.marks, *context)
        except Exception:
            # A unit writes its cells last, so this is all that it can have done.
            for part, size in zip(told, before, strict=True):
                del part[size:]
            return False
        return True

    def _tell(self, unit: int) -> None:
        """Do what the interpreter makes of a unit, or made of it before."""
        memory = self.remembered
        if memory is None or not self.steps.of_unit[unit]:
            self._interpret(unit)
            return
        values = memory.read(unit, self.cells)
        known = memory.find(unit, values)
        if known is not None:
            self._repeat(unit, known)
            return
        trace = self.trace
        parts: tuple[list[Any], ...] = (trace.refusals, trace.writes, trace.failures)
        before = [len(part) for part in parts]
        self._interpret(unit)
        refusals, writes, failures = (p[size:] for p, size in zip(parts, before, strict=True))
        # What crashes depends on what crashed before it.
        if all(failure.reason == "unknown" for failure in failures):
            results = [self.cells[cell] for _, _, cell in self.steps.results[unit]]
            memory.keep(unit, values, Outcome(refusals, writes, failures, results))

    def _repeat(self, unit: int, known: Outcome) -> None:
        self.trace.refusals += known.refusals
        self.trace.writes += known.writes
        self.trace.failures += known.failures
        places = zip(self.steps.results[unit], known.results, strict=True)
        for (name, version, cell), value in places:
            self._put(name, version, cell, value)

    def _interpret(self, unit: int) -> None:
        steps, run = self.steps, self.interpreter
        if not steps.of_unit[unit]:
            self._undefine(self.units.layout.terms[unit], Unknowable(None))
        for number in steps.of_unit[unit]:
            step, version = steps.program.steps[number], steps.versions[number]
            if isinstance(step, Set):  # it keeps what it does not replace
                run.slots[step.name, version] = run.slots[step.name, version]
            run_step(number, step, run, version, self.trace)
            run.bound.clear()
        for name, version, cell in steps.results[unit]:
            self._hand_on(name, version, cell)

    def _hand_on(self, name: str, version: int, cell: int) -> None:
        """Put what an interpreted unit made of a slot where others read it."""
        value = self.interpreter.slots[name, version]
        if isinstance(value, Undefined):
            label = value.error.args[0] if isinstance(value.error, Unknown) else None
            value = Unknowable(label)
        self._put(name, version, cell, value)

    def _put(self, name: str, version: int, cell: int, value: Any) -> None:
        is_final = self.steps.last.get(name) == version
        if type(value) is Unknowable:
            self._undefine(cell, value)
            if is_final:
                self.trace.values.pop(name, None)
        elif unlike(value, self.cells[cell]):
            self.cells[cell] = value
            if is_final:
                self.trace.values[name] = value
            self._mark_readers(cell)

    def _undefine(self, cell: int, mark: Unknowable) -> None:
        """Leave a cell undefined: its readers may do with it what only the interpreter knows."""
        before, self.cells[cell] = self.cells[cell], mark
        self.told.update(self.units.layout.readers[cell])
        if mark.label is None or unlike(mark, before):
            self._mark_readers(cell)
