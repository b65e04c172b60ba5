"""support: which pairs of values of flags some valid configuration has.

A valid configuration answers for all pairs of its values, and its valid neighbours for what a flag
can be set to beside the rest; two changes that no entry looks at together are valid together if
each is. Neighbours are judged by the thousand, on walks from one valid configuration to others.
What they do not show is asked of the SAT solver, for a value with all open ones at once: an answer
has one of them, or none can be had.
"""

from __future__ import annotations

import random
import time
from enum import Enum
from typing import TYPE_CHECKING

from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.gates import FALSE, TRUE, bits
from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.lowering.neighbours import Neighbours

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import State
    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["PairSupport", "Support", "support", "support_of"]

_WALKS = 32
"""Configurations whose neighbours are judged at once."""
_WORTH = 20
"""Walking ends where a step leaves more than all but a part of so many of what was open."""


class Support(Enum):
    """What is known of a pair of values."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    DEAD = "dead"
    UNKNOWN = "unknown"


class PairSupport:
    """The support of all pairs of values of the flags that vary in a context.

    Attributes:
        dests: The flags, in declared order.
        states: The states of each.
        complete: Every pair is decided; False where the time was up before.
        found: Valid configurations, as the class of each flag, with their valid neighbours.
        neighbours: Tells which changes of these are valid together.
    """

    def __init__(self, lowered: Lowered, neighbours: Neighbours) -> None:
        self.lowered = lowered
        self.dests: Sequence[str] = lowered.dests
        self.states: Sequence[Sequence[State]] = lowered.states
        self.complete = True
        self.offset = neighbours.offset
        self._class = [
            [next(n for n, mask in enumerate(own) if mask >> s & 1) for s in range(len(states))]
            for own, states in zip(lowered.classes, lowered.states, strict=True)
        ]
        self._owner = [v for v, own in enumerate(lowered.classes) for _ in own]
        self._own = [
            ((1 << len(own)) - 1) << start
            for own, start in zip(lowered.classes, self.offset, strict=True)
        ]
        self.together = [0] * neighbours.total
        self.apart: list[int] = [0] * neighbours.total
        self.dead = 0
        self.found: list[tuple[list[int], int]] = []
        self.neighbours = neighbours

    def tell(self, a: int, a_state: int, b: int, b_state: int) -> Support:
        """What is known of two flags in two states.

        Args:
            a: Position of a flag in ``dests``.
            a_state: Position of its state in ``states``.
            b: Position of another flag.
            b_state: Position of its state.
        """
        one, other = self.number(a, a_state), self.number(b, b_state)
        if self.together[one] >> other & 1:
            return Support.SUPPORTED
        if self.dead >> one & 1 or self.dead >> other & 1:
            return Support.DEAD
        return Support.UNSUPPORTED if self.apart[one] >> other & 1 else Support.UNKNOWN

    def value(self, a: int, state: int) -> Support:
        """What is known of one flag in one state: supported, dead or not known."""
        number = self.number(a, state)
        if self.together[number]:
            return Support.SUPPORTED
        return Support.DEAD if self.dead >> number & 1 else Support.UNKNOWN

    def number(self, a: int, state: int) -> int:
        """The number of a state's class, counted through all flags."""
        return self.offset[a] + self._class[a][state]

    def witness(self, a: int, a_state: int, b: int, b_state: int) -> Config | None:
        """A valid configuration with two flags in two states, None where none was found."""
        if self.tell(a, a_state, b, b_state) is not Support.SUPPORTED:
            return None
        one, other = self.number(a, a_state), self.number(b, b_state)
        free = self.neighbours.apart[a] >> other & 1
        for chosen, flips in self.found:
            mine, its = chosen[a] + self.offset[a] == one, chosen[b] + self.offset[b] == other
            both = mine or its or free
            if both and (mine or flips >> one & 1) and (its or flips >> other & 1):
                break
        at = [
            (own[n] & -own[n]).bit_length() - 1
            for own, n in zip(self.lowered.classes, chosen, strict=True)
        ]
        at[a], at[b] = a_state, b_state
        return self.lowered.config_at(at)

    def keep(self, chosen: list[int], flips: int) -> None:
        """Take in a valid configuration and the classes that its flags can be set to alone."""
        self.found.append((chosen, flips))
        self.note(chosen, flips)

    def note(self, chosen: list[int], flips: int) -> None:
        """Take in its pairs."""
        base = 0
        for variable, number in enumerate(chosen):
            base |= 1 << self.offset[variable] + number
        flips &= ~base
        for variable, number in enumerate(chosen):
            self.together[self.offset[variable] + number] |= (base | flips) & ~self._own[
                variable
            ] | (1 << self.offset[variable] + number)
        for number in bits(flips):
            variable = self._owner[number]
            beside = base & ~self._own[variable] | flips & self.neighbours.apart[variable]
            self.together[number] |= beside | 1 << number

    def gaps(self, number: int) -> int:
        """The classes of other flags of which nothing is known together with one."""
        every = (1 << len(self.together)) - 1
        known = self.together[number] | self.apart[number] | self.dead
        return every & ~known & ~self._own[self._owner[number]]

    def part(self, one: int, others: int) -> None:
        """Take in that no valid configuration has one class and any of others."""
        self.apart[one] |= others
        for other in bits(others):
            self.apart[other] |= 1 << one


