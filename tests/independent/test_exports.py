"""Exports mean to other tools what a check says.

SMT-LIB is read by z3, UVL by flamapy (in its own environment), DIMACS and WCNF by PySAT. No solver
of MiniZinc comes from the package index, so that export is only read by the reader of
``tests/property/test_export_laws.py``.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
from itertools import product
from pathlib import Path

import pytest
import z3

from benchmarks.peers.making import model_of, narrowed
from benchmarks.peers.problem import Problem, Switched
from kvsolve.outputs.exports import EXPORTS
from kvsolve.solve.enumerate import iter_configs
from tests.independent.real import CONTEXTS, named, real, setting_of

ROOT = Path(__file__).parents[2]
FLAMAPY = ROOT / ".venv-flamapy" / "bin" / "python"
FEW = (
    "kv_cache_dtype",
    "is_embedding",
    "enable_mixed_chunk",
    "disable_radix_cache",
    "page_size",
    "enable_hierarchical_cache",
)
"""Flags that flamapy, which reads some hundred lines a second, can take."""
VARY = ("attention_backend", "kv_cache_dtype", "is_embedding", "enable_mixed_chunk")


@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_z3_reads_smtlib_and_allows_what_a_check_allows(context: tuple[str, str]) -> None:
    setting = setting_of(*context)
    lowered = narrowed(setting, dict.fromkeys([*VARY, "page_size"]))
    solver = z3.Solver()
    solver.from_string("\n".join(EXPORTS["smtlib"](lowered)))
    xs = [z3.Int(f"x{v}") for v in range(len(lowered.dests))]
    every = list(product(*(range(len(states)) for states in lowered.states)))
    kinds = set()
    for at in random.Random(1).sample(every, min(len(every), 400)):
        allowed = solver.check(*(x == n for x, n in zip(xs, at, strict=True))) == z3.sat
        config = lowered.config_at(at)
        trace = setting.prepared.trace(config)
        unknown = any(
            f.reason == "unknown"
            and setting.prepared.judges(f.step)
            and setting.prepared.decides(f.step)
            for f in trace.failures
        )
        valid = not setting.prepared.broken(config) and not unknown
        assert allowed == valid, config.given
        kinds.add(allowed)
    assert kinds == {True, False}


def test_z3_reads_the_whole_smtlib_export_and_judges_commands() -> None:
    found = real(*CONTEXTS[0])
    lowered = found.lowering.refusing
    solver = z3.Solver()
    solver.from_string("\n".join(EXPORTS["smtlib"](lowered)))
    xs = [z3.Int(f"x{v}") for v in range(len(lowered.dests))]
    prepared = found.setting.prepared
    for config, query in found.commands[:15]:
        assert solver.check(*(x == n for x, n in zip(xs, query.start, strict=True))) == z3.unsat
        assert prepared.broken(config)
    valid = [0] * len(xs)
    assert not prepared.broken(lowered.config_at(valid))
    assert solver.check(*(x == n for x, n in zip(xs, valid, strict=True))) == z3.sat


@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_flamapy_reads_uvl_and_counts_what_is_listed(
    context: tuple[str, str], tmp_path: Path
) -> None:
    if not FLAMAPY.exists() and not os.environ.get("KVSOLVE_INDEPENDENT"):
        pytest.skip("flamapy is not installed: make independent")
    setting = setting_of(*context)
    model = model_of(narrowed(setting, dict.fromkeys(FEW)), to=("uvl",))
    nothing = Switched([], 0, ())
    problem = Problem("", "", "", 1, model, model, nothing, model, model, model, (), (), (), 0)
    path = tmp_path / "problem.pickle"
    path.write_bytes(pickle.dumps(problem))
    command = [str(FLAMAPY), "-m", "benchmarks.peers.worker", "flamapy", str(path)]
    command += ["--limit", "60", "--only", "enumerate", "--only", "count"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    answers = {s["operation"]: s["answer"] for s in said if s["kind"] == "time"}
    own = sum(1 for _ in iter_configs(setting.prepared, setting.empty, FEW))
    assert (answers["enumerate"], answers["count"]) == (own, own)
