"""Gates over finite-domain variables: the form in which constraints are lowered to engines.

A *literal* is a positive or negative integer; ``TRUE`` and ``FALSE`` are the constants. Its node is
either a test that a variable stands in one of some states (a mask) or a conjunction of literals.
Equal nodes are one, so that what many constraints share is lowered once. Every node is a function
of the variables: whoever fixes all of them has fixed every literal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["FALSE", "TRUE", "Gates", "bits"]

TRUE: Final = 1
FALSE: Final = -1
_WIDE = 10_000
"""Rows from which on values are let go of as soon as nothing needs them."""


class Gates:
    """Nodes over variables with so many states each.

    Attributes:
        sizes: Number of states of each variable.
        tests: For a node that tests a variable, the variable and the mask of states.
        parts: For a node that is a conjunction, its literals.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = list(sizes)
        self.tests: dict[int, tuple[int, int]] = {}
        self.parts: dict[int, tuple[int, ...]] = {}
        self._last = TRUE
        self._full = [(1 << size) - 1 for size in sizes]
        self._test: dict[tuple[int, int], int] = {}
        self._gate: dict[tuple[int, ...], int] = {}

    def test(self, variable: int, mask: int) -> int:
        """The literal that a variable stands in a state of the mask."""
        full = self._full[variable]
        mask &= full
        if mask == full:
            return TRUE
        if not mask:
            return FALSE
        sign = -1 if mask & 1 else 1
        key = variable, (mask if sign > 0 else full ^ mask)
        found = self._test.get(key)
        if found is None:
            found = self._last = self._last + 1
            self._test[key] = found
            self.tests[found] = key
        return sign * found

    def mask(self, literal: int) -> tuple[int, int] | None:
        """Variable and mask of a literal that tests a variable."""
        found = self.tests.get(abs(literal))
        if found is None or literal > 0:
            return found
        return found[0], self._full[found[0]] ^ found[1]

    def both(self, *literals: int) -> int:
        """The conjunction of literals."""
        kept: set[int] = set()
        masks: dict[int, int] | None = None
        tests = self.tests
        for literal in literals:
            if literal == TRUE:
                continue
            if literal == FALSE or -literal in kept:
                return FALSE
            if literal in tests or -literal in tests:
                tested = self.mask(literal)
                assert tested is not None
                variable, mask = tested
                masks = masks or {}
                masks[variable] = mask & masks.get(variable, mask)
            else:
                kept.add(literal)
        for variable, mask in (masks or {}).items():
            if not mask:
                return FALSE
            kept.add(self.test(variable, mask))
        if len(kept) < 2:
            return kept.pop() if kept else TRUE
        key = tuple(sorted(kept))
        found = self._gate.get(key)
        if found is None:
            found = self._gate[key] = self._last = self._last + 1
            self.parts[found] = key
        return found

    def either(self, *literals: int) -> int:
        """The disjunction of literals."""
        if len(literals) == 1:
            return literals[0]
        return -self.both(*[-literal for literal in literals])

    def below(self, roots: Iterable[int]) -> list[int]:
        """Every node that some literals depend on, operands before what uses them."""
        needed: set[int] = set()
        stack = [abs(root) for root in roots]
        while stack:
            node = stack.pop()
            if node in needed or node == TRUE:
                continue
            needed.add(node)
            stack.extend(abs(part) for part in self.parts.get(node, ()))
        return sorted(needed)

    def variables(self, roots: Iterable[int]) -> frozenset[int]:
        """The variables that some literals depend on."""
        tests = self.tests
        return frozenset(tests[node][0] for node in self.below(roots) if node in tests)

    def values(
        self,
        roots: Sequence[int],
        columns: Mapping[int, Sequence[int]],
        rows: int,
        fixed: Mapping[int, int] | None = None,
    ) -> list[int]:
        """Evaluate literals in many rows at once.

        Args:
            roots: The literals.
            columns: For a variable, for each of its states the set of rows (a bit each) where it
                stands in it.
            rows: How many rows there are.
            fixed: State of each variable that is the same in all rows.

        Returns:
            For each literal the set of rows where it holds.
        """
        every = (1 << rows) - 1
        fixed = fixed or {}
        known: dict[int, int] = {TRUE: every}
        order = self.below(roots)
        over = self._last_uses(order, roots) if rows > _WIDE else {}
        for node in order:
            tested = self.tests.get(node)
            value = every
            if tested is None:
                for part in self.parts[node]:
                    value &= known[part] if part > 0 else ~known[-part]
                    if not value:
                        break
            elif tested[0] in fixed:
                value = every if tested[1] >> fixed[tested[0]] & 1 else 0
            else:
                column = columns[tested[0]]
                value = 0
                for state in bits(tested[1]):
                    value |= column[state]
            known[node] = value
            for part in over.get(node, ()):
                del known[part]
        return [known[root] if root > 0 else every ^ known[-root] for root in roots]

    def _last_uses(self, order: Sequence[int], roots: Iterable[int]) -> dict[int, list[int]]:
        """For each node those whose values are not needed after it."""
        last: dict[int, int] = {}
        for node in order:
            last |= dict.fromkeys([abs(part) for part in self.parts.get(node, ())], node)
        for root in (*roots, TRUE):
            last.pop(abs(root), None)
        over: dict[int, list[int]] = {}
        for part, node in last.items():
            over.setdefault(node, []).append(part)
        return over


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
