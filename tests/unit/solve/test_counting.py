"""Counting what gates forbid, however deep they stand in each other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kvsolve.solve.lowering.counting import Counting
from kvsolve.solve.lowering.gates import Gates

FLAGS, DEPTH = 8, 3000


def columns_of(flags: int) -> dict[int, list[int]]:
    """For each flag of two states the rows, out of all, in which it stands in either."""
    rows = 1 << flags
    found = {}
    for flag in range(flags):
        on = sum(1 << row for row in range(rows) if row >> flag & 1)
        found[flag] = [((1 << rows) - 1) ^ on, on]
    return found


def test_gates_that_stand_thousands_deep_in_each_other_are_counted() -> None:
    gates = Gates([2] * FLAGS)
    literal = gates.both(gates.test(0, 2), gates.test(1, 2))
    for at in range(DEPTH):
        one, other = gates.test(at % FLAGS, 2), gates.test((at + 3) % FLAGS, 1)
        literal = gates.both(one, gates.either(other, literal))
    lowered: Any = SimpleNamespace(
        gates=gates, classes=[[1, 2]] * FLAGS, forbidden=(literal,), pending=()
    )
    counting = Counting(lowered)
    refused = gates.values([literal], columns_of(FLAGS), 1 << FLAGS)[0].bit_count()
    assert 0 < refused < 1 << FLAGS
    assert counting.lower == counting.upper == (1 << FLAGS) - refused
