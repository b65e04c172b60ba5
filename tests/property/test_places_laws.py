"""Laws of reasons that stand for one of several refusals, held to the product of all domains."""

from __future__ import annotations

from itertools import islice

from hypothesis import given, settings

from kvsolve.solve import places
from kvsolve.solve.judge import CircuitJudge
from kvsolve.solve.network import network_of
from kvsolve.solve.repair import repair
from kvsolve.solve.space import Space
from tests.property.strategies import (
    Case,
    assignments,
    cases,
    config_at,
    domains,
    is_valid,
    random_case,
)

MOST = 300


def board_as_one(case: Case):
    """The board of a case all refusals of which are taken for one statement in several places."""
    network = network_of(case.prepared)
    network.place = lambda _: "everywhere"
    return network.board_of(case.prepared.pack.flags)


@settings(deadline=None)
@given(cases())
def test_a_reason_of_several_places_leaves_nothing_valid(case: Case) -> None:
    patience, places._PATIENCE = places._PATIENCE, 0
    try:
        board = board_as_one(case)
        network, flags = network_of(case.prepared), case.prepared.pack.flags
        space, found = Space(network, flags, case.config), domains(case)
        judge = CircuitJudge(case.prepared, network, space)
        index, start = space.universe.index, space.start
        good, bad = [], []
        for at in islice(assignments(found), MOST):
            here = {index[d]: space.order(index[d])[n] for d, n in at.items()}
            (good if is_valid(case.prepared, config_at(case, found, at)) else bad).append(here)
        for here in bad[:: max(len(bad) // 40, 1)]:
            changes = {v: s for v, s in here.items() if s != start[v]}
            for step in judge.broken(changes):
                judge.broken(changes)
                clause = board.explain(step)
                assert all(mask >> here.get(v, start[v]) & 1 for v, mask in clause.literals)
                for other in good:
                    assert not all(m >> other.get(v, start[v]) & 1 for v, m in clause.literals)
    finally:
        places._PATIENCE = patience


@settings(deadline=None)
@given(cases())
def test_repairs_are_the_same_with_and_without_such_reasons(case: Case) -> None:
    plain = repair(case.prepared, case.config, k=3, time_limit=None)
    patience, places._PATIENCE = places._PATIENCE, 0
    try:
        other = random_case(case.seed)
        board_as_one(other)
        merged = repair(other.prepared, other.config, k=3, time_limit=None)
    finally:
        places._PATIENCE = patience
    assert (merged.repairs, merged.feasible) == (plain.repairs, plain.feasible)
