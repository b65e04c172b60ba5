"""Help with examples that run, completion, and the sign of life of long runs."""

from __future__ import annotations

import io
import json
import shlex
import time
from typing import TYPE_CHECKING

import pytest

from kvsolve.cli.app import VERBS
from kvsolve.cli.examples import EXAMPLES
from kvsolve.cli.progress import Progress
from tests.cli.running import EXAMPLE, LLAMA, run

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
NOT_RUN = frozenset({"upstream", "mcp", "why"})
"""Verbs whose examples need a release, an agent, or an error of SGLang's own."""
RUN = [(v, e.line) for v, examples in EXAMPLES.items() if v in {*VERBS} - NOT_RUN for e in examples]
MANIFEST = f"""
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: server
    image: lmsysorg/sglang:v0.5.18
    command: [python, -m, sglang.launch_server, --model-path, {LLAMA}, --kv-cache-dtype, nvfp4]
"""


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help_with_examples(verb: str, capsys: Capture) -> None:
    ran = run(capsys, verb, "--help")
    assert ran.code == 0
    assert "Usage:" in ran.out
    assert "Examples" in ran.out
    for example in EXAMPLES[verb]:
        assert f"# {example.about}" in " ".join(ran.out.split())
        assert example.line.split()[0] == verb


@pytest.mark.parametrize(("verb", "line"), RUN)
def test_the_examples_run(
    verb: str, line: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "server.yaml").write_text(MANIFEST)
    (tmp_path / "kvsolve.toml").write_text('gpu = "h100"\n')
    (tmp_path / "configs.jsonl").write_text(json.dumps({"id": 1, "argv": list(EXAMPLE)}) + "\n")
    ran = run(capsys, *shlex.split(line))
    assert ran.code in (0, 1), (line, ran.err)
    assert ran.out or "--write-baseline" in line


# Completion


def offered(capsys: Capture, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """What the shell is offered for the last word of a line."""
    monkeypatch.setenv("_KVSOLVE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    ran = run(capsys)
    assert ran.code == 0
    assert ran.err == ""
    return ran.out.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kvsolve matr", ["matrix"]),
        ("kvsolve check --allow", ["--allow-unknown"]),
        ("kvsolve check --fail-on w", ["warning"]),
        ("kvsolve fix --gpu h10", ["h100"]),
        ("kvsolve check --sglang 0.5.18", ["0.5.18"]),
        ("kvsolve explain KV1035", ["KV1035"]),
        ("kvsolve options kv-cache-d", ["kv-cache-dtype"]),
        ("kvsolve check -- sglang serve --kv-cache-d", ["--kv-cache-dtype"]),
        ("kvsolve check -- --kv-cache-dtype nv", ["nvfp4"]),
        ("kvsolve options kv-cache-dtype -- --kv-cache-dtype nv", ["nvfp4"]),
        ("kvsolve check deplo", []),
    ],
)
def test_words_are_completed(
    line: str, words: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert offered(capsys, monkeypatch, line) == words


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_sign_of_life_that_is_wiped_out() -> None:
    stream = Terminal()
    with Progress(stream, patience=0.01) as progress:
        progress.step()
        deadline = time.monotonic() + 5
        while not stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "still at it, 1 done, 0 s" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_a_short_run_says_nothing() -> None:
    stream = Terminal()
    with Progress(stream) as progress:
        progress.step()
    assert stream.getvalue() == ""


def test_nothing_is_said_elsewhere() -> None:
    stream = io.StringIO()
    with Progress(stream, patience=0.0) as progress:
        progress.step()
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_one_within_another_is_one() -> None:
    stream = Terminal()
    with Progress(stream) as outer, Progress(stream) as inner:
        assert inner is outer
    with Progress(stream) as later:
        assert later is not outer
