"""Record verdicts for the ordinary tests: ``python -m conformance.record_verdicts``.

Draws with the seed named, asks the real validators and writes
``recorded/verdicts-<release>.jsonl.gz``.
"""

from __future__ import annotations

import argparse

from .batches import Batch, draw, run_jobs
from .oracle.home import RELEASES, transformers_site
from .oracle.setup import TORCH
from .sampling import flag_table
from .verdict_file import recorded_path, write_verdicts

__all__ = ["record"]

ALL_FLAGS, FIRST_SCOPE = 700, 300
WORTH_RECORDING = ("ok", "rejected", "parse-error")


def record(batch: Batch, workers: int) -> int:
    """Write one release's recording.

    Returns:
        How many verdicts it holds; harness errors and missing packages are left out.
    """
    defaults = flag_table(batch.release).fields
    outcomes = [
        outcome
        for outcome in run_jobs(batch.release, list(draw(batch)), workers)
        if outcome["status"] in WORTH_RECORDING and not outcome.get("missing_package")
    ]
    header = {
        "release": batch.release,
        "command": f"python -m conformance.record_verdicts --release {batch.release}"
        f" --seed {batch.seed} --platforms {' '.join(batch.platforms)}".removesuffix(
            " --platforms "
        ),
        "seed": batch.seed,
        "platforms": list(batch.platforms),
        "verdicts": len(outcomes),
        "versions": {"torch": TORCH, "transformers": transformers_site(batch.release).name},
    }
    write_verdicts(recorded_path(batch.release), header, outcomes, defaults)
    return len(outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description="Record verdicts of the real validators.")
    parser.add_argument("--release", action="append", choices=RELEASES)
    parser.add_argument("--seed", default="recorded")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--platforms", nargs="*", default=[], help="default: all")
    options = parser.parse_args()
    for release in options.release or RELEASES:
        batch = Batch(release, options.seed, ALL_FLAGS, FIRST_SCOPE, options.platforms)
        print(f"{release}: {record(batch, options.workers)} verdicts", flush=True)


if __name__ == "__main__":
    main()
