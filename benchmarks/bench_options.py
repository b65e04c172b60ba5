"""How long it takes to tell what flags may still be.

Run with ``python benchmarks/bench_options.py [RELEASE [GPU [MODEL]]]``. The command names the model
only. Each flag is asked about by itself, twice, with a limit of some seconds for those in which it
is hard to show that nothing is left. Times are of the processor.
"""

from __future__ import annotations

import sys
import time

from bench_repair import nothing_kept, prepare
from figures import Figures

from kvsolve.model.context import Config
from kvsolve.packs.pack import newest
from kvsolve.solve.domains import default_of
from kvsolve.solve.network import network_of
from kvsolve.solve.options import options

LIMIT_S = 3


def main() -> None:
    usual = (newest(), "h100", "meta-llama/Llama-3.1-8B-Instruct")
    release, gpu, model = (*sys.argv[1:4], *usual[len(sys.argv) - 1 :])
    nothing_kept()
    prepared = prepare(release, gpu, model)
    flags = prepared.pack.flags
    fixed = {flags.by_spelling(s).dest: model for s in flags.required}
    values = {d: default_of(flags, d) for d in flags.fields} | fixed
    config = Config(values, {d: flags.flag(d).name for d in fixed})
    dests = [d for d in flags.fields if d in network_of(prepared).dests]
    print(f"{release} on {gpu}, {model}: {len(dests)} flags")
    for round_ in ("first round", "second round"):
        figures, open_ = Figures(), 0
        for dest in dests:
            start = time.process_time()
            found = options(prepared, config, [dest], time_limit=LIMIT_S)
            figures.add((time.process_time() - start) * 1000)
            open_ += any(value.ok is None for flag in found for value in flag.values)
        print(
            f"  {round_}: one flag, {figures}; all flags {sum(figures.times):.0f} ms;"
            f" {open_} flags not told in full in {LIMIT_S} s"
        )


if __name__ == "__main__":
    main()
