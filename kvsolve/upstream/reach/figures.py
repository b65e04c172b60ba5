"""How many places of a release are entries, by stage; kept beside the packs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kvsolve.packs.release_order import release_order
from kvsolve.upstream.reach.places import ENTRIES, NOT_EVALUATED, NOT_MODELLED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kvsolve.upstream.reach.places import Place

__all__ = ["FILE", "STAGES", "by_stage", "record"]

FILE = "reach.json"
STAGES = ("args", "load", "pool", "attention", "request")
_COUNTED = (*ENTRIES, NOT_EVALUATED, NOT_MODELLED, "flag", "flag_entries")


def by_stage(rows: Iterable[Place]) -> dict[str, dict[str, int]]:
    """Stage -> how many places: each status, ``flag`` (a flag decides), ``flag_entries``."""
    found = {stage: dict.fromkeys(_COUNTED, 0) for stage in STAGES}
    for row in rows:
        if row.status in _COUNTED:
            counted = found[row.stage]
            counted[row.status] += 1
            counted["flag"] += row.counts
            counted["flag_entries"] += row.status in ENTRIES
    return found


def record(root: Path, release: str, figures: dict[str, dict[str, int]]) -> Path:
    """Write a release's figures into the file of all releases.

    Args:
        root: The directory of the packs.
        release: The release.
        figures: As :func:`by_stage` counts them.
    """
    path = root / FILE
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[release] = figures
    rows = [
        f"{json.dumps(name)}: {json.dumps(known[name], separators=(',', ':'))}"
        for name in sorted(known, key=release_order)
    ]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    return path
