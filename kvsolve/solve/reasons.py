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
from kvsolve.solve.domains import bare
from kvsolve.solve.network import CRASHED, MANY, UNKNOWN, Assigner, Network, outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.solve.space import Space

__all__ = ["Literals", "Reasoner", "is_broken"]

_MOST_WORK = 2000
"""Terms folded at most to make one reason weaker."""

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
        self._held: dict[Expr, Operand] = {}
        self._assigners: dict[int, Assigner] = {}
        self._cases: dict[tuple[Expr, int], list[tuple[Operand, int]]] = {}
        self._limit = 0

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

    def widened(self, term: Operand, value: Any, literals: Literals) -> Literals:
        """A weaker reason for a refusal: flags are dropped and values added while it stands.

        The guard is folded under the values of some flags at a time, typed ones first. Where it
        becomes true, the other flags do not matter, however much an evaluation reads of them.

        Args:
            term: The refusal's guard.
            value: Its value under the changes moved to.
            literals: A reason for that.
        """
        if not isinstance(term, Expr) or value is CRASHED or self.network.is_unsure(term):
            return literals
        here = {v: self._now(v) for v, _ in literals}
        domains = self.space.domains
        order = sorted(here, key=lambda v: (not domains[v].states[here[v]].typed, v))
        self._limit = self.network.work + _MOST_WORK
        kept = self._enough(term, here, order)
        if kept is None:
            return literals
        for variable in reversed(kept[:-1]):
            fewer = [v for v in kept if v != variable]
            if not self._tired() and self._folded(term, here, fewer) is True:
                kept = fewer
        box = {v: 1 << here[v] for v in kept}
        for variable in kept:
            box[variable] = self._widest(term, here, box, variable)
        return tuple(sorted(box.items()))

    def _widest(
        self, term: Expr, here: Mapping[int, int], box: Mapping[int, int], variable: int
    ) -> int:
        """The states of a flag with which a guard is true in all the rest of a box."""
        rest = {v: mask for v, mask in box.items() if v != variable}
        single = [v for v, mask in rest.items() if mask == 1 << here[v]]
        several = {v: mask for v, mask in rest.items() if v not in single}
        left = self._folded(term, here, single)
        mask = box[variable]
        if self._tired():
            return mask
        for case, group in self.cases(left, variable):
            if group & ~mask and self._always(case, several):
                mask |= group
        return mask

    def guard(self, broken: Operand) -> Operand:
        """A refusal's guard folded under the values of the flags that do not vary.

        The guard of a mere crash is left as it is: folding sees that it never holds.
        """
        if not isinstance(broken, Expr) or (broken.op == "and" and broken.args[-1] is False):
            return broken
        found = self._held.get(broken)
        if found is None:
            found = broken
            for dest in sorted({bare(ref.args[0]) for ref in self.network.refs_of(broken)}):
                if self.space.variable(dest) is None:
                    state = self.space.state(dest, {})
                    found = self.network.assigner(dest, state).fold(found)
            self._held[broken] = found
        return found

    def _tired(self) -> bool:
        return self.network.work > self._limit

    def _now(self, variable: int) -> int:
        return self.changes.get(variable, self.space.start[variable])

    def _enough(self, term: Expr, here: Mapping[int, int], order: list[int]) -> list[int] | None:
        """The first flags of an order whose values alone make a guard true."""
        left: Operand = term
        for number, variable in enumerate(order):
            left = self.assigned(left, variable, here[variable])
            if _is_true(left):
                return order[: number + 1]
        return None

    def _folded(self, term: Expr, here: Mapping[int, int], variables: list[int]) -> Operand:
        left: Operand = term
        for variable in variables:
            left = self.assigned(left, variable, here[variable])
        return True if _is_true(left) else left

    def _always(self, term: Operand, box: Mapping[int, int]) -> bool:
        """Whether a guard is true in all of a box; False where that takes too much effort."""
        if _is_true(term):
            return True
        if not isinstance(term, Expr) or not box:
            return False
        variable = next(iter(box))
        rest = {v: mask for v, mask in box.items() if v != variable}
        self.network.work += 1
        if self._tired():
            return False
        mask = box[variable]
        if not mask & (mask - 1):
            return self._always(self.assigned(term, variable, mask.bit_length() - 1), rest)
        cases = [case for case, group in self.cases(term, variable) if group & mask]
        return all(isinstance(c, Expr) or c for c in cases) and all(
            self._always(c, rest) for c in cases
        )

    def cases(self, term: Operand, variable: int) -> list[tuple[Operand, int]]:
        """What a term becomes under the states of a flag, with the masks of the states."""
        if not isinstance(term, Expr):
            return [(term, self.space.full[variable])]
        domain = self.space.domains[variable]
        shared = self.network.domains.get(domain.dest) is domain
        known = self.network.cases if shared else self._cases
        key = (term, id(domain))
        found = known.get(key)
        if found is None:
            groups: dict[Operand, int] = {}
            for at in range(len(domain.states)):
                case = self.assigned(term, variable, at)
                kind = case if isinstance(case, Expr) else bool(case)
                groups[kind] = groups.get(kind, 0) | 1 << at
            found = known[key] = list(groups.items())
        return found

    def assigned(self, term: Operand, variable: int, at: int) -> Operand:
        """A term folded under a state of a flag."""
        key = variable << 16 | at
        found = self._assigners.get(key)
        if found is None:
            domain = self.space.domains[variable]
            found = self.network.assigner(domain.dest, domain.states[at])
            self._assigners[key] = found
        return found.fold(term)

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

    def connective(self, operands: tuple[Operand, ...], decisive: bool) -> bool:
        """Kleene's; the operand that decides is the reason by itself.

        Nothing before it needs watching: it could only decide the same, be unknown, or crash, which
        stops upstream as well.
        """
        kept = 0
        doubt = False
        for operand in operands:
            self.reads = 0
            try:
                decided = bool(self.value(operand)) is decisive
            except Unknown:
                decided, doubt = False, True
            except Crash:
                if not doubt:
                    self.reads |= kept
                    raise
                decided = False
            if decided:
                return decisive
            kept |= self.reads
        self.reads = kept
        if doubt:
            raise Unknown("fact")
        return not decisive


def is_broken(value: Any) -> bool:
    """Whether a refusal's guard with this value stops upstream."""
    return value is CRASHED or (value is not UNKNOWN and bool(value))


def _is_true(operand: Operand) -> bool:
    """Whether a folded guard stops upstream for certain."""
    return operand.op == "crash" if isinstance(operand, Expr) else bool(operand)


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(a == b))
