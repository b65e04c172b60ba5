"""Who looks for a valid configuration stops at the deadline and then claims nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from kvsolve.model.program import Program, Refuse
from kvsolve.model.syntax import parse
from kvsolve.solve.count import bounds
from kvsolve.solve.cover import cover
from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.gates import TRUE
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.lowering.projection import projection
from kvsolve.solve.support import support
from tests.property.strategies import PLACE, config_of, prepared_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.solve.check import Prepared

NOTHING_VALID = ("depth == 1", "depth == 2", "depth == 4")
SOME_VALID = ("depth == 2", "codec == 'x' and extra == 'on'")
COUNT = (4 * 2 - 1) * 2
"""How many of ``VARY`` are valid then."""
VARY = dict.fromkeys(["codec", "depth", "extra"])


class Clock:
    """Time as ``Feasible`` reads it; it stands still but where a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        stub = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("kvsolve.solve.lowering.feasible.time", stub)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def prepared(refusals: Sequence[str]) -> Prepared:
    steps = tuple(Refuse("ValueError", parse(r), PLACE) for r in refusals)
    return prepared_of(Program("0.0.1", steps))


def lowered_of(refusals: Sequence[str]) -> Lowered:
    context = prepared(refusals)
    return lower(context, config_of(context.pack.flags, {}), vary=VARY)


def literal_of(feasible: Feasible, dest: str, value: object) -> int:
    flag = feasible.lowered.position[dest]
    values = [state.value for state in feasible.lowered.states[flag]]
    (literal,) = feasible.clauses.state(flag, values.index(value))
    return literal


class Objector:
    """A pending entry that objects to every configuration, one at a time; each takes a second."""

    def __init__(self, lowered: Lowered, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.asked = clock, 0
        lowered.pending.append(object())  # type: ignore[arg-type]
        lowered.doubts.append(TRUE)
        monkeypatch.setattr(lowered, "objection", self.objection)
        # Two values that no entry tells apart would be excluded at once.
        alone = tuple(tuple(1 << n for n in range(len(s))) for s in lowered.states)
        monkeypatch.setitem(lowered.__dict__, "classes", alone)

    def objection(self, at: Sequence[int]) -> list[tuple[int, int]]:
        self.asked += 1
        self.clock.now += 1
        return [(variable, 1 << state) for variable, state in enumerate(at)]


@pytest.mark.parametrize("refusals", [NOTHING_VALID, SOME_VALID])
def test_no_verdict_after_the_deadline(refusals: Sequence[str], clock: Clock) -> None:
    with Feasible(lowered_of(refusals)) as feasible:
        clock.now = 10.0
        for deadline in (9.0, 10.0):
            with pytest.raises(TimeoutError):
                feasible.find((), deadline)
        found = feasible.find((), 10.5)
        assert (found is None) == (refusals is NOTHING_VALID)
        assert feasible.find() == found


def test_the_loop_over_pending_entries_stops_in_the_middle(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered = lowered_of(SOME_VALID)
    entry = Objector(lowered, clock, monkeypatch)
    with Feasible(lowered) as feasible:
        with pytest.raises(TimeoutError):
            feasible.find((), 3.0)
        assert entry.asked == 3
        assert feasible.find() is None
        assert entry.asked == COUNT


def test_a_core_out_of_time_is_still_a_core(clock: Clock) -> None:
    with Feasible(lowered_of(SOME_VALID)) as feasible:
        wrong, harmless = literal_of(feasible, "depth", 2), literal_of(feasible, "codec", "x")
        clock.now = 10.0
        assert feasible.core([harmless, wrong], 9.0) == [harmless, wrong]
        assert feasible.core([harmless, wrong], 11.0) == [wrong]


def test_what_rests_on_it_stays_open(clock: Clock) -> None:
    clock.now = float("inf")
    context = prepared(NOTHING_VALID)
    config = config_of(context.pack.flags, {})
    assert projection(lowered_of(NOTHING_VALID), [0, 1], deadline=1e12) == (0, 0)
    pairs = support(context, config, vary=VARY, time_limit=1e9)
    assert not pairs.complete
    assert (pairs.dead, set(pairs.apart)) == (0, {0})
    covering = cover(context, config, vary=VARY, time_limit=1e9)
    assert not covering.complete
    assert (covering.infeasible, covering.left > 0) == ((), True)


@pytest.mark.parametrize("vary", [VARY, {"depth": None}])
def test_a_first_bound_needs_no_time(vary: dict[str, None]) -> None:
    context = prepared(SOME_VALID)
    found = bounds(context, config_of(context.pack.flags, {}), vary, time_limit=0.0)
    exact = bounds(context, config_of(context.pack.flags, {}), vary)
    assert exact.exact
    assert 1 <= found.lower <= exact.lower <= found.upper
