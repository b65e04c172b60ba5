"""Laws of reasons that a solver made as weak as they get, held to the product of all domains."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from hypothesis import given, settings

from kvsolve.model.context import Config
from kvsolve.solve import proofs
from kvsolve.solve.conflict import conflict
from kvsolve.solve.judge import CircuitJudge
from kvsolve.solve.network import network_of
from kvsolve.solve.options import options
from kvsolve.solve.repair import repair
from kvsolve.solve.space import Space
from tests.property.strategies import (
    Case,
    assignments,
    cases,
    domains,
    random_case,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 300


@contextmanager
def patience(reasons: int) -> Iterator[None]:
    """So many reasons of one thing before a solver is asked."""
    usual, proofs._PATIENCE = proofs._PATIENCE, reasons
    try:
        yield
    finally:
        proofs._PATIENCE = usual


def members(case: Case, space: Space) -> list[dict[int, int]]:
    """States of all flags, of the first configurations of a case."""
    index, found = space.universe.index, domains(case)
    return [
        {index[d]: space.order(index[d])[n] for d, n in at.items()}
        for at in islice(assignments(found), MOST)
    ]


def is_within(literals, here, start) -> bool:
    return all(mask >> here.get(v, start[v]) & 1 for v, mask in literals)


@settings(deadline=None)
@given(cases())
def test_an_entry_refuses_whatever_its_reason_allows(case: Case) -> None:
    with patience(0):
        network, flags = network_of(case.prepared), case.prepared.pack.flags
        space = Space(network, flags, case.config)
        judge, start = CircuitJudge(case.prepared, network, space), space.start
        every = members(case, space)
        moved = [{v: s for v, s in here.items() if s != start[v]} for here in every]
        refusing = [frozenset(judge.broken(changes)) for changes in moved]
        bad = [number for number, steps in enumerate(refusing) if steps]
        for number in bad[:: max(len(bad) // 40, 1)]:
            for step in refusing[number]:
                judge.broken(moved[number])
                literals = judge.board.explain_alone(step).literals
                assert is_within(literals, every[number], start)
                for other, steps in zip(every, refusing, strict=True):
                    assert step in steps or not is_within(literals, other, start)


@settings(deadline=None)
@given(cases())
def test_a_slot_has_its_value_wherever_its_reason_allows(case: Case) -> None:
    with patience(0):
        network, flags = network_of(case.prepared), case.prepared.pack.flags
        space = Space(network, flags, case.config)
        board, start = network.board_of(flags), space.start
        every = members(case, space)[::7]
        for dest in network.effective.keys() & space.universe.index.keys():
            values, reasons = [], []
            for here in every:
                board.move(space.place({v: s for v, s in here.items() if s != start[v]}))
                values.append(board.value(dest))
                reasons.append(board.explain_value(dest))
            for here, value, literals in zip(every, values, reasons, strict=True):
                assert is_within(literals, here, start)
                for other, there in zip(every, values, strict=True):
                    if is_within(literals, other, start):
                        assert same_or_crash(there, value)


def same_or_crash(there, value) -> bool:
    return there is proofs.CRASHED or (type(there) is type(value) and there == value)


@settings(deadline=None)
@given(cases())
def test_answers_are_the_same_with_and_without_proofs(case: Case) -> None:
    plain = repair(case.prepared, case.config, k=3, time_limit=None)
    told = options(case.prepared, case.config)
    with patience(0):
        other = random_case(case.seed)
        proven = repair(other.prepared, other.config, k=3, time_limit=None)
        assert (proven.repairs, proven.feasible) == (plain.repairs, plain.feasible)
        assert options(other.prepared, other.config) == told


@settings(deadline=None)
@given(cases())
def test_what_is_told_of_a_conflict_does_not_depend_on_what_was_asked_before(case: Case) -> None:
    with patience(1):
        first = conflict(case.prepared, case.config)
        options(case.prepared, case.config)
        assert conflict(case.prepared, case.config) == first


def test_a_proof_for_people_knows_what_was_typed_later() -> None:
    case = random_case(0)
    network, flags = network_of(case.prepared), case.prepared.pack.flags
    board = network.board_of(flags)
    before = board.proofs.gates()
    typed = Config({**case.config.values, "depth": 77}, {**case.config.given, "depth": "--depth"})
    space = Space(network, flags, typed)
    variable = space.universe.index["depth"]
    reason = ((variable, 1 << space.start[variable]),)
    assert not before.knows(reason)
    assert board.proofs.gates(knowing=reason).knows(reason)
