"""Why a term holds: the values that suffice for it, generalised.

A term is evaluated lazily, as upstream does, and what was read on the way is a sufficient reason
for the result. Reading stops at *atoms*, the largest terms over a single flag: all values of the
flag that give the atom the same value are as good a reason, so one evaluation excludes many
combinations.
Where a conjunction fails, only the part that failed is the reason; a crash counts as a refusal, so
what could crash before it needs no watching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Crash, Expr, Operand, Unknown
from kvsolve.packs.evaluate import Interpreter
from kvsolve.solve.network import CRASHED, MANY, UNKNOWN, Network, outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.solve.space import Space

__all__ = ["Literals", "Reasoner"]

Literals = tuple[tuple[int, int], ...]
"""A reason: pairs of a variable and the mask of the states that it may stand in."""


class Reasoner(Interpreter):
    """Evaluates terms over the variables of a space and keeps what the results rest on."""

    def __init__(self, network: Network, space: Space) -> None:
        super().__init__({}, network.facts)
        self.network = network
        self.space = space
        self.changes: Mapping[int, int] = {}
        self.reads = 0
        self._atoms: list[tuple[Expr, int]] = []
        self._numbers: dict[Expr, int] = {}
        self._values: dict[tuple[Expr, int], Any] = {}
        self._results: dict[Expr, tuple[Any, int]] = {}
        self._masks: dict[tuple[int, int], int] = {}

    def move(self, changes: Mapping[int, int]) -> None:
        """Evaluate from now on under these changes."""
        self.changes = changes
        self._results = {}

    def reason(self, term: Operand) -> tuple[Any, Literals]:
        """A term's value (or the mark of its lack) and what suffices for it."""
        self.reads = 0
        value: Any
        try:
            value = self.value(term)
        except Crash:
            value = CRASHED
        except Unknown:
            value = UNKNOWN
        return value, self._literals(self.reads)

    def _literals(self, reads: int) -> Literals:
        masks: dict[int, int] = {}
        while reads:
            lowest = reads & -reads
            reads ^= lowest
            number = lowest.bit_length() - 1
            variable = self._atoms[number][1]
            mask = self._mask(number)
            masks[variable] = masks.get(variable, -1) & mask
        return tuple(sorted(masks.items()))

    def _mask(self, number: int) -> int:
        """The states of an atom's flag that give it the value it has now."""
        term, variable = self._atoms[number]
        at = self.changes.get(variable, self.space.start[variable])
        found = self._masks.get((number, at))
        if found is None:
            own = self._at(term, variable, at)
            states = range(len(self.space.domains[variable].states))
            alike = (i for i in states if _same(self._at(term, variable, i), own))
            found = self._masks[number, at] = sum(1 << i for i in alike)
        return found

    def _at(self, term: Expr, variable: int, at: int) -> Any:
        key = (term, variable << 16 | at)
        if key not in self._values:
            domain = self.space.domains[variable]
            self._values[key] = self.network.single_value(term, domain.dest, domain.states[at])
        return self._values[key]

    def value(self, operand: Operand) -> Any:
        """The value of an operand; adds what it rests on to ``reads``."""
        if not isinstance(operand, Expr):
            return operand
        found = self._results.get(operand)
        if found is None:
            found = self._results[operand] = self._find(operand)
        value, reads = found
        self.reads |= reads
        if value is CRASHED:
            raise Crash("crash")
        if value is UNKNOWN:
            raise Unknown("fact")
        return value

    def _find(self, term: Expr) -> tuple[Any, int]:
        owner = self.network.owner(term)
        if owner != MANY:
            return self._atom(term, owner)
        if term.op in ("any", "collect"):
            return self._loop(term)
        outer, self.reads = self.reads, 0
        method = getattr(self, f"_{term.op}", None)
        value: Any
        try:
            value = method(*term.args) if method else self._operation(term)
        except Crash:
            value = CRASHED
        except Unknown:
            value = UNKNOWN
        except Exception:
            value = CRASHED
        reads, self.reads = self.reads, outer
        return value, reads

    def _atom(self, term: Expr, dest: str) -> tuple[Any, int]:
        if not dest:
            return self.network.constant_value(term), 0
        variable = self.space.variable(dest)
        if variable is None:
            return self.network.single_value(term, dest, self.space.state(dest, {})), 0
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self._atoms)
            self._atoms.append((term, variable))
        at = self.changes.get(variable, self.space.start[variable])
        return self._at(term, variable, at), 1 << number

    def _loop(self, term: Expr) -> tuple[Any, int]:
        """A loop over several flags: evaluated as a whole, resting on all that it reads."""
        slots: dict[tuple[str, int], Any] = {}
        reads = 0
        for ref in self.network.refs_of(term):
            value, bit = self._find(ref)
            slots[ref.args[0], ref.args[1]] = value
            reads |= bit
        return outcome(Interpreter(slots, self.facts), term), reads

    def _and(self, *operands: Operand) -> bool:
        return not self._stops(operands, False)

    def _or(self, *operands: Operand) -> bool:
        return self._stops(operands, True)

    def _stops(self, operands: tuple[Operand, ...], at: bool) -> bool:
        """Whether some operand has the truth value that decides; that one alone is the reason."""
        kept = unsure = 0
        for operand in operands:
            self.reads = kept  # a crash rests on all that led to it
            decided = bool(self.value(operand)) is at
            own = self._results[operand][1] if isinstance(operand, Expr) else 0
            if decided:
                self.reads = unsure | own
                return True
            kept |= own
            if self.network.is_unsure(operand):
                unsure = kept
        self.reads = kept
        return False


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(a == b))
