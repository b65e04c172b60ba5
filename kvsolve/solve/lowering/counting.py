"""Exact counts, proven bounds and uniform samples of a lowered context, without listing it.

An AND/OR search (Dechter and Mateescu, "AND/OR search spaces for graphical models", 2007): a flag
is given each of its classes, what the entries then still say is split into parts that share none,
and equal rests are counted once. What was counted is kept as a graph, from which a configuration is
drawn with the number of ways in which each choice can be completed. Where the time is up, what was
not looked at counts as nothing for the lower bound and as everything for the upper one.
"""

from __future__ import annotations

import time
from math import log2, prod
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.solve.lowering.gates import FALSE, TRUE, bits

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Counting"]

_MOST_KEPT = 1_000_000
"""Cofactors that are kept; they are made again when there are more."""

Rest = frozenset[int]
"""Literals of which none may hold."""


class _Branch(NamedTuple):
    """Classes of a flag that leave the same, and what they leave.

    Attributes:
        classes: Their numbers.
        weight: How many states they have.
        parts: What is still to be kept, apart from each other.
        free: The flags that nothing is said of any more.
        lower: At least so many ways, for one state of the flag.
        upper: At most so many ways.
    """

    classes: tuple[int, ...]
    weight: int
    parts: tuple[Rest, ...]
    free: tuple[int, ...]
    lower: int
    upper: int


class _Node(NamedTuple):
    variable: int
    branches: tuple[_Branch, ...]
    lower: int
    upper: int


