"""A program as Python source once more: in units that can be run one by one.

A unit is a step, or a few neighbours whose conditions begin alike, or a term that several of these
share. It reads and writes *cells*: whatever another unit needs has a place in the list ``S``. A
unit that changes a cell marks the units that read it in ``D``, so that a configuration that differs
from one already run costs no more than the units which that difference reaches
(:mod:`kvsolve.packs.units`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr
from kvsolve.model.program import Let, Program, Set
from kvsolve.packs.program_source import ProgramWriter, Row, conjuncts, indented, operands_of
from kvsolve.packs.term_source import TermWriter, below, reads_facts_only, uses

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.model.expression import Operand

__all__ = ["UnitWriter"]


@dataclass(slots=True)
class _Unit:
    """A unit written so far: its statements, the cells that it reads, and those that it writes.

    Attributes:
        fixed: Cells of terms of facts that it reads.
        facts: Facts that it asks for itself, helpers above all.
    """

    lines: list[str]
    reads: set[int] = field(default_factory=set)
    fixed: set[int] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    writes: list[tuple[int, str, str]] = field(default_factory=list)


class _Terms(TermWriter):
    """Writes terms for units: what reads facts only is read from its cell."""

    def __init__(self, shared: Counter[Expr], owner: UnitWriter) -> None:
        super().__init__(shared, owner.slot)
        self.owner = owner
        self.places: dict[Expr, int] = {}
        self.fixing = False

    def text(self, operand: Operand, *, used: bool = False) -> str:
        """A fact too has its cell."""
        if isinstance(operand, Expr) and operand.op == "fact":
            return self.keep(operand, used)
        return super().text(operand, used=used)

    def keep(self, operand: Expr, used: bool) -> str:
        """The cell of a term that reads facts only."""
        found = self.places.get(operand)
        if found is None:
            outer, self.fixing = self.fixing, True
            found = self.places[operand] = self.owner.fix(self.term(operand))
            self.fixing = outer
        self.risks += 1
        self.owner.units[-1].fixed.add(found)
        return f"S[{found}]" if used else f"known(S[{found}])"

    def _helper(self, name: str, *arguments: Operand) -> str:
        self._ask(f"helper:{name}")
        return super()._helper(name, *arguments)

    def _env(self, name: str, default: Operand) -> str:
        self._ask("environ")
        return super()._env(name, default)

    def _ask(self, fact: str) -> None:
        """Note that the unit being written asks for a fact itself."""
        if not self.fixing:
            self.owner.units[-1].facts.add(fact)


class UnitWriter(ProgramWriter):
    """Lays a program out as one function a unit.

    Args:
        program: What to lay out.
        largest: Steps of a unit at most.
        dear: Operations from which on a term that several units share has a unit of its own.

    Attributes:
        unit_of: For each step the unit that it belongs to.
        cells: Slot at its version -> its cell.
        term_cells: Unit of a shared term -> the term's cell.
    """

    def __init__(self, program: Program, largest: int, dear: int) -> None:
        self.fixed: list[str] = []
        super().__init__(program)
        self.largest, self.dear = largest, dear
        self.cells: dict[tuple[str, int], int] = {}
        self.term_cells: dict[int, int] = {}
        self.size = 0
        self.unit_of: list[int] = []
        self.units: list[_Unit] = []
        self.last: dict[str, int] = {}
        for step in program.steps:
            if isinstance(step, (Let, Set)):
                self.last[step.name] = self.last.get(step.name, 0) + 1
        self.kept = {step.name for step in program.steps if isinstance(step, Set)}

    def input(self, name: str, version: int) -> str:
        """The cell that holds a slot at a version, which this unit now depends on."""
        slot = (name if version else name.removeprefix("raw."), version)
        if slot not in self.cells:
            self.cells[slot] = self.new_cell()
        return self.read(self.cells[slot])

    def new_cell(self) -> int:
        """A cell that nothing has used yet."""
        self.size += 1
        return self.size - 1

    def read(self, cell: int) -> str:
        """Source of a cell's value; the unit being written runs again whenever it changes."""
        self.units[-1].reads.add(cell)
        return f"S[{cell}]"

    def must_stay(self, row: Row, before: str) -> bool:
        """A cell keeps its value: it is another version of the slot."""
        return before.startswith("S[") or super().must_stay(row, before)

    def source(self) -> str:
        """The module: a function for each unit, and ``units``, all of them in order."""
        rows = [Row(n, s, conjuncts(s.when)) for n, s in enumerate(self.program.steps)]
        runs = list(self.split(rows, 0))
        operands = [[o for row in run for o in operands_of(row.step)] for run in runs]
        shared = _shared(operands, self.dear)
        for run, terms in zip(runs, shared, strict=True):
            for term in terms:
                self.write_term(term)
            self.write(run)
        readers = self.readers()
        functions = [self.function(n, unit, readers) for n, unit in enumerate(self.units)]
        names = "".join(f"u{n}, " for n in range(len(self.units)))
        fixed = "".join(f"{indented(line)}\n" for line in self.fixed or ["pass"])
        return f"def fix(S, F):\n{fixed}" + "".join(functions) + f"units = ({names})\n"

    def terms(self, shared: Counter[Expr]) -> TermWriter:
        """What writes the terms: whatever reads facts only has a cell that the context fills."""
        return _Terms(shared, self)

    def fix(self, body: str) -> int:
        """A cell that is computed once in a context; nothing marks the units that read it."""
        cell = self.new_cell()
        self.fixed += _guarded(f"S[{cell}] = {body}", f"S[{cell}]")
        return cell

    def split(self, rows: Sequence[Row], depth: int) -> Iterator[Sequence[Row]]:
        """Runs of steps whose conditions begin alike, none of them too large."""
        at = 0
        while at < len(rows):
            end = at + 1
            if len(rows[at].tests) > depth:
                test = rows[at].tests[depth]
                while (
                    end < len(rows)
                    and len(rows[end].tests) > depth
                    and rows[end].tests[depth] is test
                ):
                    end += 1
            if end - at <= self.largest:
                yield rows[at:end]
            else:
                yield from self.split(rows[at:end], depth + 1)
            at = end

    def begin(self, operands: Iterable[Operand]) -> _Unit:
        """Start a unit that computes operands."""
        self.units.append(_Unit([]))
        self.locals, self.results, self.copies, self.made = {}, [], [], 0
        self.writer.shared = uses(operands)
        self.writer.made, self.writer.count = {}, 0
        return self.units[-1]

    def write_term(self, term: Expr) -> None:
        """Write the unit of a shared term, unless something it reads is not written yet."""
        if term in self.writer.given or not self.is_written(term):
            return
        unit = self.begin([])
        body, risky = self.writer.risked(term)
        cell = self.new_cell()
        # What goes wrong here goes wrong where the value is used, if it is.
        unit.lines += _guarded(f"v = {body}", "v") if risky else [f"v = {body}"]
        unit.writes.append((cell, "v", ""))
        self.term_cells[len(self.units) - 1] = cell
        self.writer.given[term] = lambda used: self.read_value(cell, risky, used)

    def read_value(self, cell: int, risky: bool, used: bool) -> str:
        """Source that reads a cell which may hold a fault."""
        self.writer.risks += risky
        found = self.read(cell)
        return f"known({found})" if risky and not used else found

    def is_written(self, term: Expr) -> bool:
        """Whether everything that a term reads has its value before the next unit."""
        return all(version <= self.versions.get(name, 0) for name, version in _slots(term))

    def write(self, rows: Sequence[Row]) -> None:
        """Write a unit's statements; what it hands on gets its cells."""
        unit = self.begin(o for row in rows for o in operands_of(row.step))
        self.unit_of += [len(self.units) - 1] * len(rows)
        before = dict(self.versions)
        body = list(self.lines(rows))
        if self.results:
            unit.lines.append(" = ".join(self.results) + " = None")
        unit.lines += body
        end = rows[-1].number
        for name in dict.fromkeys(r.step.name for r in rows if isinstance(r.step, (Let, Set))):
            for version in range(before.get(name, 0) + 1, self.versions[name] + 1):
                # A write leaves the version before it standing where it does not happen.
                passed_on = name in self.kept and version == self.versions[name]
                if passed_on or self.last_read.get((name, version), -1) > end:
                    self.hand_on(unit, name, version)

    def hand_on(self, unit: _Unit, name: str, version: int) -> None:
        """Give a slot that a unit writes its cell, and a final value its place in the trace."""
        variable = self.locals[name, version]
        kept = ""
        if name in self.kept and version == self.last[name]:
            kept = f"E[{name!r}] = {variable}"
            if (name, version) in self.doubtful:
                gone = f"E.pop({name!r}, None)"
                kept = f"if type({variable}) is unknowable: {gone}\nelse: {kept}"
        self.cells[name, version] = cell = self.new_cell()
        unit.writes.append((cell, variable, kept))

    def readers(self) -> list[list[int]]:
        """For each cell the units that read it, in order."""
        found: list[list[int]] = [[] for _ in range(self.size)]
        for number, unit in enumerate(self.units):
            for cell in sorted(unit.reads):
                found[cell].append(number)
        return found

    def fixed_readers(self) -> dict[int, tuple[int, ...]]:
        """For each cell of a term of facts the units that read it."""
        found: dict[int, list[int]] = {}
        for number, unit in enumerate(self.units):
            for cell in unit.fixed:
                found.setdefault(cell, []).append(number)
        return {cell: tuple(units) for cell, units in found.items()}

    def askers(self) -> dict[str, tuple[int, ...]]:
        """For each fact that units ask for themselves, these units."""
        found: dict[str, list[int]] = {}
        for number, unit in enumerate(self.units):
            for fact in sorted(unit.facts):
                found.setdefault(fact, []).append(number)
        return {fact: tuple(units) for fact, units in found.items()}

    def finals(self) -> dict[int, str]:
        """The cells of final values, and the slots that these are of."""
        return {
            cell: name
            for (name, version), cell in self.cells.items()
            if name in self.kept and version == self.last[name]
        }

    def function(self, number: int, unit: _Unit, readers: Sequence[Sequence[int]]) -> str:
        """The source of a unit."""
        lines = list(unit.lines)
        for cell, variable, kept in unit.writes:
            marks = "".join(f"D[{n}] = " for n in readers[cell])
            inner = [f"S[{cell}] = {variable}", *([kept] if kept else [])]
            inner += [f"{marks}1"] if marks else []
            block = "\n".join(indented(line) for line in inner)
            test = f"{variable} is not S[{cell}] and unlike({variable}, S[{cell}])"
            lines.append(f"if {test}:\n{block}")
        body = "".join(f"{indented(line)}\n" for line in lines or ["pass"])
        return f"def u{number}(S, D, F, R, W, E, X):\n{body}"

    def inputs_by_flag(self) -> tuple[dict[str, int], dict[str, int]]:
        """The cells that hold flags as parsed, and those that hold them as typed."""
        first = {name: cell for (name, version), cell in self.cells.items() if not version}
        typed = {n.removeprefix("given."): c for n, c in first.items() if n.startswith("given.")}
        parsed = {n: c for n, c in first.items() if not n.startswith("given.")}
        return parsed, typed


