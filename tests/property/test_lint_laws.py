"""What a lint says of entries and values is what brute force over the product says."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.model.program import Refuse
from kvsolve.solve.domains import default_of
from kvsolve.solve.firing import Firings, Reach
from kvsolve.solve.judge import broken_steps
from kvsolve.solve.lint import Kind, Outcome, atomic_sets, core_values, trial
from kvsolve.solve.lint_values import value_remarks
from kvsolve.solve.lowering.lower import lower
from tests.property.strategies import Case, cases, stops

if TYPE_CHECKING:
    from kvsolve.model.context import Config

known = cases(reports=False).filter(lambda case: "gpu.old" in case.prepared.facts)


def members(case: Case) -> list[Config]:
    """Every configuration that keeps what is given, a default standing for the flag not given."""
    lowered = lower(case.prepared, case.config)
    return [lowered.config_at(at) for at in product(*(range(len(s)) for s in lowered.states))]


@settings(max_examples=60, deadline=None)
@given(known)
def test_how_far_entries_get(case: Case) -> None:
    prepared = case.prepared
    every = members(case)
    steps = [n for n, step in enumerate(prepared.pack.program.steps)]
    objections = [frozenset(s for s in steps if stops(prepared, s, c)) for c in every]
    with Firings(prepared, case.config) as firings:
        for step in firings.steps():
            firing = firings.firing(step)
            mine = [o - {step} for o in objections if step in o]
            twins = {s for s in steps if all((s in o) is (step in o) for o in objections)}
            mine = [o - twins for o in mine]
            if firing.reach is Reach.NEVER:
                assert not mine
            elif firing.reach is Reach.ALONE:
                assert any(not o for o in mine)
            else:
                assert mine
                assert all(mine)
                others = set(firing.others)
                before = firing.reach is Reach.SHADOWED
                assert all(o & others for o in mine)
                assert not before or all(other < step for other in others)
                first = any(all(s > step for s in o) for o in mine)
                assert first is (firing.reach is Reach.IMPLIED)
            if firing.witness is not None:
                assert stops(prepared, step, firing.witness)
                assert all(
                    firing.witness.values[d] == case.config.values[d] for d in case.config.given
                )


@settings(max_examples=60, deadline=None)
@given(known)
def test_dead_and_core_values_and_flags_that_must_be_given(case: Case) -> None:
    valid = [c for c in members(case) if not case.prepared.broken(c)]
    remarks = value_remarks(case.prepared, case.config)
    dead = {(d, repr(v)) for r in remarks if r.kind is Kind.DEAD_VALUE for d, v in r.values}
    core = {d for r in remarks if r.kind is Kind.CORE_VALUE for d, _ in r.values}
    must = {d for r in remarks if r.kind is Kind.FALSE_OPTIONAL for d, _ in r.values}
    lowered = lower(case.prepared, case.config)
    for dest, states in zip(lowered.dests, lowered.states, strict=True):
        alive = {repr(c.values[dest]) for c in valid}
        values = {repr(s.value) for s in states}
        assert {v for d, v in dead if d == dest} == values - alive
        assert (dest in core) is (len(alive) == 1)
        default = repr(default_of(case.prepared.pack.flags, dest))
        assert (dest in must) is (default not in alive and bool(alive))


@settings(max_examples=60, deadline=None)
@given(known)
def test_atomic_sets_come_together_or_not_at_all(case: Case) -> None:
    valid = [c for c in members(case) if not case.prepared.broken(c)]
    for remark in value_remarks(case.prepared, case.config):
        if remark.kind is Kind.ATOMIC_SET:
            assert len({d for d, _ in remark.values}) > 1
            for config in valid:
                have = {repr(config.values[d]) == repr(v) for d, v in remark.values}
                assert len(have) == 1


@given(st.dictionaries(st.integers(0, 5), st.frozensets(st.integers(0, 5))))
def test_members_of_an_atomic_set_imply_each_other(implies: dict[int, frozenset[int]]) -> None:
    closed = {a: bs - {a} for a, bs in implies.items()}
    for group in atomic_sets(closed):
        assert len(group) > 1
        assert all(other in closed[group[0]] for other in group[1:])


def test_a_flag_with_one_value_left_is_core() -> None:
    values = {"a": (1, 2, 3), "b": (True, False), "c": (None,)}
    assert core_values(values, {"a": [1, 3], "b": []}) == {"a": 2}


@settings(max_examples=60, deadline=None)
@given(known, st.data())
def test_a_trial_tells_what_becomes_of_an_edit(case: Case, data: st.DataObject) -> None:
    every = members(case)
    before, after = (data.draw(st.sampled_from(every)) for _ in range(2))
    prepared = case.prepared

    def codes(config: Config) -> set[str]:
        steps = broken_steps(prepared, prepared.trace(config))
        return {prepared.pack.catalog.entry(s).code for s in steps}

    for code in codes(before):
        found = trial(prepared, code, before, after)
        if code in codes(after):
            assert found.outcome is Outcome.STILL
        else:
            assert set(found.codes) == codes(after) - codes(before)
            assert (found.outcome is Outcome.HELPS) is (codes(after) <= codes(before))


def test_refusals_alone_are_looked_at() -> None:
    from tests.property.strategies import random_case

    case = random_case(7)
    with Firings(case.prepared, case.config) as firings:
        steps = case.prepared.pack.program.steps
        assert all(isinstance(steps[s], Refuse) for s in firings.steps())
