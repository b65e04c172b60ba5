"""How long a covering array of the whole pack takes: every feasible pair of values of all flags.

Run with ``python benchmarks/bench_cover.py [RELEASE [GPU [MODEL PROFILE]]]``.
"""

from __future__ import annotations

from whole_pack import asked, timed

from kvsolve.solve.cover import cover
from kvsolve.solve.network import network_of


def main() -> None:
    question = asked()
    network_of(question.context)
    with timed("cover, t = 2") as told:
        found = cover(question.context, question.config, held=question.held)
        told.append(f"{len(found.rows)} rows, {len(found.infeasible)} pairs infeasible")
        told.append("complete" if found.complete else f"{found.left} pairs left")


if __name__ == "__main__":
    main()
