"""One solver in a process of its own: asks it the questions and prints times, a JSON object a line.

A limit is of processor time and is set with a timer of the process, which also ends code that never
comes back to Python. Whoever started it sees the signal.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import resource
import signal
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.solvers import PEERS, peer
from benchmarks.peers.solvers.peer import OPERATIONS, Absent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.peers.problem import Problem, Query
    from benchmarks.peers.solvers.peer import Peer

__all__ = ["main"]

_OF_COMMANDS = {"nearest": "invalid", "alternatives": "invalid", "conflict": "stuck"}
_BUILD_S = 20
"""Seconds that building a model may take at least, however short the limit of questions is."""
_ALL = 3
"""Commands for which the options of all flags are asked."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="worker", description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("problem", type=Path)
    parser.add_argument("--limit", type=float, required=True, help="seconds for an operation")
    parser.add_argument("--skip", action="append", default=[], choices=OPERATIONS)
    parser.add_argument("--only", action="append", default=[], choices=OPERATIONS)
    wanted = parser.parse_args()
    problem: Problem = pickle.loads(wanted.problem.read_bytes())
    # The solver's own start-up counts as building: its module is imported with its class.
    with_limit("build", max(wanted.limit, _BUILD_S))
    start = time.process_time()
    solver = peer(wanted.peer, problem)
    imported = time.process_time() - start
    tell(kind="about", versions=versions(solver), how=solver.how, import_ms=imported * 1000)
    built = ask(solver, "build", [()])
    for operation in OPERATIONS[1:]:
        if operation in wanted.skip or (wanted.only and operation not in wanted.only):
            continue
        if not built and operation in ("nearest", "conflict", "alternatives", "options_one"):
            continue
        with_limit(operation, wanted.limit)
        ask(solver, operation, list(questions(problem, operation)))
    signal.setitimer(signal.ITIMER_PROF, 0)


def versions(solver: Peer) -> dict[str, str]:
    """Version of each distribution that a solver needs."""
    return {name: metadata.version(name) for name in solver.distributions}


def with_limit(operation: str, seconds: float) -> None:
    """Let an operation run so long; the process ends then."""
    tell(kind="start", operation=operation)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def questions(problem: Problem, operation: str) -> Iterator[tuple[Any, ...]]:
    """The arguments of each call."""
    if operation in _OF_COMMANDS:
        yield from ((query,) for query in getattr(problem, _OF_COMMANDS[operation]))
    elif operation == "options_one":
        yield from ((query, open_flag(problem, query)) for query in problem.partial)
    elif operation == "options_all":
        yield from ((query,) for query in problem.partial[:_ALL])
    else:
        yield ()


def open_flag(problem: Problem, query: Query) -> int:
    """A flag to ask about: another one for each command."""
    sizes = problem.refusing.sizes
    several = [v for v, size in enumerate(sizes) if size > 1 and v not in query.pins]
    return several[problem.partial.index(query) * 7919 % len(several)]


def ask(solver: Peer, operation: str, calls: list[tuple[Any, ...]]) -> bool:
    """Call an operation so often; whether the solver has it."""
    call: Callable[..., Any] = getattr(solver, operation)
    for arguments in calls:
        start = time.process_time()
        try:
            answer = call(*arguments)
        except Absent:
            tell(kind="absent", operation=operation)
            return False
        except NotImplementedError:
            tell(kind="absent", operation=operation)
            return False
        milliseconds = (time.process_time() - start) * 1000
        tell(kind="time", operation=operation, ms=milliseconds, answer=answer, rss_mib=peak())
        if operation == "build" and hasattr(solver, "warm"):
            solver.warm()
    return True


def peak() -> float:
    """The most memory that the process had, in MiB."""
    try:
        # The peak that getrusage knows is not less than what the starting process held.
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
