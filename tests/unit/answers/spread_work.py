"""Work for the workers of the tests: a module that other processes can import."""

from __future__ import annotations

import os

from kvsolve.errors import KvsolveError


def work(shared: int, item: int) -> int:
    if item == 99:
        raise KvsolveError(f"{item} is too much")
    if item == 66:
        os._exit(3)
    return shared * item


def place(shared: None, item: int) -> int:
    print("talk goes to stderr, not among the answers")
    return os.getpid()
