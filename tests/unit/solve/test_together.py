"""Contexts run side by side answer as each of them does by itself."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvsolve.agreement import agreed
from kvsolve.packs.compile import initial_slots
from kvsolve.packs.evaluate import Trace, interpret
from kvsolve.session import Request, Session
from kvsolve.solve.check import check

if TYPE_CHECKING:
    from kvsolve.model.finding import CheckResult

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
OPTIONS: dict[str, tuple[object, ...]] = {
    "--tp-size": (2, 3, 8),
    "--page-size": (1, 16, 64),
    "--kv-cache-dtype": ("fp8_e4m3", "fp8_e5m2"),
    "--attention-backend": ("fa3", "triton", "trtllm_mha"),
    "--chunked-prefill-size": (2048, -1),
    "--max-running-requests": (1, 77),
    "--enable-hierarchical-cache": ("",),
    "--speculative-algorithm": ("NGRAM", "EAGLE"),
    "--device": ("cpu", "cuda"),
}


def commands(model: str, count: int) -> list[Request]:
    draw = random.Random(7)
    found = []
    for _ in range(count):
        words = ["sglang", "serve", "--model-path", model]
        for option, values in draw.sample(sorted(OPTIONS.items()), draw.randint(1, 5)):
            words += [word for word in (option, str(draw.choice(values))) if word]
        found.append(Request(words, sglang="0.5.23"))
    return found


def told(trace: Trace) -> tuple[str, ...]:
    values = sorted(trace.values.items())
    return repr(trace.refusals), repr(trace.writes), repr(trace.failures), repr(values)


@pytest.mark.parametrize("model", [LLAMA, "deepseek-ai/DeepSeek-V3"])
def test_every_gpu_gets_the_trace_of_the_interpreter(model: str) -> None:
    session = Session()
    asked = [session.ask(request) for request in commands(model, 5)]
    together = asked[0].spread.together
    together.set_out(asked[0].config, make=True)
    for question in asked:
        contexts = question.prepared
        assert contexts == asked[0].prepared
        config, program = question.config, question.pack.program
        found = list(together.traces(config))
        slots = initial_slots(config.values, config.given)
        for prepared, trace in zip(contexts, found, strict=True):
            assert told(trace) == told(interpret(program, slots, prepared.facts))


def plain(result: CheckResult) -> str:
    values = {"effective": dict(result.effective), "provenance": dict(result.provenance)}
    return f"{replace(result, effective={}, provenance={})!r}{values!r}"


def test_answers_are_those_of_contexts_one_by_one() -> None:
    session = Session()
    for request in commands(LLAMA, 12):
        question = session.ask(request)
        each = [
            check(
                prepared,
                question.config,
                argv=question.argv,
                problems=question.problems,
                sglang_from="option",
            )
            for prepared in session.ask(request).prepared
        ]
        question.spread.together.set_out(question.config, make=True)
        assert plain(session.judge(question)) == plain(agreed(each, request))
