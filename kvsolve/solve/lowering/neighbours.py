"""All configurations that differ from valid ones in a single flag, judged at once.

The gates are evaluated with a bit for each neighbour, so that a thousand cost little more than one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.solve.lowering.gates import FALSE, TRUE, bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.solve.lowering.gates import Gates
    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Neighbours"]


class _Step(NamedTuple):
    """How a node is evaluated.

    Attributes:
        at: Where its value is put.
        test: A flag and a set of its classes; None for a conjunction.
        positive: Values that must hold.
        negative: Values that must not.
        end: Whether nothing valid has it, or nothing valid lacks it; None if it is neither.
        done: Values that are not needed any more.
    """

    at: int
    test: tuple[int, int] | None
    positive: tuple[int, ...]
    negative: tuple[int, ...]
    end: bool | None
    done: tuple[int, ...]


class Neighbours:
    """Judges the neighbours of configurations of one lowered context.

    Attributes:
        offset: For each flag the number of its first class, counted through all flags.
        total: How many classes there are.
        owner: The flag of each class.
        apart: For each flag the classes of flags that stand in no entry with it. Two changes of a
            valid configuration that are valid each are valid together if they are apart.
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
        self._gates = gates
        self._steps: list[_Step] = []
        literals = (*lowered.light, *lowered.suspect, *lowered.doubts)
        roots = list(dict.fromkeys(r for r in literals if r != FALSE))
        self._never = TRUE in roots or any(-root in roots for root in roots)
        self._size = self._plan(roots)
        self.beside = self._beside()
        every, bounds = (1 << total) - 1, [*self.offset, total]
        own_classes = [(1 << b) - (1 << a) for a, b in pairwise(bounds)]
        self.apart = [every & ~sum(own_classes[v] for v in bits(mask)) for mask in self.beside]

    def _plan(self, roots: Sequence[int]) -> int:
        """Lay down in which order nodes are evaluated, and when a value is not needed any more.

        Root by root: few values are alive at a time, and those stay in the processor's cache.
        """
        gates = self._gates
        order = list(_root_by_root(gates, roots))
        place = {node: at for at, node in enumerate(order, 1)}
        place[TRUE] = 0
        last: dict[int, int] = {}
        for node in order:
            for part in gates.parts.get(node, ()):
                last[place[abs(part)]] = place[node]
        ends = {place[abs(root)]: root > 0 for root in roots}
        over: dict[int, list[int]] = {}
        for at, user in last.items():
            over.setdefault(user, []).append(at)
        for node in order:
            at, test = place[node], None
            if node in gates.tests:
                variable, mask = gates.tests[node]
                test = variable, self._by_class(variable, mask)
            positive = tuple(place[p] for p in gates.parts.get(node, ()) if p > 0)
            negative = tuple(place[-p] for p in gates.parts.get(node, ()) if p < 0)
            done = tuple(over.get(at, ()))
            self._steps.append(_Step(at, test, positive, negative, ends.get(at), done))
        return len(order) + 1

    def _by_class(self, variable: int, mask: int) -> int:
        return sum(1 << n for n, own in enumerate(self.classes[variable]) if own & mask)

    def _beside(self) -> list[int]:
        """For each flag those that stand in an entry with it, a bit each, itself among them."""
        reads = [0] * self._size
        found = [1 << variable for variable in range(len(self.classes))]
        for at, test, positive, negative, end, _ in self._steps:
            mask = 0 if test is None else 1 << test[0]
            for part in (*positive, *negative):
                mask |= reads[part]
            reads[at] = mask
            if end is not None:
                for variable in bits(mask):
                    found[variable] |= mask
        return found

    def valid(self, chosen: Sequence[int]) -> int:
        """As :meth:`valid_of` for one configuration and all classes."""
        return self.valid_of([chosen], (1 << self.total) - 1)[0]

    def valid_of(self, bases: Sequence[Sequence[int]], among: int) -> list[int]:
        """For each configuration the classes to which one flag of it can be set alone.

        Args:
            bases: The class of each flag in a valid configuration, each.
            among: The classes asked about, counted through all flags, a bit each.

        Returns:
            A bit for each class; the flags' own classes are set where the configuration itself is
            surely valid. Where an entry is pending a neighbour may be missed, never wrongly given.
        """
        asked = list(bits(among))
        if self._never or not bases:
            return [0] * len(bases)
        size = len(asked) + 1  # the last row of a block is the configuration itself
        valid = self._judge(bases, asked, size)
        found = []
        for place, chosen in enumerate(bases):
            block = valid >> place * size
            flags = 0
            if block >> len(asked) & 1:
                for variable, number in enumerate(chosen):
                    flags |= 1 << self.offset[variable] + number
            for row in bits(block & (1 << len(asked)) - 1):
                flags |= 1 << asked[row]
            found.append(flags)
        return found

    def _judge(self, bases: Sequence[Sequence[int]], asked: Sequence[int], size: int) -> int:
        """The rows that are surely valid: for each base one for each class that is asked about."""
        every = (1 << size * len(bases)) - 1
        one = (1 << size) - 1
        blocks = every // one  # the first row of every block
        flips: list[dict[int, int]] = [{} for _ in self.classes]
        for row, number in enumerate(asked):
            variable = self.owner[number]
            flips[variable][number - self.offset[variable]] = 1 << row
        inside: list[list[int]] = [[0] * len(own) for own in self.classes]
        for place, chosen in enumerate(bases):
            for variable, number in enumerate(chosen):
                inside[variable][number] |= 1 << place * size
        known = [0] * self._size
        known[0] = every
        bad = 0
        for at, test, positive, negative, end, done in self._steps:
            if test is None:
                value = every
                for part in positive:
                    value &= known[part]
                if value and negative:
                    against = 0
                    for part in negative:
                        against |= known[part]
                    value &= ~against
            else:
                variable, mask = test
                to = off = there = 0
                for number, row in flips[variable].items():
                    if mask >> number & 1:
                        to |= row
                    else:
                        off |= row
                for number in bits(mask):
                    there |= inside[variable][number]
                value = (one ^ off) * there | to * (blocks ^ there)
            known[at] = value
            if end is not None:
                bad |= value if end else every ^ value
            for part in done:
                known[part] = 0
        return every & ~bad


def _root_by_root(gates: Gates, roots: Sequence[int]) -> Iterator[int]:
    """The nodes below some literals, operands before what uses them."""
    seen = {TRUE}
    for root in roots:
        stack = [abs(root)]
        while stack:
            node = stack[-1]
            if node in seen:
                stack.pop()
                continue
            open_ = [abs(p) for p in gates.parts.get(node, ()) if abs(p) not in seen]
            if open_:
                stack.extend(open_)
            else:
                seen.add(stack.pop())
                yield node
