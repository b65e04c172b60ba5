"""Recorded verdicts, small enough to be committed: ``recorded/verdicts-<release>.jsonl.gz``.

The first line is a header. Each other line is a job with its outcome, without messages (no text of
the release is kept) and with only those effective values that differ from the flag table's
defaults.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .comparison import Outcome

__all__ = ["RECORDED", "read_verdicts", "recorded_path", "write_verdicts"]

RECORDED = Path(__file__).with_name("recorded")
JOB = ("id", "platform", "model", "argv", "env")
OUTCOME = ("status", "stage", "step", "deliberate", "type", "missing_package", "judged_to")


def recorded_path(release: str) -> Path:
    """Where a release's recorded verdicts lie."""
    return RECORDED / f"verdicts-{release}.jsonl.gz"


def write_verdicts(
    path: Path, header: Mapping[str, Any], outcomes: Iterable[Outcome], defaults: Mapping[str, Any]
) -> None:
    """Write a recording, the same bytes for the same outcomes.

    Args:
        path: A ``.jsonl.gz`` file.
        header: Release, command, seeds and versions.
        outcomes: Jobs joined with what the oracle said.
        defaults: Of every field of the server arguments.
    """
    lines = [dict(header), *(_small(outcome, defaults) for outcome in outcomes)]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read_verdicts(
    path: Path, defaults: Mapping[str, Any]
) -> tuple[dict[str, Any], Iterator[Outcome]]:
    """Read a recording back: its header, and the outcomes with all their effective values."""
    header, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return json.loads(header), (_whole(json.loads(line), defaults) for line in lines)


def _small(outcome: Outcome, defaults: Mapping[str, Any]) -> Outcome:
    line = {name: outcome[name] for name in (*JOB, *OUTCOME) if outcome.get(name) is not None}
    if outcome.get("where"):
        line["where"] = {name: outcome["where"][name] for name in ("file", "symbol")}
    if outcome["status"] == "ok":
        line["changed"] = {
            name: value
            for name, value in outcome["resolved"].items()
            if name not in defaults or not _same(defaults[name], value)
        }
        line["absent"] = sorted(set(defaults) - set(outcome["resolved"]))
    return line


def _same(default: Any, value: Any) -> bool:
    return json.dumps(default, sort_keys=True) == json.dumps(value, sort_keys=True)


def _whole(line: Outcome, defaults: Mapping[str, Any]) -> Outcome:
    changed = line.pop("changed", None)
    absent = set(line.pop("absent", ()))
    if changed is not None:
        kept = {name: value for name, value in defaults.items() if name not in absent}
        line["resolved"] = {**kept, **changed}
    return line
