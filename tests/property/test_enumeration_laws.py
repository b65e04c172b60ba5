"""Enumeration is the filtered product, and counting is its length."""

from __future__ import annotations

import random
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.solve.count import count
from kvsolve.solve.enumerate import is_unknown, iter_configs
from kvsolve.solve.grid import values_of
from kvsolve.solve.lowering.configurations import Configurations
from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.network import network_of
from tests.property.strategies import VALUES, Case, cases, config_at, domains, is_valid

subsets = st.lists(st.sampled_from(sorted(VALUES)), min_size=0, max_size=5, unique=True)


def naive_list(case: Case, vary: list[str]) -> list[dict[str, object]]:
    flags = case.prepared.pack.flags
    order = [d for d in flags.fields if d in vary]
    states = [values_of(d, case.config, flags, network_of(case.prepared)) for d in order]
    out = []
    for combination in product(*states):
        values, given_ = dict(case.config.values), dict(case.config.given)
        for dest, state in zip(order, combination, strict=True):
            values[dest] = state.value
            given_.pop(dest, None)
            if state.typed:
                given_[dest] = "--" + dest
        config = type(case.config)(values, given_)
        if is_valid(case.prepared, config) and not is_unknown(case.prepared, config):
            out.append({d: values[d] for d in order})
    return out


@settings(max_examples=250, deadline=None)
@given(cases(), subsets)
def test_enumeration_is_the_filtered_product_in_order(case: Case, vary: list[str]) -> None:
    expected = naive_list(case, vary)
    found = list(iter_configs(case.prepared, case.config, vary))
    order = [d for d in case.prepared.pack.flags.fields if d in vary]
    assert [{d: c.values[d] for d in order} for c in found] == expected
    assert all(is_valid(case.prepared, c) for c in found)
    assert count(case.prepared, case.config, vary) == len(expected)


@settings(max_examples=150, deadline=None)
@given(cases(), subsets)
def test_named_values_are_the_only_ones(case: Case, vary: list[str]) -> None:
    source = random.Random(case.seed)
    wanted = {d: tuple(source.sample(VALUES[d], 2)) for d in vary}
    every = naive_list(case, vary)
    flags = case.prepared.pack.flags
    if any(d in network_of(case.prepared).literals.asked_if_given for d in vary):
        return
    found = list(iter_configs(case.prepared, case.config, wanted))
    expected = [row for row in every if all(row[d] in wanted[d] for d in vary)]
    key = [d for d in flags.fields if d in vary]
    as_rows = [tuple(repr(c.values[d]) for d in key) for c in found]
    assert sorted(as_rows) == sorted(tuple(repr(r[d]) for d in key) for r in expected)
    assert count(case.prepared, case.config, wanted) == len(expected)


@settings(max_examples=120, deadline=None)
@given(cases(), st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=2, unique=True))
def test_projection_keeps_what_some_completion_has(case: Case, project: list[str]) -> None:
    flags = case.prepared.pack.flags
    order = [d for d in flags.fields if d in project]
    free = {d for d in flags.fields if d in project or d not in case.config.given}
    every = domains(case)
    kept = {d: domain for d, domain in every.items() if d in free}
    start = {d: domain.start for d, domain in every.items()}
    listed = {d: values_of(d, case.config, flags, network_of(case.prepared)) for d in order}
    expected = set()
    for at in product(*(range(len(domain.states)) for domain in kept.values())):
        member = start | dict(zip(kept, at, strict=True))
        states = [every[d].states[member[d]] for d in order]
        config = config_at(case, every, member)
        wanted = all(s in listed[d] for d, s in zip(order, states, strict=True))
        if wanted and is_valid(case.prepared, config) and not is_unknown(case.prepared, config):
            expected.add(tuple(repr(s.value) for s in states))
    found = list(iter_configs(case.prepared, case.config, project=project))
    assert all(is_valid(case.prepared, c) for c in found)
    assert {tuple(repr(c.values[d]) for d in order) for c in found} == expected
    assert len(found) == len(expected)
    assert count(case.prepared, case.config, project=project) == len(expected)


@settings(max_examples=150, deadline=None)
@given(cases(), subsets)
def test_configurations_in_a_row_are_those_made_one_by_one(case: Case, vary: list[str]) -> None:
    lowered = lower(case.prepared, case.config, vary=dict.fromkeys(vary))
    every = list(product(*(range(len(states)) for states in lowered.states)))
    random.Random(case.seed).shuffle(every)
    made = Configurations(lowered)
    for at in every[:200]:
        found, expected = made.at(at), lowered.config_at(at)
        assert list(found.values.items()) == list(expected.values.items())
        assert list(map(type, found.values.values())) == list(map(type, expected.values.values()))
        assert list(found.given.items()) == list(expected.given.items())
        assert {d: found.values[d] for d in found.values} == expected.values
