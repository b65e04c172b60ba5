"""Find a breaking and a keeping case of entries: ``python -m conformance.find_cases``.

Draws many configurations, asks kvsolve which entry refuses each first, keeps the shortest for
every entry, repairs it, and lets the real validator confirm both: the broken one is refused in the
entry's file and the repaired one is accepted. Writes ``tests/cases/found.jsonl``.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .batches import run_jobs
from .cases import write_cases
from .comparison import load_exclusions
from .kvsolve_subject import Kvsolve
from .oracle.home import RELEASES
from .sampling import Sampler, flag_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .comparison import Outcome

__all__ = ["candidates", "confirmed"]

CANDIDATES = 2


def candidates(release: str, seed: str, count: int, subject: Kvsolve) -> list[Outcome]:
    """The shortest configurations that each entry refuses first, as kvsolve sees it."""
    shortest: dict[str, list[tuple[int, int, Outcome]]] = {}
    for number, job in enumerate(_drawn(release, seed, count)):
        answer = subject.answer(release, job, job["judged_to"])
        if answer.verdict == "rejected" and answer.code:
            known = shortest.setdefault(answer.code, [])
            found = {**job, "code": answer.code, "place": answer.place}
            known.append((len(job["argv"]), number, found))
            known.sort(key=lambda entry: entry[:2])
            del known[CANDIDATES:]
    return [job for known in shortest.values() for _, _, job in known]


def _drawn(release: str, seed: str, count: int) -> Iterator[Outcome]:
    table = flag_table(release)
    for first_scope in (False, True):
        sampler = Sampler(table, seed, first_scope=first_scope, environment=False)
        for job in sampler.draw(count):
            yield {**job, "judged_to": "attention"}


def confirmed(
    release: str, found: Sequence[Outcome], subject: Kvsolve, workers: int
) -> Iterator[dict[str, Any]]:
    """The cases that the real validator confirms, a breaking and a keeping one of each entry."""
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
    done = set()
    for outcome in run_jobs(release, offers, workers):
        if outcome["status"] == "ok" and outcome["code"] not in done:
            done.add(outcome["code"])
            facts = {"gpu": outcome["platform"], "model": outcome["model"]}
            for kind, argv in (("breaks", outcome["breaks"]), ("keeps", outcome["argv"])):
                case = {"code": outcome["code"], "kind": kind, "sglang": release}
                yield {**case, **facts, "argv": argv}


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
        kept = sorted(confirmed(release, found, subject, options.workers), key=lambda c: c["code"])
        told = len({job["code"] for job in found})
        print(f"{release}: cases of {len(kept) // 2} of {told} entries seen", flush=True)
        cases += kept
    write_cases("found.jsonl", cases)


if __name__ == "__main__":
    main()
