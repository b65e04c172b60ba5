"""Check many jobs: ``python -m conformance.oracle.run --release 0.5.18 < jobs.jsonl > out.jsonl``.

A job is a line ``{"id", "argv", "platform", "model", "env"?, "judged_to"?}``; its outcome comes out
in the order of the input, with the platform and the model added. One process serves one platform
at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from .home import RELEASES, TESTS, python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["check_all"]

MOST_WORKERS = 2
CHUNK = 4000
"""Jobs one worker process takes before it is replaced."""

Job = dict[str, Any]


def check_all(release: str, jobs: Sequence[Job], *, workers: int = MOST_WORKERS) -> list[Job]:
    """What the release says to each job, in their order.

    Args:
        release: A release that ``setup`` installed.
        jobs: ``id``, ``argv``, ``platform``, ``model`` and optionally ``env`` and ``judged_to``,
            the last stage to run: ``args``, or all stages.
        workers: Processes at a time.

    Returns:
        One outcome a job. A worker that dies makes its job a ``harness-error``; the others go on.
    """
    outcomes: list[Job] = [{} for _ in jobs]

    def serve(task: tuple[str, list[int]]) -> None:
        platform, places = task
        answers = _serve(release, platform, [jobs[i] for i in places])
        for place, outcome in zip(places, answers, strict=True):
            named = {"platform": platform, "model": jobs[place].get("model")}
            outcomes[place] = {**outcome, **named}

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(serve, _tasks(jobs, workers)))
    return outcomes


def _tasks(jobs: Sequence[Job], workers: int) -> list[tuple[str, list[int]]]:
    """Jobs by platform, largest group first, large groups cut up."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, job in enumerate(jobs):
        groups[job["platform"]].append(place)
    tasks = []
    for platform, places in groups.items():
        parts = max(1, min(workers, len(places) // 300), -(-len(places) // CHUNK))
        tasks += [(platform, places[part::parts]) for part in range(parts)]
    return sorted(tasks, key=lambda task: -len(task[1]))


def _serve(release: str, platform: str, jobs: list[Job]) -> Iterator[Job]:
    """Answer jobs with one worker, starting another one where it dies."""
    remaining = list(jobs)
    while remaining:
        answered = 0
        for outcome in _one_worker(release, platform, remaining):
            yield outcome
            answered += 1
        if answered < len(remaining):
            yield {"id": remaining[answered].get("id"), **DEATH}
            answered += 1
        remaining = remaining[answered:]


DEATH = {
    "status": "harness-error",
    "stage": "args",
    "step": "worker",
    "type": "WorkerDied",
    "message": "the worker process ended",
}


def _one_worker(release: str, platform: str, jobs: Iterable[Job]) -> Iterator[Job]:
    command = [
        *(python(), "-P", "-m", "conformance.oracle.validator"),
        *("--release", release, "--platform", platform),
    ]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"}
    worker = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    with worker as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError(f"the validator of {release} does not start on {platform}")
        for job in jobs:
            try:
                process.stdin.write(json.dumps(job) + "\n")
                process.stdin.flush()
            except BrokenPipeError:
                return
            answer = process.stdout.readline()
            if not answer:
                return
            yield json.loads(answer)
        process.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Check jobs from stdin against one release.")
    parser.add_argument("--release", required=True, choices=RELEASES)
    parser.add_argument("--workers", type=int, default=MOST_WORKERS)
    parser.add_argument("--args-only", action="store_true", help="judge every job to args")
    options = parser.parse_args()
    jobs = [json.loads(line) for line in sys.stdin if line.strip()]
    if options.args_only:
        jobs = [{**job, "judged_to": "args"} for job in jobs]
    for outcome in check_all(options.release, jobs, workers=options.workers):
        print(json.dumps(outcome))


if __name__ == "__main__":
    main()
