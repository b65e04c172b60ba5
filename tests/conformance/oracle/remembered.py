"""Results that a release keeps for the life of a process, though they depend on the environment.

A worker answers many jobs, each with variables of its own; a real launch is one process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["forget_environment"]

READERS = frozenset({"envs", "environ", "getenv", "get_bool_env_var", "get_int_env_var"})


def forget_environment() -> None:
    """Empty the caches of the functions that read environment variables."""
    for function in _cached():
        wrapped = getattr(function, "__wrapped__", None)
        code = getattr(wrapped, "__code__", None)
        if code is not None and not READERS.isdisjoint(code.co_names):
            function.cache_clear()


def _cached() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if name.startswith("sglang."):
            for value in list(vars(module).values()):
                if type(value).__name__ == "_lru_cache_wrapper":
                    yield value
