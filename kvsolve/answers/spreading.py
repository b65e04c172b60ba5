"""Spreading work over cores: worker processes of our own, fed through pipes.

Not :mod:`multiprocessing`: its processes either are forks, which threads make unsafe, or import the
caller's script again, which then has to be written for that. A worker here is a fresh interpreter
that imports kvsolve and nothing of the caller's.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO

__all__ = ["cores", "serve", "spread"]

_START = "from kvsolve.answers.spreading import serve; serve()"


def cores() -> int:
    """How many processes can run at once here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], workers: int
) -> Iterator[Any]:
    """The answers of a function for each item, in the order of the items.

    Args:
        function: A function of a module, called with ``shared`` and an item; all three and the
            answer must be fit for :mod:`pickle`.
        shared: What is the same for all items.
        items: What to work on; the dear ones first is best.
        workers: How many processes; with one, or where none can be started, all is done here.

    Raises:
        KvsolveError: As the function does; that of the first such item.
    """
    count = min(workers, len(items))
    started = _started(count) if count > 1 else []
    if not started:
        yield from (function(shared, item) for item in items)
        return
    name = f"{function.__module__}:{function.__qualname__}"
    try:
        found = _fed(started, (name, shared), deque(enumerate(items)))
    finally:
        for worker in started:
            worker.communicate()
    for number in range(len(items)):
        answer = found[number]
        if isinstance(answer, KvsolveError):
            raise answer
        yield answer


def _started(count: int) -> list[subprocess.Popen[bytes]]:
    """Fresh interpreters that wait for work; none where that is impossible."""
    if not sys.executable:
        return []
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    pipe = subprocess.PIPE
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            started.append(
                subprocess.Popen(
                    [sys.executable, "-c", _START],
                    stdin=pipe,
                    stdout=pipe,
                    env={**os.environ, "PYTHONPATH": paths},
                )
            )
    except OSError:
        for worker in started:
            worker.kill()
            worker.communicate()
        return []
    return started


def _fed(
    workers: Sequence[subprocess.Popen[bytes]],
    task: tuple[str, Any],
    waiting: deque[tuple[int, Any]],
) -> dict[int, Any]:
    """The answers by number; the workers have ended when it returns, whatever happens."""
    with ThreadPoolExecutor(len(workers)) as threads:
        try:
            futures = [threads.submit(_feed, worker, task, waiting) for worker in workers]
            return dict(pair for future in futures for pair in future.result())
        finally:  # before the threads are waited for, which read what the workers write
            waiting.clear()
            for worker in workers:
                worker.kill()


def _feed(
    worker: subprocess.Popen[bytes], task: tuple[str, Any], waiting: deque[tuple[int, Any]]
) -> list[tuple[int, Any]]:
    """Give a worker one item after the other until none waits."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    found: list[tuple[int, Any]] = []
    try:
        _write(worker.stdin, task)
        while True:
            try:
                number, item = waiting.popleft()
            except IndexError:
                return found
            _write(worker.stdin, item)
            found.append((number, pickle.load(worker.stdout)))
    except (EOFError, OSError, pickle.UnpicklingError):
        raise KvsolveError(
            f"a worker process ended before its work was done (exit code {worker.wait()})"
        ) from None


def _write(stream: IO[bytes], value: Any) -> None:
    pickle.dump(value, stream)
    stream.flush()


def serve() -> None:
    """Work for another process of kvsolve: items come on stdin, answers go to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that is asked ends the others
    items, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        name, shared = pickle.load(items)
        module, _, attribute = name.partition(":")
        function = getattr(import_module(module), attribute)
        while True:
            item = pickle.load(items)
            try:
                answer = function(shared, item)
            except KvsolveError as error:
                answer = error
            _write(answers, answer)
    except (EOFError, BrokenPipeError):
        return
