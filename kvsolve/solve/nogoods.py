"""No-goods of a context: what was learned in one search and holds in every other.

Bit n of an integer stands for clause n, so that a configuration is held against all clauses in a
few operations for each flag that is not as in an empty command. How many of a clause's literals
fail in an empty command is kept in binary, one integer a digit; a clause is broken where just as
many of them hold now, and none of the others fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.solve.grounds import Literals
    from kvsolve.solve.universe import Universe

__all__ = ["Clause", "NoGoods", "Soft"]

_DIGITS = 4


class Soft(NamedTuple):
    """Something better avoided.

    Attributes:
        rank: 0 for a report, 1 for a rewrite.
        name: Its code, or the dest.
    """

    rank: int
    name: str


class Clause(NamedTuple):
    """Not all of these at once.

    Attributes:
        literals: Pairs of a variable and the mask of its states.
        source: Step whose refusal it stands for, None for a clause made here.
        soft: What it costs to break it; None where it must not be broken.
    """

    literals: Literals
    source: int | None = None
    soft: Soft | None = None


class NoGoods:
    """A set of clauses.

    Attributes:
        clauses: In the order in which they were learned.
        hard: The clauses that must not be broken.
        version: Grows with everything learned.
    """

    def __init__(self, universe: Universe) -> None:
        self.rest = universe.rest
        self.clauses: list[Clause] = []
        self.hard = 0
        self.version = 0
        self._all = 0
        self._known: dict[tuple[Literals, Soft | None], int] = {}
        self._on: dict[int, int] = {}
        self._away: dict[int, int] = {}
        self._held: dict[int, dict[int, int]] = {}
        self._digits = [0] * _DIGITS
        self._wide = 0
        self._sources: dict[int, int] = {}
        self._softs: dict[Soft, int] = {}

    def learn(self, clause: Clause) -> bool:
        """Add a clause; False where it was known, and known to come from there."""
        key = clause.literals, clause.soft
        number = self._known.get(key)
        if number is not None:
            return self._from(clause.source, 1 << number)
        self._known[key] = len(self.clauses)
        bit = 1 << len(self.clauses)
        self.clauses.append(clause)
        self._all |= bit
        if clause.soft is None:
            self.hard |= bit
        else:
            self._softs[clause.soft] = self._softs.get(clause.soft, 0) | bit
        self._from(clause.source, bit)
        self._index(clause.literals, bit)
        self.version += 1
        return True

    def _from(self, source: int | None, bit: int) -> bool:
        """Note where a clause comes from; False where that was known."""
        if source is None or self._sources.get(source, 0) & bit:
            return False
        self._sources[source] = self._sources.get(source, 0) | bit
        self.version += 1
        return True

    def _index(self, literals: Literals, bit: int) -> None:
        failing = 0
        for variable, mask in literals:
            self._on[variable] = self._on.get(variable, 0) | bit
            if not mask >> self.rest[variable] & 1:
                failing += 1
                self._away[variable] = self._away.get(variable, 0) | bit
            held = self._held.setdefault(variable, {})
            while mask:
                lowest = mask & -mask
                mask ^= lowest
                held[lowest] = held.get(lowest, 0) | bit
        if failing >> _DIGITS:
            self._wide |= bit
        for digit in range(_DIGITS):
            if failing >> digit & 1:
                self._digits[digit] |= bit

    def of(self, steps: Iterable[int]) -> int:
        """The clauses of some entries."""
        found = 0
        for step in steps:
            found |= self._sources.get(step, 0)
        return found

    def soft(self, soft: Soft) -> int:
        """The clauses that stand for something better avoided."""
        return self._softs.get(soft, 0)

    def broken(self, at: Mapping[int, int]) -> int:
        """The clauses that a configuration breaks, as bits.

        Args:
            at: State of each variable that is not as in an empty command.
        """
        alive = self._all
        ones = twos = fours = eights = 0
        for variable, state in at.items():
            on = self._on.get(variable)
            if on is None:
                continue
            alive &= ~on | self._held[variable].get(1 << state, 0)
            carry = self._away.get(variable, 0)
            if carry:
                ones, carry = ones ^ carry, ones & carry
                twos, carry = twos ^ carry, twos & carry
                fours, carry = fours ^ carry, fours & carry
                eights ^= carry
        d1, d2, d4, d8 = self._digits
        exact = alive & ~((ones ^ d1) | (twos ^ d2) | (fours ^ d4) | (eights ^ d8))
        if not self._wide:
            return exact
        return (exact & ~self._wide) | self._checked(alive & self._wide, at)

    def _checked(self, bits: int, at: Mapping[int, int]) -> int:
        """Those of some clauses that are broken, looked at one by one."""
        found = 0
        for number in numbers(bits):
            literals = self.clauses[number].literals
            if all(mask >> at.get(v, self.rest[v]) & 1 for v, mask in literals):
                found |= 1 << number
        return found


def numbers(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, lowest first."""
    while bits:
        lowest = bits & -bits
        bits ^= lowest
        yield lowest.bit_length() - 1
