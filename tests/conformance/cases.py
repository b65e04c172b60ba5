"""Breaking and keeping cases of entries: ``tests/cases/*.jsonl``.

A line is ``{"code", "kind": "breaks" | "keeps", "sglang", "gpu", "model", "argv"}``; with ``stage``
it is judged to that stage only. A breaking case of a rewrite is accepted and has ``dest`` and
``after``: the flag and the value that the entry gives it; one of a refusal in argument resolution
has ``where``: the file and function that raise. Where ``checked`` is ``source``, the validator of
a machine without a GPU did not bear the case out, so that only kvsolve is asked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .batches import run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .comparison import Outcome

__all__ = ["CASES", "disagreements", "job_of", "read_cases"]

CASES = Path(__file__).resolve().parents[1] / "cases"
Case = dict[str, Any]


def read_cases(release: str | None = None) -> list[Case]:
    """The committed cases, of one release or of all."""
    found = []
    for path in sorted(CASES.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [
            case for case in map(json.loads, lines) if {"code", "kind", "sglang"} <= set(case)
        ]
    return [case for case in found if release in (None, case["sglang"])]


def job_of(case: Case) -> Outcome:
    """A case as a job of the oracle."""
    return {
        "id": f"{case['code']}-{case['kind']}-{case['sglang']}",
        "platform": case["gpu"],
        "model": case["model"],
        "argv": case["argv"],
        **({"env": case["env"]} if "env" in case else {}),
        "judged_to": case.get("stage", "attention"),
    }


def disagreements(release: str, workers: int) -> tuple[int, Sequence[Outcome]]:
    """Run a release's cases through its validator.

    Returns:
        How many were run, and those that came out otherwise: a breaking case that is accepted, a
        keeping one that is refused, or a rewrite to another value.
    """
    cases = [case for case in read_cases(release) if case.get("checked") != "source"]
    outcomes = run_jobs(release, [job_of(case) for case in cases], workers)
    wrong = []
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.get("missing_package"):
            continue  # another vendor's package: only that vendor's machine can tell
        accepted = outcome["status"] == "ok"
        if accepted != (case["kind"] == "keeps" or "dest" in case) or (
            "dest" in case and outcome["resolved"].get(case["dest"]) != case["after"]
        ):
            told = ("id", "platform", "model", "argv", "status", "stage", "type", "where")
            wrong.append({name: outcome.get(name) for name in told})
    return len(cases), wrong
