"""What a check costs in-process: in a context already in use, and in one that is new.

Processor time; the median over random commands.
"""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import TYPE_CHECKING

from commands import RELEASES, random_lines

from kvsolve.answers.asking import session
from kvsolve.session import Request
from kvsolve.solve.check import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.session import Question

COMMANDS = 600
PREPARED_US, UNPREPARED_MS = 300, 5


def questions(release: str) -> list[Question]:
    """Random commands for one release, each in its context."""
    lines = [line for line in random_lines(COMMANDS) if line["sglang"] == release]
    asked = []
    for line in lines:
        argv, gpu, family = line["argv"], line["gpu"], line["family"]
        asked.append(session().ask(Request(argv, sglang=release, gpu=gpu, family=family)))
    return asked


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def prepared(release: str) -> tuple[float, float]:
    """Microseconds a check once its context is in use: median, and 95 of 100."""
    asked = questions(release)
    for question in asked:
        question.context.expect_many(question.config)
    times = []
    for question in asked:
        best = min(seconds(lambda q=question: check(q.context, q.config)) for _ in range(5))  # type: ignore[misc]
        times.append(best * 1e6)
    return median(times), sorted(times)[int(len(times) * 0.95)]


def unprepared(release: str) -> float:
    """Milliseconds to read and judge a command in a context never seen."""
    argv = ["--model-path", "m", "--is-embedding", "--kv-cache-dtype", "fp8_e4m3"]

    def whole(gpus: int) -> None:
        request = Request(argv, sglang=release, gpu="h100", family="llama-mha", gpus=gpus)
        session().check(request)

    whole(100)
    return median(seconds(lambda n=n: whole(n)) * 1e3 for n in range(1, 30))  # type: ignore[misc]


def main() -> int:
    met = True
    for release in RELEASES:
        usual, slow = prepared(release)
        fresh = unprepared(release)
        print(
            f"check, {release}, context in use {usual:5.0f} us, 95% {slow:5.0f} us"
            f" (target: at most {PREPARED_US})"
        )
        print(f"check, {release}, new context    {fresh:5.1f} ms (target: at most {UNPREPARED_MS})")
        met = met and usual <= PREPARED_US and fresh <= UNPREPARED_MS
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