def support(
    prepared: Prepared,
    config: Config,
    *,
    vary: Mapping[str, Sequence[State] | None] | None = None,
    held: Iterable[str] = (),
    seed: int = 0,
    time_limit: float | None = None,
) -> PairSupport:
    """Decide for all pairs of values whether some valid configuration has both.

    Args:
        prepared: Pack, context and stage.
        config: What it gives is kept; the flags that it does not give may all help.
        vary: As for :func:`~kvsolve.solve.lowering.lower.lower`.
        held: Dests that are no matter of choice.
        seed: Of the random configurations to start with; it changes the work, not the answer.
        time_limit: Seconds after which what is left stays unknown.
    """
    return support_of(lower(prepared, config, vary=vary, held=held), seed, time_limit)


def support_of(
    lowered: Lowered,
    seed: int = 0,
    time_limit: float | None = None,
    feasible: Feasible | None = None,
) -> PairSupport:
    """The same for a context that is lowered, and for which there may be a solver already."""
    if feasible is None:
        with Feasible(lowered, often=True) as feasible:
            return support_of(lowered, seed, time_limit, feasible)
    neighbours = Neighbours(lowered)
    found = PairSupport(lowered, neighbours)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    found.complete = _Filler(found, feasible, neighbours, random.Random(seed), deadline).fill()
    return found


class _Filler:
    """Fills a table of pairs."""

    def __init__(
        self,
        found: PairSupport,
        feasible: Feasible,
        neighbours: Neighbours,
        source: random.Random,
        deadline: float | None,
    ) -> None:
        self.found, self.feasible, self.neighbours = found, feasible, neighbours
        self.source, self.deadline = source, deadline
        offset = neighbours.offset
        self.literal = {
            offset[v] + n: lit
            for v, own in enumerate(feasible.clauses.literals)
            for n, lit in enumerate(own)
        }
        self.waiting: list[list[int]] = []
        # Where no suspect entry can have a say, the neighbours can be judged.
        self.calm = [
            -feasible.clauses.literal(s) for s in found.lowered.suspect if s not in (TRUE, FALSE)
        ]

    def fill(self) -> bool:
        """Decide every pair; False where the time is up before."""
        try:
            return self._fill()
        except TimeoutError:
            return False
        finally:
            self._judge_waiting()

    def _fill(self) -> bool:
        start = self.feasible.settled(self.calm) or self.feasible.find((), self.deadline)
        if start is None:
            self.found.dead = (1 << self.neighbours.total) - 1
            return True
        self._walk(start)
        for number in sorted(self.literal, key=lambda n: -self.found.gaps(n).bit_count()):
            if self._alive(number) and not self._row(number):
                return False
        return True

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _walk(self, start: list[int]) -> None:
        """Go on from a valid configuration to others, as long as much is found on the way."""
        every = (1 << self.neighbours.total) - 1
        flips = self.neighbours.valid_of([start], every)[0]
        self.found.keep(start, flips)
        walks = [(start, flips)] * _WALKS
        before = self._gaps()
        while not self._late() and before:
            bases = [self._step(chosen, own) for chosen, own in walks]
            walks = list(zip(bases, self.neighbours.valid_of(bases, every), strict=True))
            for chosen, own in walks:
                self.found.keep(chosen, own)
            now = self._gaps()
            if (before - now) * _WORTH < before:
                break
            before = now

    def _gaps(self) -> int:
        self.gap_counts = [self.found.gaps(n).bit_count() for n in range(self.neighbours.total)]
        return sum(self.gap_counts)

    def _step(self, chosen: list[int], flips: int) -> list[int]:
        """Another valid configuration: changes that are valid alone and apart from each other.

        Args:
            chosen: A valid configuration.
            flips: The classes that one of its flags can be set to alone.
        """
        neighbours, draw = self.neighbours, self.source.random
        moves = sorted((-(self.gap_counts[n] + 1) * draw(), n) for n in bits(flips))
        there, bound = list(chosen), 0
        for _, number in moves:
            variable = neighbours.owner[number]
            if not bound >> variable & 1:
                there[variable] = number - neighbours.offset[variable]
                bound |= neighbours.beside[variable]
        return there

    def _ask(self, assumptions: list[int]) -> bool:
        """Whether something valid has some literals; its pairs are taken in."""
        chosen = self.feasible.find(assumptions, self.deadline)
        if chosen is None:
            return False
        self.found.note(chosen, 0)
        self.waiting.append(chosen)
        if len(self.waiting) >= _WALKS:
            self._judge_waiting()
        return True

    def _judge_waiting(self) -> None:
        """Take in what the neighbours of configurations found have that is still open."""
        open_ = sum(1 << n for n in self.literal if self.found.gaps(n))
        bases, self.waiting = self.waiting, []
        late = self._late() or not open_
        valid = [0] * len(bases) if late else self.neighbours.valid_of(bases, open_)
        for chosen, flips in zip(bases, valid, strict=True):
            self.found.keep(chosen, flips)

    def _alive(self, number: int) -> bool:
        if not self.found.together[number] and not self._ask([self.literal[number]]):
            self.found.dead |= 1 << number
            return False
        return True

    def _row(self, number: int) -> bool:
        """Decide the pairs of one class with all others; False where the time is up."""
        found, feasible, literal = self.found, self.feasible, self.literal[number]
        gaps = found.gaps(number)
        if not gaps:
            return True
        implied = feasible.implied([literal]) or set()
        excluded = 0
        for other in bits(gaps):
            if -self.literal.get(other, 0) in implied:
                excluded |= 1 << other
        found.part(number, excluded)
        while gaps := found.gaps(number):
            if self._late():
                return False
            # A flag with one class has no literal, but whatever is found has that class.
            open_ = [self.literal[n] for n in bits(gaps) if n in self.literal]
            self.source.shuffle(open_)
            feasible.prefer(open_)
            wanted = feasible.any_of(open_)
            if not self._ask([literal, wanted]):
                found.part(number, gaps)
            feasible.forget(wanted)
        return True
