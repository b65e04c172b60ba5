"""What a new release changes, and what is left to a person once it was added."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.inputs.history import load_renames
from kvsolve.packs.late import confirmed, read_curated
from kvsolve.packs.status import release_status
from kvsolve.upstream.coverage import uncurated
from kvsolve.upstream.drift import report as drift
from kvsolve.upstream.drift.sides import open_side

from .release_steps import Work

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["left_by_hand", "report"]


def report(work: Work) -> str:
    """Drift against the release before, then what is left by hand."""
    lines = []
    try:
        found = drift.compare(open_side(work.before), open_side(work.release))
        lines += [drift.text(found)]
        gone = [flag for flag in found.flags.removed if flag not in _renames(work)]
        lines += [f"an option is gone without a word in renames.toml: {flag}" for flag in gone]
    except KvsolveError as error:
        lines += [str(error)]
    left = [*lines[1:], *left_by_hand(work)]
    head = f"SGLang {work.release} is {release_status(work.release)}; left by hand: {len(left)}"
    return "\n".join([*lines[:1], head, *(f"  {line}" for line in left)])


def left_by_hand(work: Work) -> Iterator[str]:
    """One line for each thing that no step can do."""
    yield from (f"no fact is named for {name} (facts.toml)" for name in _newly_asked(work))
    for entry in uncurated(work.root, releases=[work.release]):
        yield f"no text for {entry.code} in {entry.symbol}: {entry.reason}"
    yield from (
        f"late entry {code} holds for {work.before} and was not confirmed for this: {place}"
        for code, place in _unconfirmed(work)
    )


def _newly_asked(work: Work) -> list[str]:
    """Predicates without a fact that the release before did not ask, where it can be read."""
    asked = set(work.reading.unmapped)
    with contextlib.suppress(KvsolveError):
        asked -= set(Work(work.before).reading.unmapped)
    return sorted(asked)


def _unconfirmed(work: Work) -> Iterator[tuple[str, str]]:
    """Late entries of the release before that do not hold for this one."""
    for path in sorted(work.root.glob("7[0-9]-*.toml")):
        for entry in read_curated(path).get("entry", []):
            ground = entry["ground"]
            held = confirmed(work.before, ground["sglang"])
            if held and not confirmed(work.release, ground["sglang"]):
                yield entry["code"], f"{ground['file']} {ground['symbol']}"


def _renames(work: Work) -> frozenset[str]:
    path = work.root / "renames.toml"
    text = path.read_text(encoding="utf-8")
    return frozenset(load_renames(text))
