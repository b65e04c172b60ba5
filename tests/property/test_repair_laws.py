"""Laws of repair, each held to the product of all domains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings

from kvsolve.model.context import Config
from kvsolve.solve.check import same_value
from kvsolve.solve.domains import Domain, default_of
from kvsolve.solve.judge import rewritten_flags
from kvsolve.solve.repair import repair
from tests.property.strategies import (
    Assignment,
    Case,
    cases,
    config_at,
    domains,
    is_valid,
    valid_assignments,
)

if TYPE_CHECKING:
    from kvsolve.model.edit import Repair

SWITCHES = frozenset({"alpha", "bravo", "fixed"})
Key = tuple[Any, ...]


def edit_cost(dest: str, domain: Domain, at: int) -> int:
    before, after = domain.states[domain.start], domain.states[at]
    if at == domain.start:
        return 0
    if not before.typed:
        return 1
    if after.typed:
        return 2
    return 3 if dest in SWITCHES else 2


def chosen(case: Case, dest: str) -> Any:
    """What upstream makes of a flag that is not given."""
    flags = case.prepared.pack.flags
    values = {**case.config.values, dest: default_of(flags, dest)}
    given_ = {d: s for d, s in case.config.given.items() if d != dest}
    return case.prepared.trace(Config(values, given_)).values.get(dest, values[dest])


def naive_key(case: Case, found: dict[str, Domain], at: Assignment, pins: frozenset[str]) -> Key:
    config = config_at(case, found, at)
    trace = case.prepared.trace(config)
    effective = {**config.values, **trace.values}
    rewritten = rewritten_flags(config, trace)
    changed = {d: n for d, n in at.items() if n != found[d].start}
    values = {d: found[d].states[n].value for d, n in changed.items()}
    flags = case.prepared.pack.flags
    positions = list(flags.fields)
    entry = case.prepared.pack.catalog.entry
    read = {d for step in case.prepared.broken(case.config) for d in entry(step).flags}
    return (
        bool(pins & set(rewritten)),
        sum(edit_cost(d, found[d], n) for d, n in changed.items()),
        len(case.prepared.pack.catalog.reports(effective, {})),
        len(rewritten),
        len(changed.keys() - read),
        len(changed),
        sum(not same_value(v, default_of(flags, d)) for d, v in values.items()),
        sum(not same_value(v, chosen(case, d)) for d, v in values.items()),
        tuple(sorted((positions.index(d), n) for d, n in changed.items())),
    )


def naive_repairs(
    case: Case, found: dict[str, Domain], pins: frozenset[str] = frozenset()
) -> list[tuple[Key, dict[str, Any]]]:
    """The best repair for each minimal set of edited flags, in order, by trying everything.

    Repairs in which the pins arrive as typed come first, minimal among themselves.
    """
    members = sorted(
        (
            (naive_key(case, found, at, pins), changes(found, at))
            for at in valid_assignments(case, found)
        ),
        key=lambda pair: pair[0],
    )
    intact = [m for m in members if not m[0][0]]
    out: dict[frozenset[str], tuple[Key, dict[str, Any]]] = {}
    for allowed in (intact, members):
        for key, edits in allowed:
            if not any(flags <= edits.keys() for flags in out):
                out[frozenset(edits)] = (key, edits)
    return list(out.values())


def changes(found: dict[str, Domain], at: Assignment) -> dict[str, Any]:
    return {d: n for d, n in at.items() if n != found[d].start}


def as_changes(found: dict[str, Domain], repair_: Repair) -> dict[str, Any]:
    out = {}
    for edit in repair_.edits:
        typed = edit.op != "remove"
        states = found[edit.dest].states
        matches = [
            n for n, s in enumerate(states) if s.typed == typed and same_value(s.value, edit.value)
        ]
        out[edit.dest] = matches[0]
    return out


@settings(max_examples=250, deadline=None)
@given(cases())
def test_the_alternatives_are_those_of_the_whole_product_in_order(case: Case) -> None:
    found = domains(case)
    expected = naive_repairs(case, found)
    answer = repair(case.prepared, case.config, k=4, both_ways=False, reach=None)
    assert answer.feasible is bool(expected)
    got = [(r.cost, as_changes(found, r)) for r in answer.repairs]
    assert got == [(key[1], edits) for key, edits in expected[:4]]


@settings(max_examples=150, deadline=None)
@given(cases())
def test_with_refusals_excused_the_alternatives_are_those_of_the_product_without_them(
    case: Case,
) -> None:
    broken = case.prepared.broken(case.config)
    codes = frozenset(case.prepared.pack.catalog.entry(step).code for step in broken[::2])
    case = replace(case, prepared=case.prepared.excusing(codes))
    found = domains(case)
    expected = naive_repairs(case, found)
    answer = repair(case.prepared, case.config, k=4, both_ways=False, reach=None)
    assert answer.feasible is bool(expected)
    got = [(r.cost, as_changes(found, r)) for r in answer.repairs]
    assert got == [(key[1], edits) for key, edits in expected[:4]]
    assert not codes.intersection(code for r in answer.repairs for code in r.removes)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_pins_are_kept_and_a_rewritten_pin_ranks_last(case: Case) -> None:
    pins = frozenset(list(case.config.given)[:2]) | {"extra"}
    found = domains(case, pins)
    expected = naive_repairs(case, found, pins & set(case.config.given))
    answer = repair(case.prepared, case.config, pins=pins, k=3, both_ways=False, reach=None)
    assert answer.feasible is bool(expected)
    got = [(r.cost, as_changes(found, r)) for r in answer.repairs]
    assert got == [(key[1], edits) for key, edits in expected[:3]]
    free = repair(case.prepared, case.config, k=1)
    if answer.repairs:
        assert free.repairs[0].cost <= answer.repairs[0].cost


@settings(max_examples=150, deadline=None)
@given(cases())
def test_a_repair_is_valid_and_no_part_of_its_edits_is(case: Case) -> None:
    found = domains(case)
    start = {d: domain.start for d, domain in found.items()}
    for answer in repair(case.prepared, case.config, k=3).repairs:
        edits = as_changes(found, answer)
        assert is_valid(case.prepared, config_at(case, found, start | edits))
        names = list(edits)
        for mask in range((1 << len(names)) - 1):
            part = {d: edits[d] for n, d in enumerate(names) if mask >> n & 1}
            assert not is_valid(case.prepared, config_at(case, found, start | part))
        for edit in answer.edits:
            for value in edit.also:
                states = found[edit.dest].states
                at = next(n for n, s in enumerate(states) if s.typed and same_value(s.value, value))
                other = start | edits | {edit.dest: at}
                assert is_valid(case.prepared, config_at(case, found, other))
                assert edit_cost(edit.dest, found[edit.dest], at) == edit.cost


@settings(max_examples=80, deadline=None)
@given(cases())
def test_weights_scale_costs(case: Case) -> None:
    found = domains(case)
    valid = valid_assignments(case, found)
    weights = {"alpha": 3, "codec": 2}
    answer = repair(case.prepared, case.config, weights=weights, k=1)
    costs = [
        sum(weights.get(d, 1) * edit_cost(d, found[d], n) for d, n in at.items()) for at in valid
    ]
    assert [r.cost for r in answer.repairs] == ([min(costs)] if costs else [])
