"""support: which pairs of values of flags some valid configuration has.

A valid configuration answers for all pairs of its values, and its valid neighbours for what one or
two flags can be set to beside the rest. Neighbours are judged by the thousand. Only what none of
them shows is asked of the SAT solver, and what unit propagation excludes is not searched.
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

__all__ = ["PairSupport", "Support", "support"]

_FEW_NEW = 3000
"""New pairs, each counted from both sides, up to which trying all open ones is given up."""


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
        self._twice: dict[int, list[tuple[int, int]]] = {}
        self.found: list[tuple[list[int], int]] = []

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
        for chosen, flips in self.found:
            mine, its = chosen[a] + self.offset[a] == one, chosen[b] + self.offset[b] == other
            if (mine or its) and (mine or flips >> one & 1) and (its or flips >> other & 1):
                break
        else:
            one, other = min(one, other), max(one, other)
            place = next(p for pairs, p in self._twice[one] if pairs >> other & 1)
            chosen = self.found[place][0]
        at = [
            (own[n] & -own[n]).bit_length() - 1
            for own, n in zip(self.lowered.classes, chosen, strict=True)
        ]
        at[a], at[b] = a_state, b_state
        return self.lowered.config_at(at)

    def note(self, chosen: list[int], flips: int) -> None:
        """Take in a valid configuration and the classes that its flags can be set to alone."""
        self.found.append((chosen, flips))
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
            self.together[number] |= base & ~self._own[variable] | 1 << number

    def note_pairs(self, at: int, one: int, others: list[int]) -> None:
        """Take in that classes go with one class in a configuration found, both changed in it."""
        together = 0
        for other in others:
            together |= 1 << other
            self.together[other] |= 1 << one
        if together:
            self.together[one] |= together
            self._twice.setdefault(one, []).append((together, at))

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
    lowered = lower(prepared, config, vary=vary, held=held)
    neighbours = Neighbours(lowered)
    found = PairSupport(lowered, neighbours)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    with Feasible(lowered) as feasible:
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
        self.literals = feasible.clauses.literals
        self.many = [v for v, own in enumerate(self.literals) if own]
        offset = neighbours.offset
        self.literal = {
            offset[v] + n: lit for v in self.many for n, lit in enumerate(self.literals[v])
        }

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

    def _fill(self) -> bool:
        if self._ask([]) is None:
            self.found.dead = (1 << self.neighbours.total) - 1
            return True
        while not self._late() and self._round():
            pass
        for number, literal in self.literal.items():
            if not self._alive(number, literal):
                continue
            if not self._row(number, literal):
                return False
        return True

    def _round(self) -> bool:
        """All open pairs tried at once, each as two changes of one configuration.

        Returns:
            Whether it brought much; else the rest is better asked one by one.
        """
        before = self._gaps()
        if len(self.found.found) > 1 or before < _FEW_NEW:
            self.feasible.prefer(self._wanted())
            self._ask([])
        chosen = self.found.found[-1][0]
        at = len(self.found.found) - 1
        open_ = [
            (one, [n for n in bits(self.found.gaps(one)) if n > one])
            for one in range(self.neighbours.total)
        ]
        for one, others, valid in self.neighbours.pairs(chosen, [o for o in open_ if o[1]]):
            self.found.note_pairs(at, one, [others[n] for n in bits(valid)])
        if len(self.found.found) == 1:
            self.feasible.prefer(self._wanted())
            self._ask([])
            return True
        return before - self._gaps() > _FEW_NEW

    def _wanted(self) -> list[int]:
        """For each flag a value of which little is known."""
        wanted = []
        for variable in self.many:
            start = self.found.offset[variable]
            open_ = [self.gap_counts[start + n] for n in range(len(self.literals[variable]))]
            number = self.source.choices(range(len(open_)), [k**4 + 1 for k in open_])[0]
            wanted.append(self.literals[variable][number])
        return wanted

    def _gaps(self) -> int:
        self.gap_counts = [self.found.gaps(n).bit_count() for n in range(self.neighbours.total)]
        return sum(self.gap_counts)

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _ask(self, assumptions: list[int]) -> list[int] | None:
        chosen = self.feasible.settled([*assumptions, *self.calm])
        if chosen is None:
            chosen = self.feasible.find(assumptions, self.deadline)
        if chosen is not None:
            self.found.note(chosen, self.neighbours.valid(chosen))
        return chosen

    def _alive(self, number: int, literal: int) -> bool:
        if not self.found.together[number] and self._ask([literal]) is None:
            self.found.dead |= 1 << number
            return False
        return True

    def _row(self, number: int, literal: int) -> bool:
        """Decide the pairs of one class with all others; False where the time is up."""
        found = self.found
        gaps = found.gaps(number)
        if not gaps:
            return True
        implied = self.feasible.implied([literal]) or set()
        excluded = 0
        for other in bits(gaps):
            if -self.literal.get(other, 0) in implied:
                excluded |= 1 << other
        found.part(number, excluded)
        while gaps := found.gaps(number):
            if self._late():
                return False
            open_ = list(bits(gaps))
            self.source.shuffle(open_)
            self.feasible.prefer([self.literal[n] for n in open_ if n in self.literal])
            # A flag with one class has no literal: whatever is found has that class.
            wanted = [self.literal[open_[0]]] if open_[0] in self.literal else []
            if self._ask([literal, *wanted]) is None:
                found.part(number, 1 << open_[0])
        return True
