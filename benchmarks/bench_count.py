"""How long counts and uniform samples take.

Run with ``python benchmarks/bench_count.py [RELEASE [GPU [MODEL PROFILE]]]``: over the flags of the
first scope exactly, over all flags that some entry reads as far as half a minute gets.
"""

from __future__ import annotations

import random
import time

from whole_pack import asked, first_scope, timed

from kvsolve.solve.count import bounds
from kvsolve.solve.lowering.counting import Counting
from kvsolve.solve.lowering.lower import free_flags, lower
from kvsolve.solve.network import network_of

LIMIT_S = 30


def main() -> None:
    question = asked()
    network = network_of(question.context)
    scope = first_scope(question)
    with timed("count of the first scope") as told:
        lowered = lower(question.context, question.config, vary=dict.fromkeys(scope))
        counting = Counting(lowered)
        told.append(f"{len(scope)} flags, {counting.lower} configurations, exact")
    with timed("1,000 uniform samples with it"):
        source = random.Random(0)
        for _ in range(1000):
            lowered.config_at(counting.draw(source))
    every = [
        dest
        for dest in free_flags(question.context, network)
        if dest not in question.config.given and dest not in question.held
    ]
    with timed("bounds of the count of all") as told:
        start = time.monotonic()
        found = bounds(question.context, question.config, every, time_limit=LIMIT_S)
        told.append(f"{len(every)} flags, between {found.lower:.3g} and {found.upper:.3g}")
        told.append(f"{time.monotonic() - start:.0f} s by the clock")


if __name__ == "__main__":
    main()