class Counting:
    """The valid configurations of a lowered context, counted.

    Args:
        lowered: The context. A pending entry makes the count an upper bound.
        deadline: Reading of ``time.monotonic`` at which the rest is left to the bounds.

    Attributes:
        lower: At least so many are valid.
        upper: At most so many are valid.
    """

    def __init__(self, lowered: Lowered, deadline: float | None = None) -> None:
        self.lowered, self.deadline = lowered, deadline
        self.gates = lowered.gates
        self.weights = [[mask.bit_count() for mask in own] for own in lowered.classes]
        self.totals = [sum(own) for own in self.weights]
        self._first = [[(m & -m).bit_length() - 1 for m in own] for own in lowered.classes]
        self._supports: dict[int, int] = {TRUE: 0}
        self._cofactors: dict[tuple[int, int], dict[int, int]] = {}
        self._kept = 0
        self._nodes: dict[Rest, _Node] = {}
        self.late = False
        roots = frozenset(r for r in lowered.forbidden if r != FALSE)
        for node in self.gates.below(roots):  # operands first, so that none is looked for deep
            self.support(node)
        every = (1 << len(self.totals)) - 1
        self._parts, self._free = self._split(roots, every)
        bounds = (0, 0) if TRUE in roots else self._product(self._parts, self._free)
        self.lower, self.upper = bounds
        if lowered.pending:
            self.lower = 0

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper

    def support(self, literal: int) -> int:
        """The flags that a literal depends on, a bit each."""
        node = abs(literal)
        found = self._supports.get(node)
        if found is None:
            found = 0
            for part in self.gates.parts.get(node, ()):
                found |= self._supports.get(abs(part)) or self.support(part)
            if node in self.gates.tests:
                found = 1 << self.gates.tests[node][0]
            self._supports[node] = found
        return found

    def _cofactor(self, literal: int, variable: int, number: int) -> int:
        """A literal where a flag is in a class."""
        if not self.support(literal) >> variable & 1:
            return literal
        if self._kept > _MOST_KEPT:
            self._cofactors.clear()
            self._kept = 0
        known = self._cofactors.setdefault((variable, number), {})
        before = len(known)
        found = self._under(abs(literal), variable, self._first[variable][number], known)
        self._kept += len(known) - before
        return found if literal > 0 else -found

    def _under(self, root: int, variable: int, state: int, known: dict[int, int]) -> int:
        """A node that depends on a flag, where the flag is in a state.

        Without recursion, as nodes may stand a thousand deep in each other; in one piece, as it is
        where counting spends its time.
        """
        supports, tests, parts = self._supports, self.gates.tests, self.gates.parts
        if root in tests:
            return TRUE if tests[root][1] >> state & 1 else FALSE
        stack: list[tuple[int, list[int]]] = [] if root in known else [(root, [])]
        while stack:
            node, rest = stack[-1]
            own = parts[node]
            for part in own[len(rest) :] if rest else own:
                below = abs(part)
                if supports[below] >> variable & 1:
                    under = known.get(below)
                    if under is None:
                        if below not in tests:
                            stack.append((below, []))
                            break
                        under = TRUE if tests[below][1] >> state & 1 else FALSE
                    part = under if part > 0 else -under
                    if part == FALSE:
                        known[node] = FALSE
                        stack.pop()
                        break
                rest.append(part)
            else:
                found = known[node] = self.gates.both(*rest)
                self.support(found)
                stack.pop()
        return known[root]

    def _split(self, rest: Rest, around: int) -> tuple[tuple[Rest, ...], tuple[int, ...]]:
        """Parts of what is to be kept that share no flag, and the flags that no part reads."""
        groups: list[tuple[int, list[int]]] = []
        read = 0
        for literal in rest:
            support = self.support(literal)
            read |= support
            apart = []
            members = [literal]
            for other, own in groups:
                if other & support:
                    support |= other
                    members += own
                else:
                    apart.append((other, own))
            groups = [*apart, (support, members)]
        return tuple(frozenset(own) for _, own in groups), tuple(bits(around & ~read))

    def _product(self, parts: Iterable[Rest], free: Iterable[int]) -> tuple[int, int]:
        lower = upper = prod(self.totals[v] for v in free)
        for part in sorted(parts, key=len):
            node = self._node(part)
            lower *= node.lower
            upper *= node.upper
            if not upper:
                break
        return lower, upper

    def _node(self, rest: Rest) -> _Node:
        found = self._nodes.get(rest)
        if found is None:
            found = self._made(rest)
            self._nodes[rest] = found
        return found

    def _made(self, rest: Rest) -> _Node:
        around = 0
        weights: dict[int, float] = {}
        for literal in sorted(rest):
            support = self.support(literal)
            around |= support
            for variable in bits(support):
                weights[variable] = weights.get(variable, 0.0) + 1 / support.bit_count()
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.late = True
            return _Node(-1, (), 0, prod(self.totals[v] for v in bits(around)))
        # What little stands between is settled first: small literals weigh most, and flags with
        # few classes make few branches.
        variable = max(weights, key=lambda v: (weights[v] / log2(1 + len(self.weights[v])), v))
        touched = [lit for lit in rest if self.support(lit) >> variable & 1]
        # What reads few flags forbids a class most cheaply.
        touched.sort(key=lambda lit: (self.support(lit).bit_count(), lit))
        same = [lit for lit in rest if not self.support(lit) >> variable & 1]
        leaves: dict[Rest, list[int]] = {}
        for numbers in self._alike(touched, variable):
            number = numbers[0]
            left = set(same)
            for literal in touched:
                cofactor = self._cofactor(literal, variable, number)
                if cofactor == TRUE:
                    break
                if cofactor != FALSE:
                    left.add(cofactor)
            else:
                leaves.setdefault(self._clauses(left), []).extend(numbers)
        branches = []
        for left_over, numbers in leaves.items():
            parts, free = self._split(left_over, around & ~(1 << variable))
            lower, upper = self._product(parts, free)
            weight = sum(self.weights[variable][n] for n in numbers)
            branches.append(_Branch(tuple(numbers), weight, parts, free, lower, upper))
        lower = sum(b.weight * b.lower for b in branches)
        return _Node(variable, tuple(branches), lower, sum(b.weight * b.upper for b in branches))

    def _alike(self, literals: Iterable[int], variable: int) -> list[list[int]]:
        """The classes of a flag, grouped by what they mean to some literals."""
        own = 1 << variable
        masks: set[int] = set()
        stack = [abs(literal) for literal in literals]
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if node in seen or not self._supports[node] & own:
                continue
            seen.add(node)
            if node in self.gates.tests:
                masks.add(self.gates.tests[node][1])
            else:
                stack.extend([abs(part) for part in self.gates.parts[node]])
        groups: dict[tuple[int, ...], list[int]] = {}
        for number, state in enumerate(self._first[variable]):
            groups.setdefault(tuple([m >> state & 1 for m in masks]), []).append(number)
        return list(groups.values())

    def _clauses(self, left: Iterable[int]) -> Rest:
        """The same, with every disjunction that may not hold taken apart."""
        found: set[int] = set()
        stack = list(left)
        while stack:
            literal = stack.pop()
            parts = self.gates.parts.get(-literal)
            if parts is None:
                found.add(literal)
            else:
                stack.extend(-part for part in parts)
        return frozenset(found)

    def draw(self, source: random.Random) -> tuple[int, ...]:
        """A valid configuration as the state of each flag, each as likely as any other.

        The count must be exact and not zero.
        """
        chosen: dict[int, int] = {}
        self._choose(self._parts, self._free, chosen, source)
        return tuple(chosen[v] for v in range(len(self.totals)))

    def _choose(
        self,
        parts: Iterable[Rest],
        free: Iterable[int],
        chosen: dict[int, int],
        source: random.Random,
    ) -> None:
        stack = list(parts)
        self._choose_free(free, chosen, source)
        while stack:
            node = self._nodes[stack.pop()]
            mark = source.randrange(node.lower)
            for branch in node.branches:
                mark -= branch.weight * branch.lower
                if mark < 0:
                    break
            states = [
                state
                for number in branch.classes
                for state in bits(self.lowered.classes[node.variable][number])
            ]
            chosen[node.variable] = source.choice(states)
            self._choose_free(branch.free, chosen, source)
            stack.extend(branch.parts)

    def _choose_free(
        self, free: Iterable[int], chosen: dict[int, int], source: random.Random
    ) -> None:
        for variable in free:
            chosen[variable] = source.randrange(self.totals[variable])
