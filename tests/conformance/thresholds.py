"""How much agreement is enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tally import Tally

__all__ = ["CASES", "REPAIRS", "THRESHOLDS", "figures", "reached"]

REPAIRS = "repairs accepted"
CASES = "cases of entries"

THRESHOLDS = {
    "args: verdict": 0.999,
    "args: place of the first refusal": 0.995,
    "args: effective values": 0.999,
    "first scope, all stages: verdict": 0.99,
    REPAIRS: 1.0,
    CASES: 1.0,
}
"""The least share of each figure."""

SAMPLED = {REPAIRS: 0.995}
"""Where a small sample is held to less than the figure wanted: a repair is run to the last stage,
and what is known of the stages past argument resolution is curated by hand and not complete."""

CHANCE = 0.01


def reached(name: str, agreeing: int, of: int, *, strict: bool = True) -> bool:
    """Whether a figure reaches its threshold; nothing compared is a failure.

    Args:
        name: Of the threshold.
        agreeing: How many agree.
        of: How many were compared.
        strict: Demand the very share. Else a small sample also passes when a subject that is just
            good enough would do as badly by chance once in a hundred samples or more often.
    """
    if of == 0:
        return False
    wrong, expected = of - agreeing, of * (1 - THRESHOLDS[name])
    if wrong <= expected:
        return True
    expected = of * (1 - SAMPLED.get(name, THRESHOLDS[name]))
    return not strict and _tail(wrong, expected) >= CHANCE


def _tail(count: int, expected: float) -> float:
    """How likely a Poisson count is to be at least this large."""
    below = sum(math.exp(-expected) * expected**k / math.factorial(k) for k in range(count))
    return 1 - below


def figures(args: Tally, scope: Tally) -> dict[str, tuple[int, int]]:
    """What agrees, of how many, by the name of the threshold.

    Args:
        args: Of configurations over all flags, judged to stage args.
        scope: Of configurations over the first scope, judged to the last stage.
    """
    return {
        "args: verdict": (args.verdicts, args.compared),
        "args: place of the first refusal": (args.places, args.places_of),
        "args: effective values": (args.values, args.values_of),
        "first scope, all stages: verdict": (scope.verdicts, scope.compared),
    }
