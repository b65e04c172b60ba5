"""Lists of outcomes, each with the literal that it holds under, and truths as four literals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.solve.lowering.comparing import TooManyOutcomesError
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.network import CRASHED, UNKNOWN

if TYPE_CHECKING:
    from kvsolve.solve.lowering.gates import Gates

__all__ = ["MARKS", "Listing", "Outcomes", "Truth", "key_of", "marks_of", "of_truth", "truth_of"]

MARKS = (CRASHED, UNKNOWN)
_WIDEST = 2500
"""Outcomes that one term may have."""
_ALONE = frozenset([int])
"""Types whose values are told apart by equality in a sequence of nothing else."""

Outcomes = dict[Any, tuple[Any, int]]
"""By key of the outcome: the outcome and the literal that it holds under."""


class Truth:
    """When a condition holds, when upstream crashes on it, when a fact for it is missing.

    Attributes:
        holds: Literal under which it is true.
        fails: Literal under which it is false.
        crashes: Literal under which it crashes.
        unknown: Literal under which it is not known.
    """

    __slots__ = ("crashes", "fails", "holds", "unknown")

    def __init__(self, holds: int, fails: int, crashes: int = FALSE, unknown: int = FALSE) -> None:
        self.holds, self.fails, self.crashes, self.unknown = holds, fails, crashes, unknown

    @property
    def sure(self) -> bool:
        """Whether it is true or false wherever the variables stand."""
        return self.crashes == FALSE and self.unknown == FALSE


class Listing:
    """Gathers outcomes; equal ones are one that holds under any of their literals.

    Attributes:
        literals: By key of the outcome the literals noted.
        values: By key of the outcome the outcome noted first.
    """

    __slots__ = ("literals", "values")

    def __init__(self, values: dict[Any, Any] | None = None) -> None:
        self.literals: dict[Any, list[int]] = {}
        self.values: dict[Any, Any] = {} if values is None else values

    def note(self, value: Any, literal: int) -> None:
        """Add an outcome, unless it never holds."""
        if literal != FALSE:
            key = key_of(value)
            self.literals.setdefault(key, []).append(literal)
            self.values.setdefault(key, value)

    def group(self) -> Listing:
        """An empty listing whose outcomes are known to this one; see :meth:`take`."""
        return Listing(self.values)

    def take(self, group: Listing, under: int, gates: Gates) -> None:
        """Add what a group has noted, all of it under one more literal."""
        for key, literals in group.literals.items():
            literal = gates.both(under, gates.either(*literals))
            if literal != FALSE:
                self.literals.setdefault(key, []).append(literal)

    def joined(self, gates: Gates) -> Outcomes:
        """The outcomes, each with a single literal.

        Raises:
            TooManyOutcomesError: There are too many.
        """
        out: Outcomes = {}
        for key, literals in self.literals.items():
            literal = gates.either(*literals)
            if literal == TRUE:
                return {key: (self.values[key], TRUE)}
            if literal != FALSE:
                out[key] = self.values[key], literal
        if len(out) > _WIDEST:
            raise TooManyOutcomesError
        return out


def of_truth(truth: Truth) -> Outcomes:
    """The outcomes of a condition that gives True or False."""
    pairs = (
        (True, truth.holds),
        (False, truth.fails),
        (CRASHED, truth.crashes),
        (UNKNOWN, truth.unknown),
    )
    return {key_of(value): (value, literal) for value, literal in pairs if literal != FALSE}


def truth_of(outcomes: Outcomes, gates: Gates) -> Truth:
    """When one of some outcomes that counts as true holds."""
    holds: list[int] = []
    fails: list[int] = []
    crashes, unknown = FALSE, FALSE
    for value, literal in outcomes.values():
        if value is CRASHED:
            crashes = literal
        elif value is UNKNOWN:
            unknown = literal
        else:
            (holds if value else fails).append(literal)
    if crashes == FALSE and unknown == FALSE:
        held = gates.either(*holds)
        return Truth(held, -held)
    return Truth(gates.either(*holds), gates.either(*fails), crashes, unknown)


def marks_of(outcomes: Outcomes) -> tuple[int, int]:
    """The literals under which there is no value: a crash, a missing fact."""
    crashed, unknown = (outcomes.get(key_of(mark), (mark, FALSE))[1] for mark in MARKS)
    return crashed, unknown


def key_of(value: Any) -> Any:
    """A key that tells values apart as the language does."""
    if isinstance(value, (list, tuple)):
        plain = set(map(type, value)) <= _ALONE
        return type(value).__name__, (tuple(value) if plain else tuple(map(key_of, value)))
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(key_of, value))
    if isinstance(value, dict):
        return "dict", *((key_of(k), key_of(v)) for k, v in value.items())
    if value is None or isinstance(value, (bool, int, str, float, bytes)):
        return type(value).__name__, value
    return id(value)
