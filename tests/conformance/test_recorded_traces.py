"""On recorded configurations every way of running a real program gives the same trace."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from kvsolve.packs.compile import initial_slots
from kvsolve.packs.evaluate import Trace, interpret
from kvsolve.session import Session

from .kvsolve_subject import request_of
from .oracle.home import RELEASES
from .sampling import flag_table
from .verdict_file import read_verdicts, recorded_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

CONTEXTS, CONFIGURATIONS, INTERPRETED = 6, 50, 3


def told(trace: Trace) -> str:
    """All that a trace says; the order of final values is nobody's concern."""
    return repr((trace.refusals, trace.writes, trace.failures, sorted(trace.values.items())))


def whole_run(prepared: Prepared, config: Config) -> Trace | None:
    return prepared.pack.compiled.attempt(config.values, config.given, prepared.facts)


def by_context(release: str) -> Iterator[tuple[Prepared, list[Config]]]:
    """Recorded commands, each list with one context to judge them in."""
    source, session = random.Random(7), Session()
    jobs = list(read_verdicts(recorded_path(release), flag_table(release).fields)[1])
    for place in source.sample(jobs, CONTEXTS):
        context = {name: place.get(name) for name in ("platform", "model", "env")}
        drawn = [{**job, **context} for job in source.sample(jobs, CONFIGURATIONS)]
        asked = [session.ask(request_of(release, job, "attention")) for job in drawn]
        yield asked[0].context, [question.config for question in asked]


@pytest.mark.parametrize("release", [RELEASES[2], RELEASES[-1]])
def test_whole_runs_and_runs_from_a_baseline_agree_with_the_interpreter(release: str) -> None:
    compared = crashed = 0
    for prepared, configs in by_context(release):
        units = prepared.pack.units(make=True)
        assert units is not None
        base = next(config for config in configs if whole_run(prepared, config) is not None)
        baseline = units.baseline(base.values, base.given, prepared.facts)
        assert baseline is not None
        for number, config in enumerate(configs):
            whole = whole_run(prepared, config)
            found = baseline.attempt(config.values, config.given)
            assert (found is None) == (whole is None)
            if found is not None and whole is not None:
                assert told(found) == told(whole)
                compared += 1
            if whole is None or number < INTERPRETED:
                slots = initial_slots(config.values, config.given)
                exact = interpret(prepared.pack.program, slots, prepared.facts)
                assert exact.failures if whole is None else told(whole) == told(exact)
                mixed = baseline.exact(config.values, config.given, prepared.pack.program)
                assert told(mixed) == told(exact)
                crashed += whole is None
    assert compared > CONTEXTS * CONFIGURATIONS // 2
    assert crashed
