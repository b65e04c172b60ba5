"""How long it takes to decide which pairs of values some valid configuration has.

Run with ``python benchmarks/bench_support.py [RELEASE [GPU [MODEL PROFILE]]]``: all flags that some
entry of the context reads, every pair of their values.
"""

from __future__ import annotations

from whole_pack import asked, timed

from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.support import support_of


def main() -> None:
    question = asked()
    with timed("lowering") as told:
        lowered = lower(question.context, question.config, held=question.held)
        told.append(f"{len(lowered.dests)} flags, {sum(map(len, lowered.states))} values")
    with timed("support of all pairs") as told:
        found = support_of(lowered)
        together = sum(row.bit_count() for row in found.together) // 2
        apart = sum(row.bit_count() for row in found.apart) // 2
        told.append(f"classes: {together} pairs supported, {apart} not, of living values")
        told.append("complete" if found.complete else "not complete")


if __name__ == "__main__":
    main()
