"""Few valid configurations in which every pair of values occurs that some valid one has.

Which pairs those are is known from the support of the context. Each row starts from an open pair;
the values that would go best with it are put together regardless of the entries, and the SAT solver
finds a valid row close to that.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kvsolve.solve.lowering.gates import bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.solve.lowering.feasible import Feasible
    from kvsolve.solve.support import PairSupport

__all__ = ["Pairwise"]


class Pairwise:
    """Builds rows until no feasible pair is open.

    Values are counted through all flags, as classes are.

    Args:
        found: The support of all pairs.
        feasible: The same context.

    Attributes:
        rows: The state of each flag, for each row.
        open: For each value those of other flags that are still to come with it, a bit each.
    """

    def __init__(self, found: PairSupport, feasible: Feasible) -> None:
        self.found, self.feasible = found, feasible
        classes, sizes = found.lowered.classes, [len(states) for states in found.states]
        self.offset = [sum(sizes[:v]) for v in range(len(sizes))]
        self.owner = [v for v, size in enumerate(sizes) for _ in range(size)]
        self.values = [
            tuple(self.offset[v] + state for state in bits(mask))
            for v, own in enumerate(classes)
            for mask in own
        ]
        self.class_of = [0] * len(self.owner)
        for number, values in enumerate(self.values):
            for value in values:
                self.class_of[value] = number
        self.rows: list[tuple[int, ...]] = []
        self._masks = [sum(1 << value for value in values) for values in self.values]
        self.open = self._of_classes(found.together)
        self._counts = [rest.bit_count() for rest in self.open]
        self._literal: dict[int, int] = {
            found.offset[v] + n: literal
            for v, own in enumerate(feasible.clauses.literals)
            for n, literal in enumerate(own)
        }

    def _of_classes(self, table: Sequence[int]) -> list[int]:
        """A table over classes of flags as one over values of different flags."""
        own = [
            ((1 << len(s)) - 1) << o for s, o in zip(self.found.states, self.offset, strict=True)
        ]
        wide = [sum(self._masks[n] for n in bits(row)) for row in table]
        return [wide[self.class_of[s]] & ~own[flag] for s, flag in enumerate(self.owner)]

    @property
    def left(self) -> int:
        """How many pairs are open."""
        return sum(rest.bit_count() for rest in self.open) // 2

    def infeasible(self) -> Iterator[tuple[int, int]]:
        """The pairs of values that nothing valid has, in order."""
        found = self.found
        dead, every = found.dead, (1 << len(self.values)) - 1
        lost = [
            every if dead >> n & 1 else (found.apart[n] | dead) & ~found.together[n]
            for n in range(len(self.values))
        ]
        for value, others in enumerate(self._of_classes(lost)):
            for other in bits(others >> value):
                yield value, value + other

    def fill(self, deadline: float | None = None) -> None:
        """Build rows until nothing is open or the time is up.

        Args:
            deadline: Reading of ``time.monotonic``.
        """
        while deadline is None or time.monotonic() < deadline:
            most = max(self._counts, default=0)
            if not most:
                return
            value = self._counts.index(most)
            partner = max(bits(self.open[value]), key=self._counts.__getitem__)
            try:
                self._close(self._row(value, partner, deadline))
            except TimeoutError:
                return

    def _row(self, value: int, partner: int, deadline: float | None) -> list[int]:
        """A valid row with two values, which some valid configuration has."""
        literal, seed = self._literal, {self.owner[value]: value, self.owner[partner]: partner}
        wanted = self._wanted(seed)
        self.feasible.prefer([literal[c] for v in wanted if (c := self.class_of[v]) in literal])
        assumed = [literal[c] for v in seed.values() if (c := self.class_of[v]) in literal]
        chosen = self.feasible.find(assumed, deadline)
        assert chosen is not None
        there = sum(1 << one for one in seed.values())
        row = []
        for flag, number in enumerate(chosen):
            one = seed.get(flag)
            if one is None:
                one = self._best(self.values[self.found.offset[flag] + number], there)[0]
            row.append(one)
            there |= 1 << one
        return row

    def _wanted(self, seed: dict[int, int]) -> list[int]:
        """For each flag the value of which most is open with what is wanted of others so far."""
        there, wanted = 0, []
        for one in seed.values():
            there |= 1 << one
        sizes = map(len, self.found.states)
        ranges = [range(o, o + n) for o, n in zip(self.offset, sizes, strict=True)]
        order = sorted(ranges, key=lambda own: -max(map(self._counts.__getitem__, own)))
        for own in order:
            if self.owner[own[0]] not in seed:
                one, gain = self._best(own, there)
                if gain:
                    wanted.append(one)
                    there |= 1 << one
        return wanted

    def _best(self, values: Sequence[int], there: int) -> tuple[int, int]:
        """The value that has most open pairs with others, and how many."""
        best, most = values[0], -1
        if len(values) == 1:
            return best, 1
        for one in values:
            gain = (self.open[one] & there).bit_count()
            if gain > most:
                best, most = one, gain
        return best, most

    def _close(self, row: Sequence[int]) -> None:
        there = sum(1 << value for value in row)
        for value in row:
            self.open[value] &= ~there
            self._counts[value] = self.open[value].bit_count()
        offset = self.offset
        self.rows.append(tuple(v - start for v, start in zip(row, offset, strict=True)))
