"""cover: few valid configurations in which every feasible combination of t values occurs.

A greedy construction after Cohen, Dalal, Fredman and Patton, "The AETG system" (1997): each row
starts from a combination not covered yet, and the SAT solver completes it, trying first the values
of which most is open. Of pairs it is decided beforehand which are feasible. What is refuted is
listed, so that nothing is left out in silence.
"""

from __future__ import annotations

import time
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.gates import bits
from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.pairwise import Pairwise
from kvsolve.solve.support import support_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import State
    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Cover", "cover"]

_MOST = 20_000_000
"""Combinations of values that are kept track of."""
_DECIDING = 0.7
"""The part of the time in which it is decided which pairs are feasible."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A covering array.

    Attributes:
        dests: The flags that vary, in declared order.
        rows: The configurations, all of them valid.
        infeasible: Combinations of flags and values that nothing valid has.
        complete: Every feasible combination occurs; False where the time was up before.
        left: Combinations neither covered nor refuted.
    """

    dests: tuple[str, ...]
    rows: tuple[Config, ...]
    infeasible: tuple[Mapping[str, object], ...]
    complete: bool
    left: int


def cover(
    prepared: Prepared,
    config: Config,
    *,
    strength: int = 2,
    vary: Mapping[str, Sequence[State] | None] | None = None,
    held: Iterable[str] = (),
    time_limit: float | None = None,
) -> Cover:
    """Make a covering array.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that do not vary.
        strength: How many flags a combination is of, 2 or 3.
        vary: As for :func:`~kvsolve.solve.lowering.lower.lower`.
        held: Dests that are no matter of choice.
        time_limit: Seconds after which it is given up, with what is there.

    Raises:
        KvsolveError: There are fewer flags than that, or too many combinations.
    """
    lowered = lower(prepared, config, vary=vary, held=held)
    if strength not in (2, 3) or len(lowered.dests) < strength:
        raise KvsolveError(
            f"to cover combinations of {strength} values, vary {strength} flags or more"
        )
    deadline = None if time_limit is None else time.monotonic() + time_limit
    if strength == 2:
        return _of_pairs(lowered, time_limit, deadline)
    with Feasible(lowered, often=True) as feasible:
        return _Greedy(lowered, feasible, strength, deadline).run()


def _of_pairs(lowered: Lowered, time_limit: float | None, deadline: float | None) -> Cover:
    """Cover the pairs; in a first part of the time it is decided which of them are feasible."""
    deciding = time_limit and time_limit * _DECIDING
    with Feasible(lowered, often=True) as feasible:
        found = support_of(lowered, time_limit=deciding, feasible=feasible)
        pairs = Pairwise(found, feasible)
        possible = pairs.left
        pairs.fill(deadline)
    named = _Names(lowered)
    infeasible = tuple(named.of(numbers) for numbers in pairs.infeasible())
    total = sum(len(a) * len(b) for a, b in combinations(lowered.states, 2))
    left = pairs.left + total - possible - len(infeasible)
    rows = tuple(lowered.config_at(row) for row in pairs.rows)
    return Cover(tuple(lowered.dests), rows, infeasible, not left, left)


class _Names:
    """Names values that are counted through all flags."""

    def __init__(self, lowered: Lowered) -> None:
        self.values = [
            (dest, state.value)
            for dest, states in zip(lowered.dests, lowered.states, strict=True)
            for state in states
        ]

    def of(self, numbers: Iterable[int]) -> Mapping[str, object]:
        """Values by dest."""
        return dict(self.values[number] for number in numbers)


