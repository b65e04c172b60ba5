"""What a launch can reach was counted for every release that is judged past its arguments."""

from __future__ import annotations

import json

from kvsolve.packs.figures import figures_of
from kvsolve.packs.files import constraints_directory

LATE = ("load", "pool", "attention", "request")


def test_every_entry_that_was_read_past_arguments_was_counted() -> None:
    root = constraints_directory() / "sglang"
    counted = json.loads((root / "reach.json").read_text(encoding="utf-8"))
    checked = set()
    for path in (root / "program").glob("*.jsonl"):
        program = path.read_text(encoding="utf-8").splitlines()
        places = json.loads(program[0])["places"]
        steps = (json.loads(line) for line in program[1:] if '"stage":"load"' in line)
        at = {tuple(places[step["at"]][:3]) for step in steps}
        if at:
            checked.add(path.stem)
            load = counted[path.stem]["load"]
            assert load["exact"] + load["curated"] >= len(at)
    assert {"0.5.18", "0.5.23"} <= checked <= set(counted)


def test_packs_tell_the_share_of_what_flags_decide() -> None:
    figures = figures_of("0.5.23")
    counted = [figures["stages"][stage] for stage in LATE]
    assert figures["late_places"] == sum(c["flag"] for c in counted)
    assert figures["late_entries"] == sum(c["flag_entries"] for c in counted)
    assert figures["late_share"] == round(100 * figures["late_entries"] / figures["late_places"], 1)
    assert figures_of("0.5.6")["late_places"] is None