def _guarded(statement: str, target: str) -> list[str]:
    """An assignment that gives a fault where its value cannot be computed."""
    return [f"try: {statement}", f"except Exception as e: {target} = fault(e)"]


def _shared(runs: Sequence[Sequence[Operand]], dear: int) -> list[list[Expr]]:
    """For each run of steps the terms in it that others read too and that are dear enough.

    Parts come before what they are part of.
    """
    owner: dict[Expr, int] = {}
    several: set[Expr] = set()
    found: list[dict[Expr, None]] = []

    def visit(operand: Operand, number: int) -> None:
        if isinstance(operand, tuple):
            for part in operand:
                visit(part, number)
        if not isinstance(operand, Expr) or reads_facts_only(operand):
            return
        first = owner.get(operand)
        if first == number:
            return
        owner[operand] = number
        if first is not None and _cost(operand) >= dear and not _free(operand):
            several.add(operand)
        for part in below(operand):
            visit(part, number)
        found[number][operand] = None

    for number, operands in enumerate(runs):
        found.append({})
        for operand in operands:
            visit(operand, number)
    return [[term for term in terms if term in several] for terms in found]


_costs: dict[Expr, int] = {}


def _cost(term: Expr) -> int:
    """Operations of a term, up to some; what calls a function counts for several."""
    found = _costs.get(term)
    if found is None:
        own = {"ref": 0, "fact": 0, "method": 3, "call": 3, "helper": 3, "any": 3, "collect": 3}
        found = own.get(term.op, 1) + sum(
            0 if reads_facts_only(part) else _cost(part) for part in below(term)
        )
        _costs[term] = found = min(found, 99)
    return found


_variables: dict[Expr, frozenset[int]] = {}


def _free(term: Expr) -> frozenset[int]:
    """The variables of loops around a term that it reads."""
    found = _variables.get(term)
    if found is None:
        found = frozenset({term.args[0]}) if term.op == "var" else frozenset()
        found = found.union(*(_free(part) for part in below(term)))
        if term.op in ("any", "collect"):
            found -= {term.args[0 if term.op == "any" else 1]}
        _variables[term] = found
    return found


_reads: dict[Expr, frozenset[tuple[str, int]]] = {}


def _slots(term: Expr) -> frozenset[tuple[str, int]]:
    """The slots at their versions that a term reads."""
    found = _reads.get(term)
    if found is None:
        own = frozenset({(term.args[0], term.args[1])}) if term.op == "ref" else frozenset()
        found = _reads[term] = own.union(*(_slots(part) for part in below(term)))
    return found
