"""Curated whole entries: refusals past argument resolution, where reading a program cannot reach.

They are written by hand (``constraints/sglang/7*.toml``) and appended to the program that was
read, so that one evaluator, one solver and one explanation serve both. Plain flag names in them
mean the value after argument resolution.

Upstream runs some checks once for each of several roles (the backend that decodes, then the one
that prefills). A file may say so once: its ``[repeat]`` table names a result and the values it
takes in turn, and a run of entries marked ``repeat = true`` stands in the program once for each
value.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.expression import all_of, negate
from kvsolve.model.finding import STAGES
from kvsolve.model.program import Let, Place, Program, Refuse, Set, Step
from kvsolve.model.syntax import parse
from kvsolve.packs.release_order import base_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["CuratedError", "by_stage", "confirmed", "late_steps", "read_curated"]


class CuratedError(KvsolveError):
    """A curated file is malformed."""


@dataclass(frozen=True, slots=True)
class _Row:
    file: Path
    kind: str
    data: Mapping[str, Any]
    repeat: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        return f"{self.file.name}, {self.data.get('code') or self.data.get('name') or self.kind}"


def read_curated(path: Path) -> dict[str, Any]:
    """A curated TOML file.

    Raises:
        CuratedError: It is not TOML; names file and line.
    """
    try:
        with open(path, "rb") as handle:
            return tomllib.load(handle)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CuratedError(f"{path.name}: {error}") from None


def confirmed(release: str, releases: str | list[str]) -> bool:
    """Whether a release lies in a range such as ``>=0.5.16,<0.5.19`` or in a list.

    ``.postN`` belongs to its base release, but where the range or list names a ``.postN`` itself.

    >>> confirmed("0.5.18.post2", ["0.5.18"]), confirmed("0.5.15", ">=0.5.15.post1")
    (True, False)
    >>> confirmed("0.5.18", ">=0.5.16,<0.5.19"), confirmed("0.5.19", ["0.5.18"])
    (True, False)
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    exact = ".post" in releases if isinstance(releases, str) else release in releases
    name = release if exact else base_of(release)
    if isinstance(releases, list):
        return name in releases
    try:
        return SpecifierSet(releases).contains(name)
    except InvalidSpecifier:
        raise CuratedError(
            f"`{releases}` is no range of releases such as >=0.5.16,<0.5.19"
        ) from None


def late_steps(program: Program, files: list[Path]) -> tuple[Step, ...]:
    """The steps that the curated files add to a program, by stage and then in file order.

    Args:
        program: The program that was read; its final values are what the entries speak of.
        files: Curated files, in order.

    Raises:
        CuratedError: An entry is malformed; names file and code.
    """
    versions: dict[str, int] = {}
    for step in program.steps:
        if isinstance(step, (Let, Set)):
            versions[step.name] = versions.get(step.name, 0) + 1
    rows = [row for path in files for row in _rows(path) if _applies(row, program.release)]
    entries = sorted(
        (row for row in rows if row.kind == "entry"),
        key=lambda row: STAGES.index(row.data.get("stage", "args")),
    )
    # Names without an entry that speaks of them would ask an older release for flags it has not.
    lets = [row for row in rows if row.kind == "let"] if entries else []
    steps: list[Step] = []
    for row in [*lets, *_unrolled(entries)]:
        steps.append(step := _step(row, versions))
        if isinstance(step, Let):
            versions[step.name] = versions.get(step.name, 0) + 1
    return tuple(steps)


def by_stage(read: tuple[Step, ...], late: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps of a program in the order of a start-up.

    What was read of a later stage stands among the curated entries: behind their names, at its
    stage. At stage ``load`` it comes before theirs, which need what a model's class needs too; at
    the stages behind it, theirs come first, since they name the first thing that breaks there.

    Args:
        read: The program that was read, its refusals past argument resolution last.
        late: What :func:`late_steps` adds.
    """
    at = next((n for n, step in enumerate(read) if _is_behind_load(step)), len(read))
    stages = list(_stages(late))
    merged: list[Step] = []
    for stage in STAGES:
        merged += [step for step, own in zip(late, stages, strict=True) if own == stage]
        merged += [s for s in read[at:] if isinstance(s, Refuse) and s.stage == stage]
    return (*read[:at], *merged)


def _is_behind_load(step: Step) -> bool:
    return isinstance(step, Refuse) and STAGES.index(step.stage) > STAGES.index("load")


def _stages(late: tuple[Step, ...]) -> Iterator[str]:
    """The stage of each step; a name belongs to the entry behind it."""
    following = "load"
    found: list[str] = []
    for step in reversed(late):
        following = step.stage if isinstance(step, Refuse) else following
        found.append(following)
    return reversed(found)


def _rows(path: Path) -> Iterator[_Row]:
    data = read_curated(path)
    for kind in ("let", "entry"):
        for item in data.get(kind, []):
            yield _Row(path, kind, item, data.get("repeat"))


def _unrolled(entries: list[_Row]) -> Iterator[_Row]:
    """The entries in order, each run of repeated ones once for each value of its file's table."""
    for (repeated, path), run in groupby(
        entries, lambda row: (bool(row.data.get("repeat")), row.file)
    ):
        block = list(run)
        if not repeated:
            yield from block
            continue
        table = block[0].repeat
        if table is None or not {"name", "values"} <= table.keys():
            raise CuratedError(
                f"{block[0].label}: {path.name} has no [repeat] table with name and values"
            )
        for value in table["values"]:
            yield _Row(path, "let", {"name": table["name"], "value": value})
            yield from block


def _applies(row: _Row, release: str) -> bool:
    releases = row.data.get("sglang") or row.data.get("ground", {}).get("sglang")
    if releases is None:
        if row.kind == "let":
            return True
        raise CuratedError(f"{row.label}: the ground names no releases (`sglang`)")
    return confirmed(release, releases)


def _step(row: _Row, versions: Mapping[str, int]) -> Step:
    data = row.data
    try:
        if row.kind == "let":
            return Let(
                data["name"],
                parse(data["value"], versions),
                parse(data.get("when", "True"), versions),
            )
        when = parse(data["when"], versions)
        if "require" in data:
            when = all_of(when, negate(parse(data["require"], versions)))
        ground = data["ground"]
        place = Place(ground["file"], ground["symbol"], 0, ground["symbol"])
        return Refuse(data["raises"], when, place, data["code"], (), data["stage"])
    except KeyError as error:
        raise CuratedError(f"{row.label}: the field {error} is missing") from None
    except KvsolveError as error:
        raise CuratedError(f"{row.label}: {error}") from None
