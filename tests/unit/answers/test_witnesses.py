"""What options and a matrix promise on real releases, held to the check of the same command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kvsolve
from tests.cli.running import LLAMA

if TYPE_CHECKING:
    from collections.abc import Iterable

COMMAND = ("--model-path", LLAMA, "--schedule-policy", "lpm")
CONTEXTS = (("0.5.18", "h100"), ("0.5.23", "b200"))


def with_value(command: Iterable[str], flag: str, value: Any) -> list[str]:
    """The command with another value of a flag; unset where that is None or False."""
    words, place = list(command), None
    if flag in words:
        place = words.index(flag)
        del words[place : place + (2 if value is not True else 1)]
    if value is None or value is False:
        return words
    return [*words, flag] if value is True else [*words, flag, str(value)]


def mended(command: Iterable[str], edits: Iterable[dict[str, Any]]) -> list[str]:
    words = list(command)
    for edit in edits:
        words = with_value(words, edit["flag"], None if edit["op"] == "remove" else edit["value"])
    return words


def verdict(words: Iterable[str], release: str, gpu: str) -> str:
    return str(kvsolve.check(list(words), sglang=release, gpu=gpu).verdict)


@pytest.mark.parametrize(("release", "gpu"), CONTEXTS)
@pytest.mark.parametrize("flag", ["kv-cache-dtype", "page-size", "disaggregation-mode"])
def test_a_value_of_options_is_what_the_check_says(flag: str, release: str, gpu: str) -> None:
    answer = kvsolve.options(COMMAND, flag, sglang=release, gpu=gpu).to_dict()
    (told,) = answer["flags"]
    assert len(told["values"]) > 2
    for row in told["values"]:
        words = with_value(COMMAND, told["flag"], row["value"])
        assert (verdict(words, release, gpu) == "valid") == (row["ok"] and not row["edits"]), row
        if row["ok"]:
            assert verdict(mended(words, row["edits"]), release, gpu) == "valid", row


def test_a_cell_of_a_matrix_is_what_the_check_says() -> None:
    release, gpu = CONTEXTS[0]
    rows, cols = "kv-cache-dtype", "attention-backend"
    values = ("fa3", "flashinfer", "trtllm_mha", "trtllm_mla")
    answer = kvsolve.matrix(
        COMMAND, rows, cols, col_values=values, sglang=release, gpu=gpu
    ).to_dict()
    states = set()
    for cell in answer["cells"]:
        words = with_value(COMMAND, f"--{rows}", cell["row"])
        words = with_value(words, f"--{cols}", cell["col"])
        states.add(cell["state"])
        fine = cell["state"] in ("yes", "reported")
        assert (verdict(words, release, gpu) == "valid") == fine, cell
        if cell["state"] == "with":
            assert verdict(mended(words, cell["edits"]), release, gpu) == "valid", cell
    assert "yes" in states
    assert len(states) > 1
