"""Rows of a table that stay packed, in blocks, until one of them is asked for.

A check asks for some ten of thousands of rows. Making an object of each, or only reading their
bytes, would take longer than the check itself.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["PackedRows", "blocks_of"]

Row = TypeVar("Row", bound=tuple[Any, ...])

_BLOCK = 32
"""Rows of a block."""


def blocks_of(rows: Iterable[tuple[Any, ...]]) -> list[bytes]:
    """Rows of plain values as blocks."""
    every = [tuple(row) for row in rows]
    return [marshal.dumps(every[at : at + _BLOCK]) for at in range(0, len(every), _BLOCK)]


class PackedRows(Sequence[Row], Generic[Row]):
    """Rows by position.

    Args:
        blocks: Has what :func:`blocks_of` made; each is looked up when a row of it is asked for.
        count: How many rows there are.
        first: Where in ``blocks`` they begin.
    """

    __slots__ = ("_blocks", "_count", "_first", "_read")

    def __init__(self, blocks: Sequence[bytes], count: int, first: int = 0) -> None:
        self._blocks = blocks
        self._count = count
        self._first = first
        self._read: dict[int, list[Row]] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, position: int) -> Row: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Row]: ...
    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return [self[at] for at in range(*position.indices(self._count))]
        if position < 0:
            position += self._count
        if not 0 <= position < self._count:
            raise IndexError(f"no row {position} among {self._count}")
        number, within = divmod(position, _BLOCK)
        block = self._read.get(number)
        if block is None:
            block = self._read[number] = self._rows(self._blocks[self._first + number])
        return block[within]

    def _rows(self, block: bytes) -> list[Row]:
        rows: list[Row] = marshal.loads(block)
        return rows
