"""How long proofs take that pins allow nothing, and the conflicts that are told.

Run with ``python benchmarks/bench_conflict.py [RELEASE [GPU [MODEL]]]``. The commands are those of
``bench_repair.py``, everything typed being pinned; each is asked twice, the second time with what
the first round has learned of the context. Times are of the processor.
"""

from __future__ import annotations

import sys
import time

from bench_repair import invalid_configs, nothing_kept, prepare
from figures import Figures

from kvsolve.packs.pack import newest
from kvsolve.solve.conflict import conflict

COMMANDS = 100
LIMIT_S = 10


def main() -> None:
    usual = (newest(), "h100", "meta-llama/Llama-3.1-8B-Instruct")
    release, gpu, model = (*sys.argv[1:4], *usual[len(sys.argv) - 1 :])
    nothing_kept()
    prepared = prepare(release, gpu, model)
    drawn = invalid_configs(prepared, model)
    configs = [config for _, config in zip(range(COMMANDS), drawn, strict=False)]
    print(f"{release} on {gpu}, {model}: {COMMANDS} commands, everything typed pinned")
    for round_ in ("first round", "second round"):
        told, none, late = Figures(), Figures(), Figures()
        for config in configs:
            start = time.process_time()
            try:
                found = conflict(prepared, config, deadline=time.monotonic() + LIMIT_S)
            except TimeoutError:
                kind = late
            else:
                kind = none if found is None else told
            kind.add((time.process_time() - start) * 1000)
        for name, figures in (("conflicts", told), ("without", none), ("not in time", late)):
            if figures.times:
                print(f"  {round_}, {len(figures.times)} {name}: {figures}")


if __name__ == "__main__":
    main()
