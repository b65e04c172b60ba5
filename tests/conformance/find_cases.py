"""Find a breaking and a keeping case of every entry: ``python -m conformance.find_cases``.

Draws many configurations, asks kvsolve which entry refuses each first, keeps the shortest for
every entry, repairs it, and lets the real validator confirm both: the broken one is refused in the
entry's function, the repaired one is accepted. Writes ``tests/cases/entries.jsonl``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .batches import run_jobs
from .comparison import Answer, load_exclusions
from .kvsolve_subject import Kvsolve
from .oracle.home import RELEASES
from .sampling import Sampler, flag_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .comparison import Outcome

__all__ = ["CASES", "read_cases"]

CASES = Path(__file__).resolve().parents[1] / "cases" / "entries.jsonl"
KEPT = ("code", "release", "platform", "model", "env", "judged_to", "breaks", "keeps", "place")
CANDIDATES = 2


def read_cases(path: Path = CASES) -> list[dict[str, Any]]:
    """The committed cases."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def candidates(release: str, seed: str, count: int, subject: Kvsolve) -> list[Outcome]:
    """The shortest configurations that each entry refuses first, as kvsolve sees it."""
    shortest: dict[str, list[tuple[int, int, Outcome, Answer]]] = {}
    for number, job in enumerate(_drawn(release, seed, count)):
        answer = subject.answer(release, job, job["judged_to"])
        if answer.verdict == "rejected" and answer.code:
            known = shortest.setdefault(answer.code, [])
            known.append((len(job["argv"]), number, job, answer))
            known.sort(key=lambda entry: entry[:2])
            del known[CANDIDATES:]
    return [
        {**job, "release": release, "code": answer.code, "place": answer.place}
        for known in shortest.values()
        for _, _, job, answer in known
    ]


def _drawn(release: str, seed: str, count: int) -> Iterator[Outcome]:
    table = flag_table(release)
    for first_scope in (False, True):
        sampler = Sampler(table, seed, first_scope=first_scope, environment=False)
        for job in sampler.draw(count):
            yield {**job, "judged_to": "attention"}


def confirmed(
    release: str, found: Sequence[Outcome], subject: Kvsolve, workers: int
) -> list[Outcome]:
    """The candidates that the real validator confirms, each with the first repair it accepts."""
    exclusions = load_exclusions()
    broken = [
        outcome
        for outcome in run_jobs(release, found, workers)
        if outcome["status"] == "rejected"
        and not exclusions.reason_to_skip(release, outcome)
        and outcome["where"]
        and outcome["where"]["file"] == outcome["place"][0]
    ]
    offers = [
        {**outcome, "breaks": outcome["argv"], "argv": argv}
        for outcome in broken
        for argv in subject.repairs(release, outcome, outcome["judged_to"])
    ]
    cases: dict[str, Outcome] = {}
    for outcome in run_jobs(release, offers, workers):
        if outcome["status"] == "ok" and outcome["code"] not in cases:
            case = {**outcome, "keeps": outcome["argv"]}
            cases[outcome["code"]] = {name: case[name] for name in KEPT if name in case}
    return [cases[code] for code in sorted(cases)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Find and confirm cases of entries.")
    parser.add_argument("--release", nargs="+", choices=RELEASES, default=["0.5.18", "0.5.23"])
    parser.add_argument("--seed", default="cases")
    parser.add_argument("--count", type=int, default=15000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    subject, cases = Kvsolve(), []
    for release in options.release:
        found = candidates(release, options.seed, options.count, subject)
        kept = confirmed(release, found, subject, options.workers)
        print(f"{release}: {len(kept)} of {len({o['code'] for o in found})} entries", flush=True)
        cases += kept
    CASES.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases)
    CASES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
