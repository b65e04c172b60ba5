"""Holding pairs of cases to a release, down to the statement that refuses."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from kvsolve.packs.pack import load_pack

from .batches import run_jobs
from .cases import bears_out, has_value, job_of, model_name
from .comparison import plain_value
from .entry_probe import STAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .entry_probe import Probe, Seen

__all__ = ["Statements", "case_of", "confirm", "misses", "pair_of", "stands"]

Case = dict[str, Any]
Job = dict[str, Any]


def case_of(probe: Probe, code: str, kind: str, job: Job, seen: Seen) -> Case:
    """A job as a case, with what kvsolve says that the release does."""
    case = {"code": code, "kind": kind, "sglang": probe.release, "gpu": job["platform"]}
    case |= {"model": job["model"], "argv": job["argv"], "stage": probe.stage}
    if job.get("env"):
        case["env"] = job["env"]
    if "devices" in job:
        case["devices"] = job["devices"]
    if kind == "breaks" and seen.leaves_open(code) and code in seen.open_writes:
        dest, given = seen.open_writes[code]
        case |= {"told": "unknown", "dest": dest, "unlike": plain_value(given)}
    elif kind == "breaks" and seen.leaves_open(code):
        ground = probe.entries[code][0][1].ground
        case |= {"told": "unknown", "where": [ground.file, ground.symbol]}
    elif seen.first:
        case["where"] = list(seen.place)
    elif kind == "breaks":
        dest, inside, after = seen.writes[code]
        case |= {"dest": dest, "after": plain_value(model_name(after))}
        if inside:
            case["inside"] = list(inside)
    return case


def pair_of(probe: Probe, code: str, breaks: Job, keeps: Job) -> tuple[Case, Case]:
    """Both jobs as cases; a twin of a write that is always made gets another value from it."""
    broken = case_of(probe, code, "breaks", breaks, probe.look(breaks))
    seen = probe.look(keeps)
    kept = case_of(probe, code, "keeps", keeps, seen)
    if "after" in broken and not seen.first and code in seen.writes:
        kept |= {name: broken[name] for name in ("dest", "inside") if name in broken}
        kept["unlike"] = broken["after"]
    return broken, kept


class Statements:
    """Which entry of a release stands at a line of its source."""

    def __init__(self, release: str) -> None:
        pack = load_pack(release)
        self.lines: dict[str, list[int]] = {}
        self.codes: dict[tuple[str, int], set[str]] = {}
        for number, (step, info) in enumerate(zip(pack.program.steps, pack.steps, strict=True)):
            if info.kind == "refuse" and step.place is not None:
                file, line = step.place.file, step.place.line
                code = pack.catalog.entry(number).code
                self.codes.setdefault((file, line), set()).add(code)
        for file, line in sorted(self.codes):
            self.lines.setdefault(file, []).append(line)

    def at(self, where: Mapping[str, Any]) -> set[str]:
        """Codes of the refusal whose statement covers a place: the last that begins before it."""
        lines = self.lines.get(where.get("file", ""), [])
        before = bisect_right(lines, where.get("line", 0))
        return self.codes[where["file"], lines[before - 1]] if before else set()


def stands(case: Case, seen: Seen) -> bool:
    """Whether kvsolve says what a case says."""
    code = case["code"]
    if case["kind"] == "keeps":
        return misses(case, code, seen)
    if case.get("told") == "unknown" and (seen.leaves_open(code) or "unlike" in case):
        return seen.leaves_open(code) or seen.shows(code)
    if "after" in case:
        return seen.shows(code) and has_value(case, seen.effective)
    return seen.shows(code) and list(seen.place) == case["where"]


def misses(keeps: Case, code: str, seen: Seen) -> bool:
    """Whether an entry has no part in its keeping twin."""
    if "unlike" in keeps:
        return seen.verdict == "valid" and not has_value(
            {**keeps, "after": keeps["unlike"]}, seen.effective
        )
    if "where" not in keeps:
        return seen.lacks(code)
    return list(seen.place) == keeps["where"] and seen.hidden(code) is None


def agrees(case: Case, outcome: Mapping[str, Any], statements: Statements) -> bool:
    """Whether the release does what a case says, at the very statement of the entry."""
    if not bears_out(case, outcome):
        return False
    if "where" not in case or case["stage"] != STAGE:
        return True
    return (case["code"] in statements.at(outcome["where"])) is (case["kind"] == "breaks")


def confirm(
    release: str, cases: Sequence[Case], workers: int = 1
) -> tuple[list[Case], list[tuple[Case, Mapping[str, Any]]]]:
    """Hold cases to the release.

    Returns:
        The cases of the entries that the release bears out in both kinds, and the others with what
        it said instead.
    """
    statements = Statements(release)
    outcomes = run_jobs(release, [job_of(case) for case in cases], workers)
    wrong = [
        (case, outcome)
        for case, outcome in zip(cases, outcomes, strict=True)
        if not agrees(case, outcome, statements)
    ]
    failed = {case["code"] for case, _ in wrong}
    return [case for case in cases if case["code"] not in failed], wrong
