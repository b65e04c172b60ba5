"""What was asked before has no say in what is answered; and laws between answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kvsolve.model.program import Refuse
from kvsolve.solve.conflict import conflict
from kvsolve.solve.network import network_of
from kvsolve.solve.nogoods import numbers
from kvsolve.solve.options import options
from kvsolve.solve.repair import repair
from tests.property.strategies import (
    VALUES,
    Case,
    assignments,
    cases,
    config_at,
    config_of,
    domains,
    is_valid,
    prepared_of,
    random_case,
    stops,
)

if TYPE_CHECKING:
    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

QUESTIONS = st.lists(st.sampled_from(["repair", "pinned", "conflict", "options"]), max_size=5)


def answer(kind: str, prepared: Prepared, config: Config) -> Any:
    """Everything that is told, but how often the program was run."""
    if kind == "conflict":
        return conflict(prepared, config)
    if kind == "options":
        return options(prepared, config)
    pins = list(config.given)[:2] if kind == "pinned" else ()
    return replace(repair(prepared, config, pins=pins, k=4), runs=0)


def other_config(case: Case, seed: int) -> Config:
    """Another command of the same pack."""
    return config_of(
        case.prepared.pack.flags,
        {
            d: v
            for d, v in random_case(seed).config.values.items()
            if v is not None and d != "fixed"
        },
    )


@settings(max_examples=120, deadline=None)
@given(
    cases(), QUESTIONS, st.integers(0, 2**32), st.sampled_from(["repair", "conflict", "options"])
)
def test_what_was_asked_before_changes_no_answer(
    case: Case, before: list[str], seed: int, kind: str
) -> None:
    fresh = answer(kind, random_case(case.seed).prepared, case.config)
    for earlier in before:
        answer(earlier, case.prepared, other_config(case, seed))
    assert answer(kind, case.prepared, case.config) == fresh
    assert answer(kind, case.prepared, case.config) == fresh


@settings(max_examples=120, deadline=None)
@given(cases())
def test_what_was_learned_refuses_only_what_the_entry_refuses(case: Case) -> None:
    repair(case.prepared, case.config, k=4, reach=None)
    options(case.prepared, case.config)
    learned = network_of(case.prepared).board_of(case.prepared.pack.flags).learned
    universe = network_of(case.prepared).universe_of(case.prepared.pack.flags)
    found = domains(case)
    for at in assignments(found):
        place = {}
        for dest, number in at.items():
            variable = universe.index[dest]
            state = universe.number(variable, found[dest].states[number])
            if state != universe.rest[variable]:
                place[variable] = state
        config = config_at(case, found, at)
        for number in numbers(learned.broken(place) & learned.hard):
            source = learned.clauses[number].source
            assert source is not None
            assert stops(case.prepared, source, config)
        for clause in learned.clauses:
            holds = all(m >> place.get(v, universe.rest[v]) & 1 for v, m in clause.literals)
            bit = 1 << learned.clauses.index(clause)
            assert bool(learned.broken(place) & bit) is holds


@settings(max_examples=100, deadline=None)
@given(cases(reports=False), st.sampled_from(sorted(VALUES)))
def test_a_pin_never_makes_a_repair_cheaper(case: Case, pin: str) -> None:
    free = repair(case.prepared, case.config, k=1)
    held = repair(case.prepared, case.config, pins=[pin], k=1)
    if held.repairs:
        assert free.repairs[0].cost <= held.repairs[0].cost


@settings(max_examples=100, deadline=None)
@given(cases(reports=False), st.integers(0, 20))
def test_without_a_refusal_nothing_valid_becomes_invalid(case: Case, which: int) -> None:
    program = case.prepared.pack.program
    refusals = [n for n, step in enumerate(program.steps) if isinstance(step, Refuse)]
    assume(refusals)
    gone = refusals[which % len(refusals)]
    steps = tuple(
        replace(step, when=False) if number == gone else step
        for number, step in enumerate(program.steps)
    )
    fewer = prepared_of(replace(program, steps=steps), case.prepared.context.facts)
    for at in assignments(domains(case)):
        config = config_at(case, domains(case), at)
        if is_valid(case.prepared, config):
            assert is_valid(fewer, config)
    before, after = repair(case.prepared, case.config, k=1), repair(fewer, case.config, k=1)
    if before.repairs:
        assert after.feasible is not False
