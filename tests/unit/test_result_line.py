"""The line that batch prints is the one that the plain encoder would print."""

from __future__ import annotations

import json

import pytest

from kvsolve.answers.asking import hider, request, session
from kvsolve.outputs.result_line import result_line

COMMANDS = (
    "--model-path m",
    "--model-path m --tp 2 --kv-cache-dtype fp8_e4m3 --attention-backend triton",
    "--model-path ä\\ö --served-model-name '\"quoted\"' --page-size 64 --mem-fraction-static 0.8",
    "--model-path m --api-key topsecret --chat-template x",
    "--model-path m --is-embedding --prefill-only-disable-kv-cache",
    "--model-path m --cuda-graph-bs 1 2 4 --json-model-override-args '{\"a\": 1}'",
    "--model-path m --no-such-flag --tp x",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("gpu", ["h100", None])
def test_a_line_is_what_the_encoder_gives(command: str, gpu: str | None) -> None:
    question = session().ask(request(command, gpu=gpu, family="llama-mha", ident=7))
    answer = hider(question).result(session().judge(question))
    plain = json.dumps(answer.to_dict(), ensure_ascii=False, separators=(",", ":"), default=str)
    assert result_line(answer) == plain


def test_an_answer_without_id_takes_the_one_it_is_given() -> None:
    question = session().ask(request("--model-path m", gpu="h100", family="llama-mha"))
    answer = session().judge(question)
    assert json.loads(result_line(answer, None)) == {"id": None, **answer.to_dict()}
