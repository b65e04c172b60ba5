"""Runs the command inside the test process, as a shell would."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.cli.main import main

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def run(capsys: pytest.CaptureFixture[str], *args: str) -> Ran:
    """Run ``kvsolve`` with these arguments."""
    capsys.readouterr()
    code = main(list(args))
    out, err = capsys.readouterr()
    return Ran(code, out, err)


def piped(text: str) -> io.TextIOWrapper:
    """What stands at stdin where a text is piped in."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def assert_one_sentence(ran: Ran, *words: str) -> None:
    """Bad input: exit code 2, nothing on stdout, one line on stderr that says what is wrong."""
    assert ran.code == 2, ran
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert len(lines) == 1, ran.err
    assert lines[0].startswith("kvsolve: error: ")
    assert "Traceback" not in ran.err
    for word in words:
        assert word in lines[0]


LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
EXAMPLE = (
    "python", "-m", "sglang.launch_server", "--model-path", LLAMA, "--is-embedding",
    "--prefill-only-disable-kv-cache", "--kv-cache-dtype", "nvfp4",
)  # fmt: skip
PLAIN = ("--model-path", LLAMA)
H100 = ("--sglang", "0.5.18", "--gpu", "h100")
