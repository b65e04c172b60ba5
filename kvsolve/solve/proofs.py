"""Reasons as weak as they get, of what was explained again and again.

In the circuit over sets of states a node that comes to the same by two ways, one of which must be
open, is open: of such an entry a search meets hundreds of reasons that say nearly the same. What
was explained often is lowered to gates (:mod:`kvsolve.solve.lowering`), and a solver shows which
states it really rests on: those in the core of the proof that it cannot be otherwise (prime
implicants by a solver, as in Ignatiev, Narodytska and Marques-Silva, "Abduction-based explanations
for machine learning models", 2019).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from kvsolve.packs.compile import initial_slots
from kvsolve.solve.circuit import is_broken, is_mark, same
from kvsolve.solve.domains import default_of
from kvsolve.solve.lowering.combining import MOST_ROWS
from kvsolve.solve.lowering.gates import FALSE, TRUE, bits
from kvsolve.solve.lowering.listing import key_of
from kvsolve.solve.lowering.lower import crashing_parts
from kvsolve.solve.lowering.outcomes import Encoder, TooManyOutcomesError
from kvsolve.solve.network import CRASHED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kvsolve.model.expression import Operand
    from kvsolve.solve.grounds import Grounds, Literals
    from kvsolve.solve.lowering.gates import Gates
    from kvsolve.solve.network import Network
    from kvsolve.solve.universe import Universe

__all__ = ["Proofs", "Steady"]

_PATIENCE = 8
"""Reasons of one thing before it is lowered, which may cost as much as a hundred of them."""

_FEW_RUNS = 400
"""How often a loop may be run for a proof. One run can take milliseconds."""

_GREAT_PATIENCE, _MANY_QUESTIONS = 150, 30
"""Reasons of one thing before loops may be run as often as it takes; where many questions come."""

_STEADY = 5
"""How many times more patient one is whose proofs are made at any cost."""


class Proofs:
    """Explains in one context, with proofs where something was explained often.

    Attributes:
        patience: How often anything is explained without a proof.
        great_patience: How often with proofs that take little time only.
    """

    def __init__(self, network: Network, universe: Universe, grounds: Grounds) -> None:
        self.network, self.universe, self.grounds = network, universe, grounds
        self.patience, self.great_patience = _PATIENCE, _GREAT_PATIENCE
        self._asked: dict[Any, int] = {}
        self._gates: _Lowered | None = None

    def expect_many(self) -> None:
        """Hundreds of questions are to come, so that long proofs pay sooner."""
        self.great_patience = min(self.great_patience, _MANY_QUESTIONS)

    def refusal(self, step: int) -> Literals:
        """Why an entry refuses where the circuit stands.

        Args:
            step: An entry that refuses there.
        """
        node = self.grounds.circuit.roots[step]
        literals = self.grounds.refusal(node)
        broken = self.network.constraints[step].broken
        return self._weaker(step, node, literals, lambda made: made.refusal(broken), is_broken)

    def value(self, dest: str, node: int, term: Operand) -> Literals:
        """Why a slot has its effective value where the circuit stands, or a crash comes first.

        Args:
            dest: The slot.
            node: The node of its effective value.
            term: The node's term.
        """
        literals = self.grounds.value(node)
        own = self.grounds.now.values[node]
        if is_mark(own):
            return literals
        key = dest, key_of(own)

        def holds(value: Any) -> bool:
            return same(value, own)

        return self._weaker(key, node, literals, lambda made: made.value(term, own), holds)

    def steady(self) -> Steady:
        """Explains refusals the same way always, whatever was explained before."""
        return Steady(self)

    def gates(self, knowing: Literals = ()) -> _Lowered:
        """What was lowered so far.

        Args:
            knowing: A reason of which all states must be known; where they were typed later, what
                was lowered before them is let go of.
        """
        if self._gates is None or not self._gates.knows(knowing):
            self._gates = _Lowered(self.network, self.universe)
        return self._gates

    def _weaker(
        self,
        key: Any,
        node: int,
        literals: Literals,
        literal: Callable[[_Lowered], int],
        holds: Callable[[Any], bool],
    ) -> Literals:
        """A reason made as weak as it gets, once the same was explained often."""
        asked = self._asked[key] = self._asked.get(key, 0) + 1
        if asked <= self.patience:
            return literals
        proof = self.gates().proof(key, literals, literal, asked > self.great_patience)
        found = None if proof is None else proof.weaker(self.grounds.ordered(dict(literals)))
        return literals if found is None else self.guarded(node, found, holds)

    def guarded(self, node: int, found: dict[int, int], holds: Callable[[Any], bool]) -> Literals:
        """A proven reason, made to keep out what nobody has typed yet where that may matter."""
        if not self.grounds.suffices(node, found, holds):
            found |= self._newcomers(node, found)
        return tuple(sorted(found.items()))

    def _newcomers(self, node: int, masks: Mapping[int, int]) -> dict[int, int]:
        """Masks that keep out values which nobody has typed yet: no proof speaks of these."""
        known = self.gates().masks
        return {
            variable: known[variable]
            for variable in self.grounds.variables(node)
            if variable >= 0 and variable not in masks and self._may_grow(variable)
        }

    def _may_grow(self, variable: int) -> bool:
        """Whether a command may give a flag a value that has no number yet."""
        flag = self.universe.flags.flag(self.universe.dests[variable])
        return flag.takes_value and not flag.choices


class Steady:
    """Explains refusals; what it says of one depends on what it was asked itself, and no solver.

    For what is told to people, who may ask twice.
    """

    def __init__(self, proofs: Proofs) -> None:
        self.proofs = proofs
        self._asked: dict[int, int] = {}

    def refusal(self, step: int) -> Literals:
        """Why an entry refuses where the circuit stands."""
        proofs = self.proofs
        node = proofs.grounds.circuit.roots[step]
        literals = proofs.grounds.refusal(node)
        asked = self._asked[step] = self._asked.get(step, 0) + 1
        if asked <= _STEADY * proofs.patience:
            return literals
        broken = proofs.network.constraints[step].broken
        gates = proofs.gates(knowing=literals)
        proof = gates.proof(step, literals, lambda made: made.refusal(broken), True)
        found = None if proof is None else proof.without(proofs.grounds.ordered(dict(literals)))
        return literals if found is None else proofs.guarded(node, found, is_broken)


class _Lowered:
    """What was lowered so far, over the states known when this was made."""

    def __init__(self, network: Network, universe: Universe) -> None:
        flags = universe.flags
        states = [tuple(own) for own in universe.states]
        self.masks = [(1 << len(own)) - 1 for own in states]
        held = initial_slots({d: default_of(flags, d) for d in flags.fields}, {})
        slots = {(name, 0): value for name, value in held.items()}
        self.encoder = Encoder(universe.dests, states, slots, network.facts, _FEW_RUNS)
        self.gates = self.encoder.gates
        self._made: dict[Any, _Proof | None] = {}

    def knows(self, literals: Literals) -> bool:
        """Whether no state of a reason was typed later."""
        return not any(mask > 0 and mask & ~self.masks[v] for v, mask in literals)

    def refusal(self, broken: Operand) -> int:
        """The literal that a constraint refuses, or crashes."""
        crashing = crashing_parts(broken)
        truth = self.encoder.crash(*crashing) if crashing else self.encoder.truth(broken)
        return self.gates.either(truth.holds, truth.crashes)

    def value(self, term: Operand, own: Any) -> int:
        """The literal that a term has a value, or crashes."""
        outcomes = self.encoder.outcomes(term)
        _, here = outcomes.get(key_of(own), (own, FALSE))
        _, crash = outcomes.get(key_of(CRASHED), (CRASHED, FALSE))
        return self.gates.either(here, crash)

    def proof(
        self, key: Any, literals: Literals, literal: Callable[[_Lowered], int], often: bool
    ) -> _Proof | None:
        """The proof of a literal; None where nothing can be shown.

        Either there are too many outcomes, or a reason is about states that were typed later.

        Args:
            key: What is explained.
            literals: A reason of it.
            literal: Lowers it.
            often: It is worth any number of runs of a loop.
        """
        if not self.knows(literals):
            return None
        known = (key, often) if (key, often) in self._made else (key, False)
        if known not in self._made or (often and not known[1] and self._made[known] is None):
            if often:
                self.encoder.allow(MOST_ROWS)
            known = key, often
            self._made[known] = self._proof(literal)
        return self._made[known]

    def _proof(self, literal: Callable[[_Lowered], int]) -> _Proof | None:
        try:
            root = literal(self)
        except TooManyOutcomesError:
            return None
        return None if root in (TRUE, FALSE) else _Proof(self.gates, root, self.masks)


class _Proof:
    """Clauses that say that one literal does not hold."""

    def __init__(self, gates: Gates, root: int, masks: Sequence[int]) -> None:
        from kvsolve.solve.engines.python_sat import Solver

        self.gates, self.masks = gates, masks
        self._states: dict[int, list[int]] = {}
        self._numbers: dict[int, int] = {}
        self._top = 0
        self.solver = Solver(())
        for node in gates.below([root]):
            self._numbers[node] = self._defined(node)
        self.solver.add([-self._literal(root)])

    def weaker(self, masks: Mapping[int, int]) -> dict[int, int] | None:
        """The masks of a reason, widened and left out; None where it suffices for no proof."""
        outside = {v: self._outside(v, mask) for v, mask in masks.items() if v in self._states}
        core = self._core([lit for own in outside.values() for lit in own])
        if core is None:
            return None
        for variable in outside:
            own = core.intersection(outside[variable])
            if own:
                core = self._core(sorted(core - own)) or core
        found = {}
        for variable in outside:
            states = self._states[variable]
            mask = sum(1 << at for at, number in enumerate(states) if -number not in core)
            if mask != self.masks[variable]:
                found[variable] = mask
        return found

    def without(self, masks: Mapping[int, int]) -> dict[int, int] | None:
        """A reason without the flags that it can do without, tried in order."""
        kept = {v: self._outside(v, mask) for v, mask in masks.items() if v in self._states}
        if self._core([lit for own in kept.values() for lit in own]) is None:
            return None
        for variable in list(kept):
            fewer = [lit for v, own in kept.items() if v != variable for lit in own]
            if self._core(fewer) is not None:
                del kept[variable]
        return {v: masks[v] & self.masks[v] for v, own in kept.items() if own}

    def _core(self, excluded: Sequence[int]) -> set[int] | None:
        """Of excluded states those that the refusal rests on; None where it need not be."""
        return None if self.solver.solve(excluded) else set(self.solver.core)

    def _outside(self, variable: int, mask: int) -> list[int]:
        """The literals that exclude all states which are not in a mask."""
        return [-n for at, n in enumerate(self._states[variable]) if not mask >> at & 1]

    def _literal(self, node: int) -> int:
        number = self._numbers[abs(node)]
        return number if node > 0 else -number

    def _defined(self, node: int) -> int:
        if node in self.gates.tests:
            variable, mask = self.gates.tests[node]
            states = self._numbered(variable)
            return self._any([states[state] for state in bits(mask)])
        return -self._any([-self._literal(part) for part in self.gates.parts[node]])

    def _any(self, literals: Sequence[int]) -> int:
        """A literal that holds where one of some others does."""
        if len(literals) == 1:
            return literals[0]
        own = self._new()
        self.solver.add([-own, *literals])
        for literal in literals:
            self.solver.add([own, -literal])
        return own

    def _numbered(self, variable: int) -> list[int]:
        """The solver's variables for the states of a flag, of which exactly one holds."""
        found = self._states.get(variable)
        if found is None:
            found = [self._new() for _ in range(self.masks[variable].bit_length())]
            self._states[variable] = found
            self.solver.add(found)
            for one, other in combinations(found, 2):
                self.solver.add([-one, -other])
        return found

    def _new(self) -> int:
        self._top += 1
        return self._top
