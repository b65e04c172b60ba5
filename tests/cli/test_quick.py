from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvsolve.cli import app, checking
from kvsolve.cli.quick import read_check
from kvsolve.errors import KvsolveError

WORDS = st.sampled_from([
    "h100", "0.5.18", "", "x=y", "text", "json", "args", "note", "8", "08", "0", "-1", "many", "²",
    "-", "a.sh", "--", "--gpu",
])  # fmt: skip
OPTIONS = st.sampled_from([
    "--sglang", "--gpu", "--gpus", "--model-config", "--family", "--env", "--stage", "--limit-s",
    "--fail-on", "--allow-unknown", "--format", "--effective", "--notes", "--gp", "--help", "-x",
    "--exit-zero", "--settings", "--baseline", "--write-baseline", "--skip-others",
])  # fmt: skip
TOKENS = st.one_of(WORDS, OPTIONS, st.builds("{}={}".format, OPTIONS, WORDS))


def by_typer(args: list[str]) -> Any:
    """What the check verb is called with, or None where Typer does not call it."""
    seen: list[Any] = []

    def note(asked: Any, files: Any, **switches: bool) -> int:
        seen.append((asked, list(files), switches))
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "run_check", note)
        try:
            app.dispatch(args, ["command"])
        except (app.USAGE_ERROR, SystemExit):
            return None
    return seen[0] if seen else None


def told(read: Any, *args: Any) -> Any:
    """What a reading gives, or the sentence of settings that cannot be used."""
    try:
        return read(*args)
    except KvsolveError as error:
        return str(error)


@given(st.lists(TOKENS, max_size=6))
def test_the_plain_way_reads_as_typer_does(tokens: list[str]) -> None:
    args = ["check", *(t for t in tokens if t != "--")]
    plain = told(read_check, args, ["command"])
    if plain is not None:
        assert plain == told(by_typer, args)


@pytest.mark.parametrize(
    "args",
    [
        ["check"],
        ["check", "a.sh", "-"],
        ["check", "--sglang", "0.5.18", "--gpu=h100", "--gpus", "4", "--stage", "pool"],
        ["check", "--env", "A=1", "--env", "B=2", "--model-config", "x", "--format=json"],
        ["check", "--allow-unknown", "--effective", "--notes", "--fail-on", "note", "f"],
        ["check", "--exit-zero", "--settings", "none", "--baseline=b", "--write-baseline", "w"],
    ],
)
def test_ordinary_command_lines_take_the_plain_way(args: list[str]) -> None:
    plain = read_check(args, ["command"])
    assert plain is not None
    assert plain == by_typer(args)


@pytest.mark.parametrize(
    "args",
    [[], ["fix"], ["check", "--help"], ["check", "--gp", "x"], ["check", "--gpu"],
     ["check", "--gpus", "0"], ["check", "--stage", "x"], ["check", "--format", "xml"],
     ["check", "--gpu", "--notes"], ["check", "--limit-s", "3"], ["check", "--notes=1"]],
)  # fmt: skip
def test_everything_else_is_left_to_typer(args: list[str]) -> None:
    assert read_check(args, None) is None
