"""How long the whole matrix takes, with the reasons of every clash and the edits of every value.

Run with ``python benchmarks/bench_matrix.py [RELEASE [GPU [MODEL PROFILE]]]``. Workers on the other
cores are counted apart.
"""

from __future__ import annotations

import resource
import time

from whole_pack import asked, timed

from kvsolve.answers.full import full_of


def main() -> None:
    question = asked()
    start = time.monotonic()
    with timed("matrix of all pairs") as told:
        found = full_of(question.request)
        told.append(f"{found['counts']}, {len(found['pairs'])} blocks of clashes")
        told.append("complete" if found["complete"] else "not complete")
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"  workers: {workers.ru_utime + workers.ru_stime:.1f} s, the largest "
        f"{workers.ru_maxrss / 1024:.0f} MB; {time.monotonic() - start:.0f} s by the clock"
    )


if __name__ == "__main__":
    main()
