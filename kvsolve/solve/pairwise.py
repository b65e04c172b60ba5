"""Few valid configurations in which every pair of values occurs that some valid one has.

Which pairs those are is known from the support of the context, and with it valid configurations
with their valid neighbours. A row starts from one of these that has, or can be changed to have, an
open pair, and takes for each flag the value of which most is open: one out of the same class, which
no entry tells apart, or a valid change that no entry looks at together with another one made. So
no row has to be asked of a solver.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kvsolve.solve.lowering.gates import bits

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from kvsolve.solve.support import PairSupport

__all__ = ["Pairwise"]

_TRIED = 4
"""Configurations tried as the start of a row."""


class Pairwise:
    """Builds rows until no feasible pair is open.

    Values are counted through all flags, as classes are.

    Attributes:
        rows: The state of each flag, for each row.
        open: For each value those of other flags that are still to come with it, a bit each.
    """

    def __init__(self, found: PairSupport, source: random.Random) -> None:
        self.found, self.neighbours, self.source = found, found.neighbours, source
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
        self._has, self._can = self._places()

    def _of_classes(self, table: Sequence[int]) -> list[int]:
        """A table over classes of flags as one over values of different flags."""
        own = [
            ((1 << len(s)) - 1) << o for s, o in zip(self.found.states, self.offset, strict=True)
        ]
        wide = [sum(self._masks[n] for n in bits(row)) for row in table]
        return [wide[self.class_of[s]] & ~own[flag] for s, flag in enumerate(self.owner)]

    def _places(self) -> tuple[list[int], list[int]]:
        """For each class the configurations found that have it, and those that can be set to it."""
        has, can = [0] * len(self.values), [0] * len(self.values)
        for place, (chosen, flips) in enumerate(self.found.found):
            own = 0
            for variable, number in enumerate(chosen):
                own |= 1 << self.found.offset[variable] + number
                has[self.found.offset[variable] + number] |= 1 << place
            for number in bits(flips | own):
                can[number] |= 1 << place
        return has, can

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
            value = max(range(len(self.open)), key=lambda n: self.open[n].bit_count(), default=0)
            if not self.open or not self.open[value]:
                return
            rest = self.open[value]
            partner = max(bits(rest), key=lambda n: self.open[n].bit_count())
            self._close(self._row(value, partner))

    def _row(self, value: int, partner: int) -> list[int]:
        """A valid row with two values."""
        chosen, flips = self._start(self.class_of[value], self.class_of[partner])
        row = [-1] * len(chosen)
        bound, there = 0, 0
        for wanted in (value, partner):
            flag = self.owner[wanted]
            row[flag] = wanted
            there |= 1 << wanted
            if self.class_of[wanted] != self.found.offset[flag] + chosen[flag]:
                bound |= self.neighbours.beside[flag]
        left = [flag for flag, taken in enumerate(row) if taken < 0]
        self.source.shuffle(left)
        for flag in left:
            start = self.found.offset[flag]
            values = self.values[start + chosen[flag]]
            if not bound >> flag & 1:
                own = flips >> start & (1 << len(self.found.lowered.classes[flag])) - 1
                values = (*values, *(v for n in bits(own) for v in self.values[start + n]))
            best, most = values[0], -1
            if len(values) > 1:
                for one in values:
                    gain = (self.open[one] & there).bit_count()
                    if gain > most:
                        best, most = one, gain
            row[flag] = best
            there |= 1 << best
            if self.class_of[best] != start + chosen[flag]:
                bound |= self.neighbours.beside[flag]
        return row

    def _start(self, one: int, other: int) -> tuple[Sequence[int], int]:
        """A valid configuration, with its valid neighbours, that can be set to two classes."""
        both = self._can[one] & self._can[other]
        if not self.neighbours.apart[self.neighbours.owner[one]] >> other & 1:
            both &= self._has[one] | self._has[other]
        places = list(bits(both))
        tried = self.source.sample(places, min(_TRIED, len(places)))
        return self.found.found[max(tried, key=self._freedom)]

    def _freedom(self, place: int) -> int:
        """How much can be changed in a configuration found."""
        return self.found.found[place][1].bit_count()

    def _close(self, row: Sequence[int]) -> None:
        there = sum(1 << value for value in row)
        for value in row:
            self.open[value] &= ~there
        offset = self.offset
        self.rows.append(tuple(v - start for v, start in zip(row, offset, strict=True)))
