"""How long lists over some flags take.

Run with ``python benchmarks/bench_enumerate.py [RELEASE [GPU [MODEL PROFILE]]]``. The other flags
are held. Combinations are given as states of the flags; the first list is also made into whole
configurations.
"""

from __future__ import annotations

from collections import deque
from math import prod

from whole_pack import asked, first_scope, timed

from kvsolve.solve.lowering.configurations import Configurations
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.lowering.tables import assignments
from kvsolve.solve.network import network_of

PRODUCTS = (400_000, 4_000_000)


def main() -> None:
    question = asked()
    network_of(question.context)
    scope = first_scope(question)
    for most in PRODUCTS:
        chosen: list[str] = []
        lowered: Lowered | None = None
        for dest in scope:
            wider = lower(question.context, question.config, vary=dict.fromkeys([*chosen, dest]))
            if prod(map(len, wider.states)) <= most:
                chosen, lowered = [*chosen, dest], wider
        assert lowered is not None
        product = prod(map(len, lowered.states))
        with timed(f"list over {product} combinations of {len(chosen)} flags") as told:
            number = sum(1 for _ in assignments(lowered))
            told.append(f"{number} valid")
        if most == PRODUCTS[0]:
            with timed("the same as configurations"):
                deque(map(Configurations(lowered).at, assignments(lowered)), maxlen=0)


if __name__ == "__main__":
    main()
