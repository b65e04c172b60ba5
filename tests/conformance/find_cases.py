"""Find a breaking and a keeping case of curated entries: ``python -m conformance.find_cases``.

An entry of the argument stage *breaks* a configuration when it is the first refusal, or when it
decides an effective value of an accepted one; its *keeping* twin is one edit away, or a repair, and
is accepted without it. Configurations come from recorded outcomes of the real validators, then from
a search over the entry's own flags, GPU and model profiles. What is found is shrunk, and the real
validator has the last word: a case that it does not bear out says ``"checked": "source"``. Writes
``tests/cases/args.jsonl``; ``python -m conformance.confirm_entries`` then marks the entries.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.packs.files import constraints_directory

from .batches import run_jobs
from .cases import CASES
from .entry_probe import STAGE, Probe, Seen
from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.home import RELEASES
from .oracle.model_configs import MODELS
from .sampling import flag_table
from .verdict_file import read_verdicts, recorded_path

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["confirm", "curated_codes", "find", "standing", "wanted_codes"]

Job = dict[str, Any]
Case = dict[str, Any]
FILE = "args.jsonl"
PREFERRED = ("0.5.18", "0.5.23", "0.5.20", "0.5.16", "0.5.22", "0.5.19", "0.5.21", "0.5.17")
USUAL_PLATFORMS = ("h100", "b200", "mi300x-aiter", "rtx5090", "cpu", "npu")
MOST_FLAGS = 6


def curated_codes() -> list[str]:
    """Codes of the argument stage with a text by hand."""
    found: list[str] = []
    for path in sorted((constraints_directory() / "sglang").glob("[1-6]*.toml")):
        texts = tomllib.loads(path.read_text(encoding="utf-8")).get("text", [])
        found += [text["code"] for text in texts]
    return list(dict.fromkeys(found))


def wanted_codes(probe: Probe, done: set[str]) -> list[str]:
    """The curated entries of a release that have no pair yet."""
    return [code for code in curated_codes() if code in probe.entries and code not in done]


def harvest(probe: Probe, wanted: set[str], runs: Path | None) -> Iterator[tuple[str, Job]]:
    """Recorded configurations that show an entry, where the release refuses at its place."""
    for outcome in _outcomes(probe.release, runs):
        if outcome["status"] not in ("ok", "rejected") or outcome["stage"] == "parse":
            continue
        job = {name: outcome[name] for name in ("platform", "model", "argv")}
        job["env"] = outcome.get("env") or {}
        seen = probe.look(job)
        codes = {seen.first} if seen.first else set(seen.writes.values())
        for code in codes & wanted:
            if seen.shows(code):
                yield code, job


def _outcomes(release: str, runs: Path | None) -> Iterator[dict[str, Any]]:
    for path in sorted(runs.glob(f"*{release}*.jsonl")) if runs else ():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    if recorded_path(release).exists():
        yield from read_verdicts(recorded_path(release), flag_table(release).fields)[1]


def search(probe: Probe, code: str, rng: random.Random, seconds: float) -> Job | None:
    """Try combinations of the flags that take part in an entry, on GPU and model profiles."""
    names, end = probe.names(code), time.monotonic() + seconds
    values = {name: probe.values(name, code) for name in names}
    architectures, variables = probe.surroundings(code)
    while time.monotonic() < end:
        usual = rng.random() < 0.8
        job: Job = {
            "platform": rng.choice(USUAL_PLATFORMS if usual else tuple(GPU_PROFILES)),
            "model": rng.choice(MODELS),
            "env": {name: "1" for name in variables if rng.random() < 0.4},
        }
        for _ in range(12):
            chosen = rng.sample(names, min(len(names), rng.randint(0, MOST_FLAGS)))
            groups = [[n, rng.choice(values[n])] if values[n] else [n] for n in chosen]
            if architectures and rng.random() < 0.8:
                named = json.dumps({"architectures": [rng.choice(architectures)]})
                groups.append(["--json-model-override-args", named])
            job = {**job, "argv": [token for group in groups for token in group]}
            seen = probe.look(job)
            if seen.shows(code):
                return job
            if seen.hidden(code) and (found := probe.uncover(job, code)):
                return found
    return None


def pair(probe: Probe, code: str, job: Job) -> list[Case] | None:
    """The shrunk configuration and its keeping twin, None where no twin was found."""
    breaks = probe.shrink(job, code)
    for twin in probe.twins(breaks, code):
        if probe.look(twin).lacks(code):
            return [_case(probe, code, "breaks", breaks), _case(probe, code, "keeps", twin)]
    return None


def _case(probe: Probe, code: str, kind: str, job: Job) -> Case:
    case = {"code": code, "kind": kind, "sglang": probe.release, "gpu": job["platform"]}
    case |= {"model": job["model"], "argv": job["argv"], "stage": STAGE}
    if job.get("env"):
        case["env"] = job["env"]
    seen = probe.look(job)
    if kind == "breaks" and seen.first:
        case["where"] = list(seen.place)
    elif kind == "breaks":
        dest = next(dest for dest, by in seen.writes.items() if by == code)
        case |= {"dest": dest, "after": seen.effective[dest]}
    return case


def find(
    release: str, done: set[str], runs: Path | None, rng: random.Random, seconds: float
) -> Iterator[Case]:
    """Pairs of the curated entries of a release that are not done."""
    probe = Probe(release)
    wanted = wanted_codes(probe, done)
    jobs: dict[str, list[Job]] = {}
    for code, job in harvest(probe, set(wanted), runs):
        jobs.setdefault(code, []).append(job)
    for code in wanted:
        known = sorted(jobs.get(code, ()), key=lambda job: len(job["argv"]))[:3]
        found = next((p for job in known if (p := pair(probe, code, job))), None)
        if found is None and (job := search(probe, code, rng, seconds)):
            found = pair(probe, code, job)
        yield from found or ()


def confirm(release: str, cases: list[Case], workers: int) -> Iterator[Case]:
    """The cases with what the release bears out: pairs, both kinds or none."""
    outcomes = run_jobs(release, [_job(case) for case in cases], workers)
    borne = [_agrees(*item) for item in zip(cases, outcomes, strict=True)]
    sure = {case["code"]: True for case in cases}
    for case, agrees in zip(cases, borne, strict=True):
        sure[case["code"]] &= agrees
    for case in cases:
        yield case if sure[case["code"]] else {**case, "checked": "source"}


def _write(cases: list[Case]) -> None:
    lines = sorted(cases, key=lambda case: (case["code"], case["sglang"], case["kind"]))
    text = "".join(json.dumps(case) + "\n" for case in lines)
    (CASES / FILE).write_text(text, encoding="utf-8")


def standing(cases: list[Case]) -> Iterator[Case]:
    """The pairs that hold still, under the codes that their entries have now."""
    probes = {release: Probe(release) for release in {case["sglang"] for case in cases}}
    pairs: dict[tuple[str, str], dict[str, Case]] = {}
    for case in cases:
        pairs.setdefault((case["code"], case["sglang"]), {})[case["kind"]] = case
    done: set[tuple[str, str]] = set()
    for (_, release), both in pairs.items():
        breaks, keeps = both["breaks"], both["keeps"]
        code = _code_now(breaks, probes[release].look(_job(breaks)))
        known = not code or (code, release) in done
        if not known and probes[release].look(_job(keeps)).lacks(code):
            done.add((code, release))
            yield from ({**case, "code": code} for case in (breaks, keeps))


def _code_now(breaks: Case, seen: Seen) -> str:
    """Code of the entry that a breaking case shows at its place; empty where it shows none."""
    if "dest" not in breaks:
        return seen.first if list(seen.place) == breaks["where"] else ""
    same = seen.effective.get(breaks["dest"]) == breaks["after"]
    return seen.writes.get(breaks["dest"], "") if same and not seen.first else ""


def _job(case: Case) -> Job:
    return {
        "id": f"{case['code']}-{case['kind']}",
        "platform": case["gpu"],
        "model": case["model"],
        "argv": case["argv"],
        "env": case.get("env", {}),
        "judged_to": STAGE,
    }


def _agrees(case: Case, outcome: dict[str, Any]) -> bool:
    if case["kind"] == "keeps":
        return bool(outcome["status"] == "ok")
    if "dest" in case:
        value = outcome.get("resolved", {}).get(case["dest"])
        return bool(outcome["status"] == "ok" and value == case["after"])
    where = outcome.get("where") or {}
    return [where.get("file"), where.get("symbol")] == case["where"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Find and confirm cases of curated entries.")
    parser.add_argument("--release", nargs="+", choices=RELEASES, default=list(PREFERRED))
    parser.add_argument("--runs", type=Path, help="a directory of joined outcomes to harvest too")
    parser.add_argument("--seed", default="cases")
    parser.add_argument("--seconds", type=float, default=3.0, help="of search for one entry")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--more", action="store_true", help="keep the file's cases, add to them")
    options = parser.parse_args()
    path = CASES / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if options.more else []
    cases = list(standing([json.loads(line) for line in lines]))
    print(f"{len(cases)} of {len(lines)} cases stand", flush=True)
    rng = random.Random(options.seed)
    for release in options.release:
        done = {case["code"] for case in cases}
        found = list(find(release, done, options.runs, rng, options.seconds))
        _write(cases + [{**case, "checked": "source"} for case in found])
        cases += confirm(release, found, options.workers)
        _write(cases)
        print(f"{release}: {len(found) // 2} entries more", flush=True)
    told = {case["code"] for case in cases}
    sure = {case["code"] for case in cases if "checked" not in case}
    print(f"{len(curated_codes())} curated, {len(told)} with cases, {len(sure)} confirmed")


if __name__ == "__main__":
    main()
