"""How long a repair takes: random invalid commands in one prepared context.

Run with ``python benchmarks/bench_repair.py [RELEASE [GPU [MODEL]]]``. Commands are drawn with a
fixed seed: a few random flags at random representatives; those that nothing refuses are left out.
Times are of the processor, per command, in a context that was prepared before: in a first round in
which nothing is known of it, and in a second one with what the first has learned.
"""

from __future__ import annotations

import atexit
import os
import random
import shutil
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from figures import Figures

from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import gpu_profile
from kvsolve.inputs.models import find_model
from kvsolve.model.context import Config, Context
from kvsolve.packs.pack import load_pack, newest
from kvsolve.solve.check import Prepared
from kvsolve.solve.domains import default_of, domain_of
from kvsolve.solve.network import network_of
from kvsolve.solve.repair import Repairs, repair
from kvsolve.solve.space import spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = 200
SEED = 20
WITHIN_MS = 50


def prepare(release: str, gpu: str, model: str) -> Prepared:
    """The context, with everything made that a repair needs."""
    facts = context_facts(release, gpu_profile(gpu), find_model(model))
    prepared = Prepared(load_pack(release), Context(release, gpu, 8, model, "table", facts))
    network_of(prepared).board_of(prepared.pack.flags)
    return prepared


def invalid_configs(prepared: Prepared, model: str) -> Iterator[Config]:
    """Random commands that something refuses."""
    source = random.Random(SEED)
    flags, literals = prepared.pack.flags, network_of(prepared).literals
    fixed = {flags.by_spelling(s).dest: model for s in flags.required}
    values = {d: default_of(flags, d) for d in flags.fields} | fixed
    empty = Config(values, {d: flags.flag(d).name for d in fixed})
    choices = sorted(d for d in network_of(prepared).dests if flags.by_dest(d) and d not in fixed)
    while True:
        config = empty
        for dest in source.sample(choices, source.randint(1, 6)):
            states = domain_of(dest, empty, flags, literals).states
            typed = [s for s in states if s.typed]
            if typed:
                value = source.choice(typed).value
                given = {**config.given, dest: spelling(flags, dest, value)}
                config = Config({**config.values, dest: value}, given)
        if prepared.broken(config):
            yield config


def nothing_kept() -> None:
    """Keep away from what earlier processes learned of the context, which would be measured too."""
    os.environ["KVSOLVE_CACHE_DIR"] = tempfile.mkdtemp(prefix="kvsolve-bench-")
    atexit.register(shutil.rmtree, os.environ["KVSOLVE_CACHE_DIR"], ignore_errors=True)


def main() -> None:
    usual = (newest(), "h100", "meta-llama/Llama-3.1-8B-Instruct")
    release, gpu, model = (*sys.argv[1:4], *usual[len(sys.argv) - 1 :])
    nothing_kept()
    load_pack(release)
    for k in (1, 3, 10):
        prepared = prepare(release, gpu, model)
        prepared.expect_many(next(invalid_configs(prepared, model)))
        print(f"{release} on {gpu}, {model}, {k} alternatives")
        for round_ in ("first round", "second round"):
            report(round_, list(measure(prepared, model, k)))


def measure(prepared: Prepared, model: str, k: int) -> Iterator[tuple[float, Repairs]]:
    """Milliseconds and answer of each command."""
    for _, config in zip(range(COMMANDS), invalid_configs(prepared, model), strict=False):
        start = time.process_time()
        answer = repair(prepared, config, k=k, time_limit=10)
        yield (time.process_time() - start) * 1000, answer


def report(round_: str, rows: list[tuple[float, Repairs]]) -> None:
    figures = Figures()
    for milliseconds, _ in rows:
        figures.add(milliseconds)
    proven = sum(bool(a.repairs) and a.repairs[0].optimal for _, a in rows)
    print(
        f"  {round_}: {figures}; {figures.within(WITHIN_MS):.0%} within {WITHIN_MS} ms;"
        f" {proven} of {len(rows)} proven optimal"
    )


if __name__ == "__main__":
    main()
