"""What changes from one release to another, on small programs and on two real ones."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvsolve.cli.main import main
from kvsolve.errors import KvsolveError
from kvsolve.inputs.history import Rename
from kvsolve.model.flag import Flag, FlagTable
from kvsolve.model.program import Place, Program, Refuse, Set
from kvsolve.model.syntax import parse
from kvsolve.packs.registry import Registry
from kvsolve.upstream.drift.entries import _longest_rising, compare_entries
from kvsolve.upstream.drift.flags import compare_flags
from kvsolve.upstream.drift.report import compare, markdown, plain, text
from kvsolve.upstream.drift.sides import download, open_side, predecessor

if TYPE_CHECKING:
    from pathlib import Path

    from kvsolve.model.expression import Operand


def refusal(number: int, when: str, function: str) -> Refuse:
    place = Place("server_args.py", f"ServerArgs.{function}", number, function)
    return Refuse("ValueError", parse(when), place, key=f"{function}-{when}", words=(function,))


def write(number: int, name: str, value: Operand, when: str) -> Set:
    place = Place("server_args.py", "ServerArgs.fill", number, "fill")
    return Set(name, value, parse(when), place, "assign", key=f"{name}-{value!r}-{when}")


def program(release: str, *steps: Any) -> Program:
    return Program(release, steps, (), "", {})


A = refusal(10, "a > 1 and b", "first")
B = refusal(20, "b and c", "second")
C = refusal(30, "c == 'x'", "third")


def test_the_same_program_has_no_drift() -> None:
    old = program("1.0", A, B, C)
    assert not compare_entries(old, replace(old, release="1.1"), Registry())


def test_entries_come_go_change_and_move() -> None:
    old = program("1.0", A, B, C, write(40, "d", 1, "a"))
    changed = refusal(11, "a > 2 and b", "first")
    new = program("1.1", C, changed, refusal(25, "d", "fourth"), write(40, "d", 2, "a"))
    drift = compare_entries(old, new, Registry())
    assert [view.symbol for view in drift.added if view.kind == "refuse"] == ["ServerArgs.fourth"]
    assert [view.symbol for view in drift.removed if view.kind == "refuse"] == ["ServerArgs.second"]
    (change,) = [c for c in drift.changed if c.after.kind == "refuse"]
    assert (change.no_longer, change.newly) == (("a > 1",), ("a > 2",))
    assert len(drift.moved) == 1


@given(st.lists(st.integers(0, 30), max_size=9, unique=True))
def test_the_longest_run_is_one(numbers: list[int]) -> None:
    kept = sorted(_longest_rising(numbers))
    run = [numbers[at] for at in kept]
    assert run == sorted(run)
    best = [0]
    for subset in range(1 << len(numbers)):
        chosen = [n for at, n in enumerate(numbers) if subset >> at & 1]
        if chosen == sorted(chosen):
            best.append(len(chosen))
    assert len(kept) == max(best)


def table(release: str, *flags: Flag) -> FlagTable:
    fields = {flag.dest: flag.default for flag in flags}
    return FlagTable(release, list(flags), fields, {"config_keys": "dest", "noticed": {}})


def test_options_come_go_are_renamed_and_change() -> None:
    old = table(
        "1.0",
        Flag("a", ("--a",), type="str", choices=("x", "y"), default="x"),
        Flag("b", ("--b", "--bee"), type="int", default=1),
        Flag("c", ("--c",), "store_true", nargs=0, default=False),
        Flag("old", ("--old",), type="int"),
    )
    new = table(
        "1.1",
        Flag("a", ("--a",), type="str", choices=("x", "z"), default="z"),
        Flag("b", ("--bee",), type="int", default=1),
        Flag("young", ("--young",), type="int"),
        Flag("e", ("--e",), type="int"),
    )
    drift = compare_flags(old, new, {"--old": Rename("--old", "--young")})
    assert drift.added == ("--e",)
    assert drift.removed == ("--c",)
    assert drift.renamed == {"--b": "--bee", "--old": "--young"}
    assert [(c.flag, c.what, c.before, c.after) for c in drift.changed] == [
        ("--a", "default", "x", "z"),
        ("--a", "choices", ["x", "y"], ["x", "z"]),
        ("--bee", "spellings", ["--b", "--bee"], ["--bee"]),
    ]


def test_the_older_side_is_the_release_before() -> None:
    assert predecessor("0.5.18") == "0.5.17"
    with pytest.raises(KvsolveError, match="--against"):
        predecessor("0.0.1")


@pytest.mark.parametrize("given", ["nowhere", "0.0.1"])
def test_what_is_no_release_is_named(given: str) -> None:
    with pytest.raises(KvsolveError, match=given):
        open_side(given)


def test_only_versions_are_downloaded(tmp_path: Path) -> None:
    with pytest.raises(KvsolveError, match="no version"):
        download("0.5.18 --index-url x", tmp_path)


def test_two_real_releases() -> None:
    found = compare(open_side("0.5.17"), open_side("0.5.18"))
    data = plain(found)
    assert json.loads(json.dumps(data)) == data
    assert "--c128-page-size" in data["flags"]["added"]
    assert "  --c128-page-size\n" in text(found)
    assert "- `--c128-page-size`\n" in markdown(found)
    assert "hicache-dcp-drafts" in {entry["name"] for entry in data["entries"]["added"]}


def test_an_unknown_format_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upstream", "drift", "0.5.18", "--format", "xml"]) == 2
    assert "not as xml" in capsys.readouterr().err
