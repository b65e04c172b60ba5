"""A cached file of many parts, of which a start reads the few that it needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import overload
from weakref import finalize

from kvsolve.errors import KvsolveError
from kvsolve.packs.files import cache_directory, is_trusted, read_cached, write_cached

__all__ = ["CachedParts", "read_cached_parts", "write_cached_parts"]

_SIZE = 8
"""Bytes of a number."""


class CachedParts(Sequence[bytes]):
    """The parts of a cached file by position, each read when it is asked for.

    The file stays open, so one that is written anew meanwhile does not matter.

    Args:
        descriptor: The open file; closed when this object goes.
        start: Where in the file the parts begin.

    Raises:
        KvsolveError: The file cannot be read, also when a part is asked for.
    """

    def __init__(self, descriptor: int, start: int) -> None:
        self._descriptor = descriptor
        finalize(self, os.close, descriptor)
        count = _numbers(self._read(start, _SIZE))[0]
        start += _SIZE
        sizes = _numbers(self._read(start, count * _SIZE))
        self._starts = list(accumulate(sizes, initial=start + count * _SIZE))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, position: int) -> bytes: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[bytes]: ...
    def __getitem__(self, position: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(position, slice):
            return [self[at] for at in range(*position.indices(len(self)))]
        if not 0 <= position < len(self):
            raise IndexError(f"no part {position} among {len(self)}")
        start = self._starts[position]
        return self._read(start, self._starts[position + 1] - start)

    def _read(self, start: int, size: int) -> bytes:
        try:
            data = os.pread(self._descriptor, size, start)
        except OSError as error:
            raise KvsolveError(f"{cache_directory()}: {error.strerror}; {_WAY_OUT}") from None
        if len(data) < size:
            raise KvsolveError(f"{cache_directory()}: a file there is cut short; {_WAY_OUT}")
        return data


_WAY_OUT = "remove that folder, or name another with KVSOLVE_CACHE_DIR"


def write_cached_parts(name: str, key: str, parts: Sequence[bytes]) -> None:
    """Keep parts for the next start, as :func:`kvsolve.packs.files.write_cached` does."""
    sizes = (size.to_bytes(_SIZE, "big") for size in (len(parts), *map(len, parts)))
    write_cached(name, key, b"".join((*sizes, *parts)))


def read_cached_parts(name: str, key: str) -> Sequence[bytes] | None:
    """The parts kept under a name, if it was under the same key and by the same user."""
    if not hasattr(os, "pread"):  # Windows
        whole = read_cached(name, key)
        return None if whole is None else _apart(whole)
    head = key.encode() + b"\0"
    try:
        descriptor = os.open(cache_directory() / name, os.O_RDONLY)
    except OSError:
        return None
    if is_trusted(descriptor) and os.pread(descriptor, len(head), 0) == head:
        return CachedParts(descriptor, len(head))
    os.close(descriptor)
    return None


def _apart(data: memoryview) -> list[bytes]:
    """What :class:`CachedParts` gives, from a file that was read whole."""
    count = _numbers(data[:_SIZE])[0]
    start = _SIZE * (1 + count)
    ends = list(accumulate(_numbers(data[_SIZE:start]), initial=start))
    return [bytes(data[a:b]) for a, b in pairwise(ends)]


def _numbers(data: bytes | memoryview) -> list[int]:
    return [int.from_bytes(data[at : at + _SIZE], "big") for at in range(0, len(data), _SIZE)]
