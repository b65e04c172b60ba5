"""The committed cases of entries (``tests/cases``), run through the real validator.

A case says what a command does: a *breaking* one is refused, or gets a value that an entry writes;
its *keeping* twin just misses the entry, or, where an entry always writes, gets another value than
the ``unlike`` that it names; ``told`` is ``unknown`` where kvsolve leaves open whether the entry
takes place. A ``where`` is the file and function of the first refusal;
the twin of an entry that hides another one has such a place too. Files are JSON lines, the long
ones compressed.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .batches import run_jobs
from .comparison import equal_values, plain_value
from .oracle.model_configs import MODELS_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .comparison import Outcome

__all__ = [
    "CASES",
    "bears_out",
    "disagreements",
    "has_value",
    "job_of",
    "model_name",
    "read_cases",
    "read_file",
    "write_file",
]

CASES = Path(__file__).resolve().parents[1] / "cases"
Case = dict[str, Any]


def read_cases(release: str | None = None) -> list[Case]:
    """The committed cases, of one release or of all."""
    found = []
    for path in sorted([*CASES.glob("*.jsonl"), *CASES.glob("*.jsonl.gz")]):
        found += [case for case in read_file(path) if {"code", "kind", "sglang"} <= set(case)]
    return [case for case in found if release in (None, case["sglang"])]


def read_file(path: Path) -> list[Case]:
    """The cases of a file."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.decode().splitlines()]


def write_file(path: Path, cases: Iterable[Case]) -> None:
    """Write cases compressed, the same bytes for the same cases."""
    lines = sorted(cases, key=lambda case: (case["code"], case["sglang"], case["kind"]))
    text = "".join(json.dumps(case, separators=(",", ":")) + "\n" for case in lines)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def model_name(value: Any) -> Any:
    """A value without the oracle's directory of models, as in its outcomes."""
    folder = f"{MODELS_DIRECTORY}/"
    return value.replace(folder, "@model:") if isinstance(value, str) else value


def job_of(case: Case) -> Outcome:
    """A case as a job of the oracle."""
    return {
        "id": f"{case['code']}-{case['kind']}-{case['sglang']}",
        "platform": case["gpu"],
        "model": case["model"],
        "argv": case["argv"],
        **{name: case[name] for name in ("env", "devices") if name in case},
        "judged_to": case.get("stage", "attention"),
    }


def has_value(case: Case, effective: Mapping[str, Any]) -> bool:
    """Whether effective values hold what a case says that an entry writes."""
    value = plain_value(effective.get(case["dest"]))
    for key in case.get("inside", ()):
        value = value.get(key) if isinstance(value, dict) else None
    return equal_values(model_name(value), case["after"])


def bears_out(case: Case, outcome: Mapping[str, Any]) -> bool:
    """Whether the release does what a case says."""
    if "unlike" in case:
        other = {**case, "after": case["unlike"]}
        return outcome["status"] == "ok" and not has_value(other, outcome["resolved"])
    if "dest" in case:
        return outcome["status"] == "ok" and has_value(case, outcome["resolved"])
    if "where" in case:
        where = outcome.get("where") or {}
        refused = outcome["status"] == "rejected"
        inner = (where.get("symbol") or "").rpartition("<locals>.")[2]
        return refused and [where.get("file"), inner] == case["where"]
    return (outcome["status"] == "ok") == (case["kind"] == "keeps")


def disagreements(
    release: str, workers: int, most: int | None = None, seed: str = ""
) -> tuple[int, Sequence[Outcome]]:
    """Run a release's cases through its validator.

    Args:
        release: A release that the oracle has.
        workers: Processes at a time.
        most: How many cases to run, drawn at random; None for all.
        seed: Equal seeds draw equal cases.

    Returns:
        How many were run, and those that came out otherwise: a breaking case that is accepted or
        refused elsewhere, a keeping one that is refused, or a rewrite to another value.
    """
    cases = [case for case in read_cases(release) if case.get("checked") != "source"]
    if most is not None and len(cases) > most:
        cases = random.Random(f"{seed}-{release}").sample(cases, most)
    outcomes = run_jobs(release, [job_of(case) for case in cases], workers)
    wrong = []
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.get("missing_package"):
            continue  # another vendor's package: only that vendor's machine can tell
        if not bears_out(case, outcome):
            told = ("id", "platform", "model", "argv", "status", "stage", "type", "where")
            wrong.append({name: outcome.get(name) for name in told})
    return len(cases), wrong
