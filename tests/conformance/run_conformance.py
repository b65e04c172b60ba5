"""Hold kvsolve to the real validators: ``python tests/conformance/run_conformance.py``.

Sets up the oracle's environment, draws fresh configurations with a seed that it prints, runs the
releases' own validators on them, and compares verdicts, places of the first refusal, effective
values, proposed repairs and the committed cases of entries. Exits 1 when a threshold is missed.
``--full`` draws as many as the published figures rest on; else a smaller sample, which fails only
when chance cannot explain it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.batches import Batch, draw, run_jobs
from conformance.cases import disagreements
from conformance.comparison import load_exclusions
from conformance.flag_pool import TABLES
from conformance.kvsolve_subject import Kvsolve
from conformance.oracle import setup
from conformance.oracle.home import RELEASES
from conformance.oracle.run import MOST_WORKERS
from conformance.repairs import check_repairs
from conformance.tally import tally
from conformance.thresholds import CASES, REPAIRS, THRESHOLDS, figures, reached

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.comparison import Outcome

MAIN_RELEASES = ("0.5.18", "0.5.23")
ALWAYS = ("h100", "b200")
"""GPU profiles of every run; the others take turns by the seed."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much to draw for one release.

    Attributes:
        all_flags, first_scope: Configurations.
        repaired: Refused configurations whose repairs are run.
        platforms: GPU profiles; 0 for all.
    """

    all_flags: int
    first_scope: int
    repaired: int
    platforms: int


SIZES = {
    (False, False): Size(400, 200, 30, 4),
    (False, True): Size(1500, 600, 100, 6),
    (True, False): Size(4000, 1000, 2000, 0),
    (True, True): Size(20000, 4000, 2000, 0),
}
"""By whether the run is full and whether the release is a main one."""

SAMPLED_CASES = 200
"""Cases of entries that a run which is not full holds to the release."""


@dataclass(frozen=True, slots=True)
class Score:
    """One figure of a release against its threshold; strictly so in a full run."""

    release: str
    name: str
    agreeing: int
    of: int
    strict: bool

    @property
    def passed(self) -> bool:
        """Whether the share reaches the threshold."""
        return reached(self.name, self.agreeing, self.of, strict=self.strict)

    def __str__(self) -> str:
        share = f"{100 * self.agreeing / self.of:.2f} %" if self.of else "nothing compared"
        mark = "pass" if self.passed else "FAIL"
        wanted = f"{100 * THRESHOLDS[self.name]:g} %"
        return (
            f"{mark}  {self.release}  {self.name}: {self.agreeing} of {self.of}"
            f" ({share}, wanted {wanted})"
        )


def run_release(
    batch: Batch, repaired: int, workers: int, *, strict: bool
) -> tuple[list[Score], dict[str, Any]]:
    """Compare one release.

    Returns:
        Its scores, and the details for the report.
    """
    subject, exclusions = Kvsolve(), load_exclusions()
    outcomes = run_jobs(batch.release, list(draw(batch)), workers)
    args = tally(batch.release, _judged_to("args", outcomes), subject, exclusions)
    scope = tally(batch.release, _judged_to("attention", outcomes), subject, exclusions)
    refused = [o for o in outcomes if o["status"] == "rejected"]
    random.Random(batch.seed).shuffle(refused)
    repairs = check_repairs(batch.release, refused[:repaired], subject, exclusions, workers)
    told = {**figures(args, scope), REPAIRS: (repairs.accepted, repairs.proposed)}
    most = None if strict else SAMPLED_CASES
    cases, wrong = disagreements(batch.release, workers, most, batch.seed)
    if cases:
        told[CASES] = (cases - len(wrong), cases)
    scores = [Score(batch.release, name, *figure, strict) for name, figure in told.items()]
    details = {
        "seed": batch.seed,
        "platforms": list(batch.platforms),
        "args": args.to_dict(),
        "first_scope": scope.to_dict(),
        "repairs": repairs.to_dict(),
        "cases": {"run": cases, "wrong": wrong},
    }
    return scores, details


def _judged_to(stage: str, outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    return (outcome for outcome in outcomes if outcome["judged_to"] == stage)


def batch_of(release: str, seed: str, size: Size) -> Batch:
    """What to draw for a release; which GPU profiles, the seed tells."""
    platforms: list[str] = []
    if size.platforms:
        others = [name for name in TABLES["platforms"] if name not in ALWAYS]
        chance = random.Random(f"{seed} {release}")
        platforms = [*ALWAYS, *chance.sample(others, size.platforms - len(ALWAYS))]
    return Batch(release, seed, size.all_flags, size.first_scope, platforms)


def main() -> int:
    options = _options()
    started = time.monotonic()
    setup.install(options.release)
    print(f"environment ready after {time.monotonic() - started:.0f} s", flush=True)
    print(f"seed {options.seed} (give it as --seed to draw the same again)", flush=True)
    scores: list[Score] = []
    report: dict[str, Any] = {"seed": options.seed, "releases": {}}
    for release in options.release:
        size = SIZES[options.full, release in MAIN_RELEASES]
        batch = batch_of(release, options.seed, size)
        found, report["releases"][release] = run_release(
            batch, size.repaired, options.workers, strict=options.full
        )
        scores += found
        print("\n".join(map(str, found)))
        print(f"      {release}: done after {time.monotonic() - started:.0f} s", flush=True)
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(json.dumps(report, indent=1), encoding="utf-8")
    failed = sum(not score.passed for score in scores)
    print(f"report: {options.report}")
    print(f"{len(scores) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Hold kvsolve to the real validators.")
    parser.add_argument("--release", nargs="+", choices=RELEASES, default=list(RELEASES))
    parser.add_argument("--seed", default=str(int(time.time())), help="default: a fresh one")
    parser.add_argument("--full", action="store_true", help="as many as the published figures")
    parser.add_argument("--workers", type=int, default=MOST_WORKERS)
    parser.add_argument("--report", type=Path, default=Path("build/conformance.json"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
