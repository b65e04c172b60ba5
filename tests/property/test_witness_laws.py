"""A witness is found exactly where some configuration shows the step, and it is a cheapest one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given, settings

from kvsolve.model.program import Refuse, Set
from kvsolve.solve.check import same_value
from kvsolve.solve.enumerate import is_unknown
from kvsolve.solve.judge import broken_steps
from kvsolve.solve.witness import Stage, kept_change
from tests.property.strategies import Case, cases, config_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.context import Config


def everything(stage: Stage) -> Iterator[tuple[int, Config]]:
    """Every configuration of a stage with its cost."""
    space = stage.space
    variables = [v for d in stage.config.values if (v := space.variable(d)) is not None]
    states = [range(len(space.domains[v].states)) for v in variables]
    for combination in product(*states):
        pairs = zip(variables, combination, strict=True)
        changes = {v: at for v, at in pairs if at != space.start[v]}
        yield sum(space.price(v, at).cost for v, at in changes.items()), space.changed(changes)


def shows(stage: Stage, step: int, config: Config) -> bool:
    """Whether a configuration shows a step, by running the program."""
    trace = stage.prepared.trace(config)
    broken = broken_steps(stage.prepared, trace)
    made = stage.prepared.pack.program.steps[step]
    if isinstance(made, Refuse):
        return step in trace.refusals and not [s for s in broken if s < step]
    if broken or is_unknown(stage.prepared, config):
        return False
    final = trace.values.get(made.name)  # type: ignore[union-attr]
    if same_value(final, config.values.get(made.name)):  # type: ignore[union-attr]
        return False
    return any(w.step == step and kept_change(w, final) is not None for w in trace.writes)


@settings(max_examples=60, deadline=None)
@given(cases(reports=False))
def test_a_witness_is_found_exactly_where_there_is_one(case: Case) -> None:
    stage = Stage(case.prepared, config_of(case.prepared.pack.flags, {}), most_effort=10**6)
    members = list(everything(stage))
    for number, step in enumerate(case.prepared.pack.program.steps):
        if isinstance(step, Refuse) or (isinstance(step, Set) and "." not in step.name):
            costs = [cost for cost, config in members if shows(stage, number, config)]
            found = stage.breaking(number)
            assert (found.config is not None) is bool(costs)
            if found.config is not None:
                assert shows(stage, number, found.config)
                assert len(found.config.given) == min(costs)
