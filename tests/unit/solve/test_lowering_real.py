"""Clauses of real releases agree with checks on configurations drawn around the valid ones."""

from __future__ import annotations

import random

import pytest

from kvsolve.session import Request, Session
from kvsolve.solve.enumerate import is_unknown
from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.lower import lower

CONTEXTS = [
    ("0.5.23", "h100", "llama-mha"),
    ("0.5.18", "b200", "deepseek-v3.2"),
    ("0.5.20", "mi300x", "qwen3-next"),
]
_DRAWS = 120


@pytest.mark.parametrize(("release", "gpu", "family"), CONTEXTS)
def test_clauses_agree_with_checks(release: str, gpu: str, family: str) -> None:
    command = ["--model-path", family]
    question = Session().ask(Request(command, sglang=release, gpu=gpu, family=family))
    prepared, source = question.context, random.Random(release + gpu)
    lowered = lower(prepared, question.config, held=question.held)
    near: list[int] | None = None
    seen = {True: 0, False: 0}
    with Feasible(lowered) as feasible:
        for number in range(_DRAWS):
            at = _drawn(source, [len(s) for s in lowered.states], near, number)
            config = lowered.config_at(at)
            valid = not prepared.broken(config) and not is_unknown(prepared, config)
            assumed = [lit for v, n in enumerate(at) for lit in feasible.clauses.state(v, n)]
            assert (feasible.find(assumed) is not None) == valid, config.given
            seen[valid] += 1
            near = at if valid else near
    assert min(seen.values()) > _DRAWS // 10


def _drawn(
    source: random.Random, sizes: list[int], near: list[int] | None, number: int
) -> list[int]:
    """Mostly the default, or a few steps from a valid one."""
    if near is None or number % 3 == 0:
        return [source.randrange(n) if source.random() < 0.02 else 0 for n in sizes]
    at = list(near)
    for _ in range(source.randrange(1, 4)):
        variable = source.randrange(len(at))
        at[variable] = source.randrange(sizes[variable])
    return at