class _Greedy:
    """Builds rows until nothing is open.

    Values are counted through all flags. What is open is kept as, for each combination of all but
    one of the values, the set of values (a bit each) that would complete it; the last value is of a
    later flag than the others.
    """

    def __init__(
        self, lowered: Lowered, feasible: Feasible, strength: int, deadline: float | None
    ) -> None:
        self.lowered, self.feasible, self.strength = lowered, feasible, strength
        self.deadline = deadline
        sizes = [len(states) for states in lowered.states]
        self.offset = [sum(sizes[:v]) for v in range(len(sizes))]
        self.owner = [v for v, size in enumerate(sizes) for _ in range(size)]
        self.open: dict[tuple[int, ...], int] = {}
        total = 0
        for flags in combinations(range(len(sizes)), strength - 1):
            later = (1 << len(self.owner)) - (1 << self.offset[flags[-1]] + sizes[flags[-1]])
            total += prod(sizes[v] for v in flags) * later.bit_count()
            if total > _MOST:
                raise KvsolveError(
                    "too many combinations to cover; vary fewer flags or name fewer values"
                )
            if later:
                self.open |= dict.fromkeys(self._of(flags), later)
        self.infeasible: list[tuple[int, ...]] = []
        self.rows: list[tuple[int, ...]] = []

    def _of(self, flags: Sequence[int]) -> Iterable[tuple[int, ...]]:
        from itertools import product

        own = [range(self.offset[v], self.offset[v] + len(self.lowered.states[v])) for v in flags]
        return product(*own)

    def run(self) -> Cover:
        """Build the array."""
        while self.open:
            if self.deadline is not None and time.monotonic() > self.deadline:
                break
            head = max(self.open, key=lambda key: self.open[key].bit_count())
            last = (self.open[head] & -self.open[head]).bit_length() - 1
            try:
                self._row((*head, last))
            except TimeoutError:
                break
        left = sum(rest.bit_count() for rest in self.open.values())
        lowered, named = self.lowered, _Names(self.lowered)
        return Cover(
            tuple(lowered.dests),
            tuple(lowered.config_at(row) for row in self.rows),
            tuple(named.of(numbers) for numbers in self.infeasible),
            not self.open,
            left,
        )

    def _row(self, seed: tuple[int, ...]) -> None:
        clauses = self.feasible.clauses
        assumed = [lit for n in seed for lit in clauses.state(*self._place(n))]
        self.feasible.prefer(self._wanted())
        chosen = self.feasible.find(assumed, self.deadline)
        if chosen is None:
            self._refute(seed)
            return
        row = list(clauses.first_states(chosen))
        for number in seed:
            flag, state = self._place(number)
            row[flag] = state
        self._spread(row, chosen, {self._place(n)[0] for n in seed})
        self.rows.append(tuple(row))
        self._cover(row)

    def _place(self, number: int) -> tuple[int, int]:
        flag = self.owner[number]
        return flag, number - self.offset[flag]

    def _gain(self) -> list[int]:
        """For each value how much is open with it."""
        gain = [0] * len(self.owner)
        for head, rest in self.open.items():
            count = rest.bit_count()
            for number in head:
                gain[number] += count
        return gain

    def _wanted(self) -> list[int]:
        """For each flag the class of which most is open."""
        clauses, gain = self.feasible.clauses, self._gain()
        wanted = []
        for flag, literals in enumerate(clauses.literals):
            if literals:
                start = self.offset[flag]
                scores = [
                    max(gain[start + s] for s in bits(mask)) for mask in clauses.classes[flag]
                ]
                wanted.append(literals[scores.index(max(scores))])
        return wanted

    def _spread(self, row: list[int], chosen: Sequence[int], kept: set[int]) -> None:
        """Out of a class that no entry tells apart, the value of which most is open."""
        gain = self._gain()
        for flag, number in enumerate(chosen):
            if flag not in kept:
                states = bits(self.feasible.clauses.classes[flag][number])
                row[flag] = max(states, key=lambda s: gain[self.offset[flag] + s])

    def _cover(self, row: Sequence[int]) -> None:
        numbers = [self.offset[flag] + state for flag, state in enumerate(row)]
        own = sum(1 << number for number in numbers)
        for head in combinations(numbers, self.strength - 1):
            self._close(head, own)

    def _refute(self, seed: tuple[int, ...]) -> None:
        """All combinations of the same classes are infeasible with it."""
        self.infeasible.append(seed)
        self._close(seed[:-1], 1 << seed[-1])

    def _close(self, head: tuple[int, ...], done: int) -> None:
        rest = self.open.get(head)
        if rest is not None:
            rest &= ~done
            if rest:
                self.open[head] = rest
            else:
                del self.open[head]
