"""How long a model of a context takes, from the compiled pack: as far as a first question needs it.

Run with ``python benchmarks/bench_model.py [RELEASE [GPU [MODEL]]]``. Each time is of a process of
its own: with nothing kept of the context (cold) and with what an earlier one has kept (kept). Times
are of the processor.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figures

from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import gpu_profile
from kvsolve.inputs.models import find_model
from kvsolve.model.context import Context
from kvsolve.packs.pack import load_pack, newest
from kvsolve.solve.check import Prepared
from kvsolve.solve.network import network_of

ROUNDS = 10


def build(release: str, gpu: str, model: str) -> float:
    """Milliseconds from a loaded pack to a circuit that has its values."""
    # Modules are loaded once for all contexts, and are not part of the model.
    import kvsolve.packs.program_table
    import kvsolve.solve.board
    import kvsolve.solve.kept  # noqa: F401

    facts = context_facts(release, gpu_profile(gpu), find_model(model))
    prepared = Prepared(load_pack(release), Context(release, gpu, 8, model, "table", facts))
    start = time.process_time()
    network = network_of(prepared)
    network.board_of(prepared.pack.flags).follower.grow()
    return (time.process_time() - start) * 1000


def in_a_process(question: tuple[str, str, str]) -> float:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--once", *question]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    if sys.argv[1:2] == ["--once"]:
        print(build(*sys.argv[2:5]))
        return
    usual = (newest(), "h100", "meta-llama/Llama-3.1-8B-Instruct")
    release, gpu, model = (*sys.argv[1:4], *usual[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KVSOLVE_CACHE_DIR"] = folder
        load_pack(release)
        cold, kept = Figures(), Figures()
        for _ in range(ROUNDS):
            shutil.rmtree(Path(folder) / "contexts", ignore_errors=True)
            cold.add(in_a_process((release, gpu, model)))
            kept.add(in_a_process((release, gpu, model)))
    print(f"{release} on {gpu}, {model}: a model from the compiled pack")
    print(f"  cold: {cold}")
    print(f"  kept: {kept}")


if __name__ == "__main__":
    main()
