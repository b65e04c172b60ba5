"""A lowered context in conjunctive normal form.

Each class of states of a flag is a variable (the *direct encoding*; two classes share one), each
gate another one, defined in both directions after Tseitin, "On the complexity of derivation in
propositional calculus" (1968): a model of the clauses is a choice of one class for each flag, and
no two models choose alike.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from kvsolve.solve.lowering.gates import FALSE, TRUE, bits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Clauses"]


class Clauses:
    """The clauses of a lowered context.

    Attributes:
        lowered: The context.
        top: The largest variable.
        clauses: What must hold.
        classes: For each flag the masks of its classes.
        literals: For each flag the literal of each class; none where there is but one class.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.top = 0
        self.clauses: list[list[int]] = []
        self.classes = lowered.classes
        self.literals: list[list[int]] = [self._choice(len(found)) for found in self.classes]
        self._of_node: dict[int, int] = {}
        for node in lowered.gates.below((*lowered.forbidden, *lowered.doubts, *lowered.suspect)):
            self._define(node)
        self._roots(lowered.forbidden)

    def _new(self) -> int:
        self.top += 1
        return self.top

    def _choice(self, size: int) -> list[int]:
        """Literals of which exactly one holds."""
        if size == 1:
            return []
        if size == 2:
            one = self._new()
            return [one, -one]
        literals = [self._new() for _ in range(size)]
        self.clauses.append(literals)
        self.clauses.extend([-a, -b] for a, b in combinations(literals, 2))
        return literals

    def _roots(self, forbidden: Iterable[int]) -> None:
        gates = self.lowered.gates
        for root in forbidden:
            if root == TRUE:
                self.clauses.append([])
            elif root == FALSE:
                continue
            elif root in gates.parts:
                self.clauses.append([-self.literal(part) for part in gates.parts[root]])
            elif -root in gates.parts:
                self.clauses.extend([self.literal(part)] for part in gates.parts[-root])
            else:
                self.clauses.append([-self.literal(root)])

    def literal(self, node: int) -> int:
        """The literal of a gate or test that was defined."""
        return self._of_node[node] if node > 0 else -self._of_node[-node]

    def _define(self, node: int) -> None:
        gates = self.lowered.gates
        if node in gates.tests:
            self._of_node[node] = self._test(*gates.tests[node])
            return
        parts = [self.literal(part) for part in gates.parts[node]]
        own = self._of_node[node] = self._new()
        self.clauses.extend([-own, part] for part in parts)
        self.clauses.append([own, *(-part for part in parts)])

    def _test(self, variable: int, mask: int) -> int:
        classes, literals = self.classes[variable], self.literals[variable]
        inside = [lit for one, lit in zip(classes, literals, strict=True) if one & mask]
        if len(inside) == 1:
            return inside[0]
        outside = [lit for lit in literals if lit not in inside]
        if len(outside) == 1:
            return -outside[0]
        own = self._new()
        self.clauses.extend([own, -lit] for lit in inside)
        self.clauses.extend([-own, -lit] for lit in outside)
        return own

    def class_of(self, variable: int, state: int) -> int:
        """The number of the class that a state is in."""
        return next(n for n, mask in enumerate(self.classes[variable]) if mask >> state & 1)

    def state(self, variable: int, state: int) -> list[int]:
        """The literals to assume for a flag in a state."""
        literals = self.literals[variable]
        return [literals[self.class_of(variable, state)]] if literals else []

    def chosen(self, model: Sequence[int]) -> list[int]:
        """The class of each flag in a model."""
        return [
            next((n for n, lit in enumerate(own) if (model[abs(lit) - 1] > 0) == (lit > 0)), 0)
            for own in self.literals
        ]

    def first_states(self, chosen: Sequence[int]) -> list[int]:
        """A state of each flag out of its class."""
        return [
            (mask & -mask).bit_length() - 1
            for mask in (own[n] for own, n in zip(self.classes, chosen, strict=True))
        ]

    def excluding(self, box: Iterable[tuple[int, int]]) -> list[int]:
        """The clause that not all of these flags stand in these masks of states."""
        clause: list[int] = []
        for variable, mask in box:
            classes, literals = self.classes[variable], self.literals[variable]
            if literals:
                clause += [
                    lit for one, lit in zip(classes, literals, strict=True) if not one & mask
                ]
        return clause


def states_of(classes: Sequence[int], number: int) -> list[int]:
    """The states in a class."""
    return list(bits(classes[number]))
