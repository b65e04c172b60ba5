from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvsolve.cli.sources import Source, SourceError, environment, read_sources, sources_in
from kvsolve.errors import KvsolveError
from kvsolve.files.found import Document

from .running import piped

if TYPE_CHECKING:
    from pathlib import Path

SERVE = """#!/bin/bash
set -euo pipefail
# python -m sglang.launch_server --commented-out
export SGLANG_X=1   # exported
MODEL="meta-llama/Llama 3"
pip install sglang==0.5.18
  exec python -m sglang.launch_server \\
  --model-path "$MODEL" \\
  --tp ${TP:-8} --x '{"a": 1,
 "b": 2}' > log.txt 2>&1 &
echo started
"""


def in_text(text: str, name: str, env: dict[str, str]) -> list[Source | SourceError]:
    return list(sources_in(Document(name, text), env))


def only(text: str, name: str, env: dict[str, str]) -> Source:
    (source,) = in_text(text, name, env)
    assert isinstance(source, Source)
    return source


def test_a_script_gives_its_launch_command() -> None:
    source = only(SERVE, "serve.sh", {})
    assert source.tokens == (
        "exec", "python", "-m", "sglang.launch_server", "--model-path", "meta-llama/Llama 3",
        "--tp", "8", "--x", '{"a": 1,\n "b": 2}',
    )  # fmt: skip
    assert source.env == {"SGLANG_X": "1"}
    assert source.location is not None
    assert (source.location.file, source.location.line, source.location.column) == (
        "serve.sh",
        7,
        3,
    )


def test_every_launch_command_of_a_script_counts() -> None:
    text = "sglang serve a --tp 1 &\nsglang serve b --tp 2 &\nwait\n"
    found = [s for s in in_text(text, "two.sh", {}) if isinstance(s, Source)]
    assert [(s.tokens[2], s.location and s.location.line) for s in found] == [("a", 1), ("b", 2)]


def test_the_user_tells_what_the_script_does_not() -> None:
    source = only("sglang serve m --tp $TP --dp ${DP}", "s", {"TP": "4", "DP": "2"})
    assert source.tokens[-4:] == ("--tp", "4", "--dp", "2")


@pytest.mark.parametrize("text", ["", "echo a\nls\n"])
def test_a_file_without_a_command_is_told(text: str) -> None:
    (error,) = in_text(text, "s.sh", {})
    assert str(error) == "s.sh: no SGLang launch command in it"


@pytest.mark.parametrize(
    ("text", "part", "reason"),
    [
        ("\nsglang serve m --tp $TP", "$TP", "$TP is not set in this file"),
        ("sglang serve $(hostname)", "$(hostname)", "the shell computes it"),
    ],
)
def test_what_is_not_known_is_said_and_not_guessed(text: str, part: str, reason: str) -> None:
    source = only(text, "s.sh", {})
    assert source.found is not None
    assert [(u.text, u.reason) for u in source.found.unresolved] == [(part, reason)]


def test_an_open_quote_is_an_error_of_the_file() -> None:
    (error,) = in_text("ls\nsglang serve 'x", "s.sh", {})
    assert str(error) == "s.sh, line 2: it is no shell text: the quote ' is never closed"


def test_stdin_is_a_file_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", piped("--model-path m --tp 2\n"))
    (source,) = read_sources(None, ["-"], {})
    assert not isinstance(source, SourceError)
    assert source.tokens == ("--model-path", "m", "--tp", "2")


def test_a_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    good, raw, toml = tmp_path / "good.sh", tmp_path / "raw", tmp_path / "deploy.toml"
    good.write_text("sglang serve m\n")
    raw.write_bytes(b"\xff\xfe")
    toml.write_text("a = 1\n")
    files = [str(tmp_path / "none.sh"), str(raw), str(toml), str(good)]
    *errors, source = read_sources(None, files, {})
    assert [str(error).rpartition("/")[2] for error in errors] == [
        "none.sh: cannot be read: No such file or directory",
        "raw: cannot be read: not UTF-8 text",
        "deploy.toml: TOML files are not read; give the command behind `--`",
    ]
    assert not isinstance(source, SourceError)


def test_nothing_to_judge_is_said() -> None:
    with pytest.raises(SourceError, match="nothing to judge"):
        list(read_sources(None, [], {}))
    with pytest.raises(SourceError, match="nothing to judge"):
        list(read_sources([], [], {}))


def test_environment_words() -> None:
    assert environment(["A=1", "B=x=y", "C="]) == {"A": "1", "B": "x=y", "C": ""}
    for bad in ("A", "=1", ""):
        with pytest.raises(KvsolveError, match="NAME=VALUE"):
            environment([bad])
