"""A lowered context allows exactly the configurations that a check finds valid."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.support import Support, support
from tests.property.strategies import VALUES, Case, cases

if TYPE_CHECKING:
    from kvsolve.model.context import Config

subsets = st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=5, unique=True)


def is_surely_valid(case: Case, config: Config) -> bool:
    """No refusal, no crash, and no step that may stop upstream is unknown."""
    prepared = case.prepared
    doubts = [
        f
        for f in prepared.trace(config).failures
        if f.reason == "unknown" and prepared.judges(f.step) and prepared.decides(f.step)
    ]
    return not doubts and not prepared.broken(config)


def members(lowered: Lowered) -> list[tuple[int, ...]]:
    return list(product(*(range(len(states)) for states in lowered.states)))


def naive(case: Case, lowered: Lowered) -> set[tuple[int, ...]]:
    return {at for at in members(lowered) if is_surely_valid(case, lowered.config_at(at))}


@settings(max_examples=250, deadline=None)
@given(cases(), subsets)
def test_literals_hold_exactly_where_a_check_objects(case: Case, vary: list[str]) -> None:
    lowered = lower(case.prepared, case.config, vary=dict.fromkeys(vary))
    expected = naive(case, lowered)
    found = set()
    for at in members(lowered):
        fixed = dict(enumerate(at))
        bad = any(lowered.gates.values(lowered.forbidden, {}, 1, fixed))
        if not bad and lowered.objection(at) is None:
            found.add(at)
    assert found == expected


@pytest.mark.parametrize("often", [False, True])
@settings(max_examples=250, deadline=None)
@given(case=cases(), vary=subsets)
def test_clauses_are_satisfied_by_the_valid_ones(often: bool, case: Case, vary: list[str]) -> None:
    lowered = lower(case.prepared, case.config, vary=dict.fromkeys(vary))
    expected = naive(case, lowered)
    with Feasible(lowered, often=often) as feasible:
        for at in members(lowered):
            state = feasible.clauses.state
            assumed = [lit for v, number in enumerate(at) for lit in state(v, number)]
            assert (feasible.find(assumed) is not None) == (at in expected)
        found = feasible.find()
        assert (found is not None) == bool(expected)
        if found is not None:
            assert tuple(feasible.clauses.first_states(found)) in expected


@settings(max_examples=150, deadline=None)
@given(cases(), subsets)
def test_values_of_a_class_are_interchangeable(case: Case, vary: list[str]) -> None:
    lowered = lower(case.prepared, case.config, vary=dict.fromkeys(vary))
    expected = naive(case, lowered)
    clauses = Clauses(lowered)
    for at in members(lowered):
        first = clauses.first_states([clauses.class_of(v, n) for v, n in enumerate(at)])
        assert (at in expected) == (tuple(first) in expected)


@settings(max_examples=150, deadline=None)
@given(cases(), subsets)
def test_support_is_what_the_valid_ones_show(case: Case, vary: list[str]) -> None:
    found = support(case.prepared, case.config, vary=dict.fromkeys(vary))
    assert found.complete
    expected = naive(case, found.lowered)
    alive = {(v, n) for at in expected for v, n in enumerate(at)}
    pairs = {pair for at in expected for pair in combinations(enumerate(at), 2)}
    for a, b in combinations(range(len(found.dests)), 2):
        for i, j in product(range(len(found.states[a])), range(len(found.states[b]))):
            told, witness = found.tell(a, i, b, j), found.witness(a, i, b, j)
            if ((a, i), (b, j)) in pairs:
                assert told is Support.SUPPORTED
                assert witness is not None
                assert is_surely_valid(case, witness)
                assert witness.values[found.dests[a]] == found.states[a][i].value
                assert witness.values[found.dests[b]] == found.states[b][j].value
            else:
                dead = (a, i) not in alive or (b, j) not in alive
                assert told is (Support.DEAD if dead else Support.UNSUPPORTED)
                assert witness is None
