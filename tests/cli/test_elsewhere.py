"""Where no edit helps, something else is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvsolve.answers.elsewhere import elsewhere
from kvsolve.answers.repair import repair
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from pathlib import Path

LLAMA = ("--model-path", "meta-llama/Llama-3.1-8B-Instruct")


def test_a_command_for_hopper_is_accepted_there_and_not_before() -> None:
    command = [*LLAMA, "--attention-backend", "fa3"]
    found = elsewhere(command, sglang="0.5.18", gpu="t4")
    assert {"h100", "h200"} <= set(found.gpus)
    assert not {"t4", "cpu"} & set(found.gpus)


def test_what_no_flag_mends_is_told_instead_of_an_empty_repair(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("tp-size: 2")
    second.write_text("tp-size: 2")
    command = [*LLAMA, "--config", str(first), "--config", str(second)]
    answer = repair(command, sglang="0.5.18", gpu="h100")
    assert answer.result.errors
    assert not answer.repairs
    assert answer.instead


@pytest.mark.parametrize("limit", [float("nan"), -1.0])
def test_a_limit_that_is_no_number_of_seconds_is_refused(limit: float) -> None:
    command = [*LLAMA, "--kv-cache-dtype", "nvfp4"]
    with pytest.raises(KvsolveError, match="number of seconds"):
        repair(command, sglang="0.5.18", gpu="h100", limit_s=limit)
