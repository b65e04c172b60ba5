"""A conflict is really one, and no smaller one lies inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

from hypothesis import given, settings

from kvsolve.model.syntax import parse
from kvsolve.solve import completion
from kvsolve.solve.completion import Completions
from kvsolve.solve.conflict import conflict
from kvsolve.solve.repair import repair
from tests.property.strategies import (
    Assignment,
    Case,
    assignments,
    cases,
    config_at,
    domains,
    is_valid,
    stops,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.context import Config
    from kvsolve.model.edit import Conflict


def members(case: Case, pins: Iterable[str]) -> list[Config]:
    """Every configuration that agrees with the pins."""
    found = domains(case)
    kept: Assignment = {d: found[d].start for d in pins}
    free = {d: domain for d, domain in found.items() if d not in kept}
    return [config_at(case, found, kept | at) for at in assignments(free)]


def nothing_is_left(case: Case, pins: Iterable[str], codes: Iterable[str]) -> bool:
    steps = {int(code[2:]) for code in codes}
    return all(any(stops(case.prepared, s, c) for s in steps) for c in members(case, pins))


@settings(max_examples=300, deadline=None)
@given(cases(reports=False))
def test_a_conflict_excludes_everything_and_each_member_is_needed(case: Case) -> None:
    found = conflict(case.prepared, case.config)
    answer = repair(case.prepared, case.config, pins=case.config.given, k=1)
    assert (found is None) is (answer.feasible is True)
    if found is None:
        return
    pins = [dest for dest, _ in found.pins]
    assert all(case.config.values[d] == v for d, v in found.pins)
    assert nothing_is_left(case, pins, found.codes)
    for dest in pins:
        assert not nothing_is_left(case, set(pins) - {dest}, found.codes)
    for code in found.codes:
        assert not nothing_is_left(case, pins, set(found.codes) - {code})
    assert_derived(case, found)


@settings(max_examples=300, deadline=None)
@given(cases(reports=False))
def test_what_the_whole_context_leaves_is_what_its_members_say(case: Case) -> None:
    shared = Completions(case.prepared, case.config, free=case.config.given)
    pins = sorted(case.config.given)
    masks = {
        v: 1 << shared.space.start[v]
        for dest in pins
        for v in [shared.space.variable(dest)]
        if v is not None
    }
    left = any(is_valid(case.prepared, config) for config in members(case, pins))
    with mock.patch.object(completion, "_ROUNDS", 0):
        assert shared.leaves_something(masks) is left
        assert (shared.cheapest_within(masks) is not None) is left


def assert_derived(case: Case, found: Conflict) -> None:
    """The steps end in a contradiction, build on earlier ones, and name entries of the conflict."""
    assert found.chain[-1].follows == "False"
    assert [step.number for step in found.chain] == list(range(1, len(found.chain) + 1))
    used = {n for step in found.chain for n in step.uses}
    assert used == set(range(1, len(found.chain)))
    for step in found.chain:
        assert all(n < step.number for n in step.uses)
        assert step.code is None or step.code in found.codes
        assert (step.code is not None) or step.case is not None or step.uses
        parse(step.follows, {})
    assert {step.code for step in found.chain} - {None} == set(found.codes)


@settings(max_examples=150, deadline=None)
@given(cases(reports=False))
def test_without_one_of_its_facts_a_conflict_cannot_be_told(case: Case) -> None:
    found = conflict(case.prepared, case.config)
    if found is None or not found.facts:
        return
    assert set(found.facts) <= set(case.prepared.facts)
    pins = [dest for dest, _ in found.pins]
    for fact in found.facts:
        kept = {"environ", *found.facts} - {fact}
        known = {n: v for n, v in case.prepared.facts.items() if n in kept}
        poorer = type(case.prepared)(
            case.prepared.pack,
            type(case.prepared.context)("0.0.1", "g", 8, "m", "-", known),
        )
        assert not nothing_is_left(Case(poorer, case.config, case.seed), pins, found.codes)
