"""Measures kvsolve beside other solvers and writes what it found as JSON and as tables.

Every solver works on the same specialised pack in a process of its own. Times are of the processor,
per question, with the model built before.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import signal
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.making import make_problem
from benchmarks.peers.solvers import PEERS
from benchmarks.peers.solvers.peer import OPERATIONS
from benchmarks.peers.tables import in_page, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
CONTEXTS = (("h100", "meta-llama/Llama-3.1-8B-Instruct"), ("b200", "deepseek-v4"))
"""The usual context, and the one with the most clauses (docs/performance.md)."""
GROWING = ("build", "nearest", "conflict", "alternatives", "options_one", "count", "support")
GROWN = ("kvsolve", "PySAT", "clingo")
OWN_TIMES = 4
"""kvsolve gets so many times the limit, so that a target it misses shows by how much."""
SAME = ("nearest", "alternatives", "enumerate", "count", "million")
"""Operations whose answers must be the same for all solvers that give one."""


def main() -> int:
    # What earlier runs learned of a context is not to help; the pack is compiled for this run.
    with tempfile.TemporaryDirectory() as cache:
        os.environ["KVSOLVE_CACHE_DIR"] = cache
        return asked()


def asked() -> int:
    """What the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--release", default="0.5.23")
    parser.add_argument("--quick", action="store_true", help="few questions, three minutes at most")
    parser.add_argument("--limit", type=float, help="seconds of an operation (30; quick: 4)")
    parser.add_argument("--commands", type=int, help="commands of each kind (30; quick: 5)")
    parser.add_argument("--only", action="append", choices=PEERS, help="only these solvers")
    parser.add_argument("--first", action="store_true", help="only the first context, no copies")
    parser.add_argument("--json", type=Path, help="write the measurements there")
    parser.add_argument("--page", type=Path, help="rewrite the tables of this page")
    wanted = parser.parse_args()
    limit = wanted.limit or (4 if wanted.quick else 30)
    commands = wanted.commands or (5 if wanted.quick else 30)
    short = wanted.quick or wanted.first
    results: dict[str, Any] = {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {sys.version.split()[0]}",
        "date": time.strftime("%Y-%m-%d"),
        "limit_s": limit,
        "own_limit_s": limit * OWN_TIMES,
        "contexts": [],
    }
    for gpu, model in CONTEXTS[:1] if short else CONTEXTS:
        peers = wanted.only or list(PEERS)
        for context in measure(wanted.release, gpu, model, peers, limit, commands):
            keep(results, context, wanted)
    if not short:
        grown = [name for name in GROWN if name in (wanted.only or GROWN)]
        for copies in (2, 4):
            asked_of = (wanted.release, *CONTEXTS[0], grown, limit, commands // 2)
            for context in measure(*asked_of, copies=copies, only=GROWING):
                keep(results, context, wanted)
    print(written(results))
    wrong = [line for context in results["contexts"] for line in context["differences"]]
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def keep(results: dict[str, Any], context: dict[str, Any], wanted: argparse.Namespace) -> None:
    """Write what is known of a context by now: a run takes long, and may be interrupted."""
    contexts = results["contexts"]
    if contexts and all(contexts[-1][part] == context[part] for part in ("title", "copies")):
        contexts.pop()
    contexts.append(context)
    if wanted.json:
        wanted.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if wanted.page:
        wanted.page.write_text(in_page(wanted.page.read_text("utf-8"), results), "utf-8")


def measure(
    release: str,
    gpu: str,
    model: str,
    peers: Sequence[str],
    limit: float,
    commands: int,
    *,
    copies: int = 1,
    only: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """One context, told again after each solver."""
    say(f"{release} on {gpu}, {model}, {copies} times: making the problem")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "problem.pickle")
        problem = make_problem(release, gpu, model, copies=copies, commands=commands)
        path.write_bytes(pickle.dumps(problem))
        for name in peers:
            say(f"  {name}")
            own = limit * OWN_TIMES if name == "kvsolve" else limit
            found[name] = run(name, path, own, only)
            yield {
                "title": problem.title,
                "copies": copies,
                "flags": len(problem.refusing.flags),
                "classes": sum(problem.refusing.sizes),
                "clauses": len(problem.switched.clauses),
                "entries": len(problem.switched.switches),
                "pending": problem.pending,
                "scope": len(problem.scope.flags),
                "commands": commands,
                "peers": found,
                "differences": list(differences(found)),
            }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def interpreter(name: str) -> str:
    """The Python that has a solver: its own environment where the solver needs one."""
    own = ROOT / ".venv-flamapy" / "bin" / "python"
    return str(own) if name == "flamapy" else sys.executable


def run(name: str, path: Path, limit: float, only: Sequence[str]) -> dict[str, Any]:
    """One solver, started again after each operation that ran out of time."""
    found: dict[str, Any] = {op: {"ms": [], "answers": [], "state": "absent"} for op in OPERATIONS}
    about: dict[str, Any] = {}
    done: list[str] = [op for op in OPERATIONS[1:] if only and op not in only]
    for operation in done:
        found[operation]["state"] = "not asked"
    while True:
        command = [interpreter(name), "-m", "benchmarks.peers.worker", name, str(path)]
        command += ["--limit", str(limit), *(word for op in done for word in ("--skip", op))]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            last = "build"
            for line in process.stdout:
                said = json.loads(line)
                if said["kind"] == "about":
                    about = said
                elif said["kind"] == "start":
                    last = said["operation"]
                    done.append(last) if last not in done else None
                else:
                    note(found[said["operation"]], said)
            error = process.stderr.read()
        if process.returncode == 0:
            break
        timed_out = process.returncode == -signal.SIGPROF
        found[last]["state"] = "timeout" if timed_out else "failed"
        if not timed_out:
            found[last]["error"] = error.strip().splitlines()[-1:]
            say(f"    {last}: {error.strip().splitlines()[-1:]}")
        if last == "build":
            # What needs no model of all flags is still asked.
            done += [op for op in OPERATIONS[1:] if op not in done and op not in OF_SCOPE]
            done.append("build") if "build" not in done else None
            if set(OPERATIONS) <= set(done):
                break
    return {**{k: about.get(k) for k in ("versions", "how", "import_ms")}, "operations": found}


OF_SCOPE = ("enumerate", "million", "count", "sample", "cover_scope")


def note(operation: dict[str, Any], said: dict[str, Any]) -> None:
    """Keep what a worker said of an operation."""
    if said["kind"] == "absent":
        return
    operation["state"] = "done"
    operation["ms"].append(round(said["ms"], 3))
    operation["answers"].append(said["answer"])
    operation["rss_mib"] = round(said["rss_mib"])


def differences(found: dict[str, Any]) -> Iterator[str]:
    """Answers that are not the same for all solvers."""
    for operation in SAME:
        told = {name: of["operations"][operation]["answers"] for name, of in found.items()}
        for number, answers in enumerate(zip_longest(*told.values())):
            given = {
                name: answer
                for name, answer in zip(told, answers, strict=True)
                if answer is not None
            }
            if len({json.dumps(answer) for answer in given.values()}) > 1:
                yield f"{operation}, question {number}: {given}"


if __name__ == "__main__":
    sys.exit(main())
