"""A value is open exactly where some completion of the command has it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.solve.options import options
from tests.property.strategies import (
    VALUES,
    Assignment,
    Case,
    assignments,
    cases,
    config_at,
    domains,
    is_valid,
    stops,
)


@settings(max_examples=200, deadline=None)
@given(cases(reports=False), st.sampled_from(sorted(VALUES)))
def test_options_are_the_values_of_the_valid_completions(case: Case, dest: str) -> None:
    found = domains(case)
    kept: Assignment = {d: found[d].start for d in case.config.given if d != dest}
    free = {d: domain for d, domain in found.items() if d not in kept and d != dest}
    (answer,) = options(case.prepared, case.config, [dest])
    assert len(answer.values) == len(found[dest].states)
    for at, option in enumerate(answer.values):
        assert (option.value, option.typed) == (
            found[dest].states[at].value,
            found[dest].states[at].typed,
        )
        completions = [kept | {dest: at} | rest for rest in assignments(free)]
        valid = [c for c in completions if is_valid(case.prepared, config_at(case, found, c))]
        assert option.ok is bool(valid)
        if valid:
            fewest = min(sum(c[d] != found[d].start for d in free) for c in valid)
            assert sum(e.cost for e in option.edits) == fewest
            assert all(e.op == "add" and e.dest in free for e in option.edits)
        else:
            steps = {int(code[2:]) for code in option.codes}
            assert option.codes
            for member in completions:
                config = config_at(case, found, member)
                assert any(stops(case.prepared, step, config) for step in steps)
