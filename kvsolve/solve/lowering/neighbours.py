"""All configurations that differ from a valid one in a single flag, judged at once.

The gates are evaluated with a bit for each neighbour, so that a thousand cost little more than one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Neighbours"]

_ROWS = 8000
"""Configurations judged at once."""


class Neighbours:
    """Judges the neighbours of configurations of one lowered context.

    Attributes:
        offset: For each flag the number of its first class, counted through all flags.
        total: How many classes there are.
        owner: The flag of each class.
    """

    def __init__(self, lowered: Lowered) -> None:
        gates = lowered.gates
        self.classes = lowered.classes
        self.offset: list[int] = []
        total = 0
        for own in self.classes:
            self.offset.append(total)
            total += len(own)
        self.total = total
        self.owner = [v for v, own in enumerate(self.classes) for _ in own]
        roots = [r for r in (*lowered.light, *lowered.suspect, *lowered.doubts) if r != FALSE]
        self.roots = roots
        order = gates.below(roots)
        place = {node: at for at, node in enumerate(order, 1)}
        place[TRUE] = 0
        self.tests: list[tuple[int, int, int]] = []
        self.parts: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
        for node in order:
            if node in gates.tests:
                variable, mask = gates.tests[node]
                self.tests.append((place[node], variable, self._by_class(variable, mask)))
            else:
                positive = tuple(place[p] for p in gates.parts[node] if p > 0)
                negative = tuple(place[-p] for p in gates.parts[node] if p < 0)
                self.parts.append((place[node], positive, negative))
        self.size = len(order) + 1
        self.ends = [(place[abs(root)], root > 0) for root in roots]

    def _by_class(self, variable: int, mask: int) -> int:
        return sum(1 << n for n, own in enumerate(self.classes[variable]) if own & mask)

    def valid(self, chosen: Sequence[int]) -> int:
        """The classes, counted through all flags, to which one flag can be set alone.

        Args:
            chosen: The class of each flag in a valid configuration.

        Returns:
            A bit for each class; the flags' own classes are set where the configuration itself is
            surely valid. Where an entry is pending a neighbour may be missed, never wrongly given.
        """
        every = (1 << self.total) - 1
        flips = {}
        for variable, start in enumerate(self.offset):
            flips[variable] = [1 << start + n for n in range(len(self.classes[variable]))]
        return self._judge(chosen, flips, every)

    def pairs(
        self, chosen: Sequence[int], wanted: Iterable[tuple[int, list[int]]]
    ) -> Iterator[tuple[int, list[int], int]]:
        """Which pairs of classes two flags can be set to together.

        Args:
            chosen: The class of each flag in a valid configuration.
            wanted: Classes, counted through all flags, each with classes of other flags.

        Yields:
            What was wanted, with the set of the others (a bit each) that are valid with the one.
        """
        waiting: list[tuple[int, list[int]]] = []
        rows = 0
        for one, others in wanted:
            waiting.append((one, others))
            rows += len(others)
            if rows > _ROWS:
                yield from self._batch(chosen, waiting, rows)
                waiting, rows = [], 0
        if waiting:
            yield from self._batch(chosen, waiting, rows)

    def _batch(
        self, chosen: Sequence[int], waiting: list[tuple[int, list[int]]], rows: int
    ) -> Iterator[tuple[int, list[int], int]]:
        flips = {v: [0] * len(own) for v, own in enumerate(self.classes)}
        row = 0
        for one, others in waiting:
            variable = self.owner[one]
            flips[variable][one - self.offset[variable]] |= ((1 << len(others)) - 1) << row
            for other in others:
                variable = self.owner[other]
                flips[variable][other - self.offset[variable]] |= 1 << row
                row += 1
        valid = self._judge(chosen, flips, (1 << rows) - 1)
        for one, others in waiting:
            yield one, others, valid & (1 << len(others)) - 1
            valid >>= len(others)

    def _judge(self, chosen: Sequence[int], flips: dict[int, list[int]], every: int) -> int:
        """The rows that are surely valid.

        Args:
            chosen: The class of each flag where a row does not set it.
            flips: For each flag and class the rows that set it.
            every: All rows.
        """
        known = [0] * self.size
        known[0] = every
        for at, variable, mask in self.tests:
            own = flips[variable]
            if mask >> chosen[variable] & 1:
                value = every
                for number, rows in enumerate(own):
                    if not mask >> number & 1:
                        value &= ~rows
            else:
                value = 0
                for number, rows in enumerate(own):
                    if mask >> number & 1:
                        value |= rows
            known[at] = value
        for at, positive, negative in self.parts:
            value = every
            for part in positive:
                value &= known[part]
                if not value:
                    break
            else:
                for part in negative:
                    value &= ~known[part]
                    if not value:
                        break
            known[at] = value
        bad = 0
        for at, sign in self.ends:
            bad |= known[at] if sign else every ^ known[at]
        return every & ~bad
