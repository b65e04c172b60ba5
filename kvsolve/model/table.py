"""Terms as one flat table of plain values, and back.

Reading expressions from text takes a hundred times as long as making the terms themselves. A table
holds each term once, after its operands, as an operation and the places of its arguments;
:mod:`marshal` can write it, so it is what caches of programs and contexts hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from kvsolve.model.expression import Expr, intern, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.expression import Operand

__all__ = ["Table", "read_terms", "write_terms"]

Table: TypeAlias = "tuple[list[Any], list[tuple[Any, ...]], list[int]]"
"""Constants; rows, each an operation and the places of its arguments; places of what was written.

Places count constants first, then rows. The operation of a tuple with terms in it is ``None``.
"""


def write_terms(operands: Iterable[Operand]) -> Table:
    """The table of some operands.

    Args:
        operands: Constants and terms; they may share parts.
    """
    writer = _Writer()
    places = [writer.place(operand) for operand in operands]
    size = len(writer.constants)
    rows = [(op, *(size + a if a >= 0 else ~a for a in args)) for op, *args in writer.rows]
    return writer.constants, rows, [size + p if p >= 0 else ~p for p in places]


class _Writer:
    """Numbers terms from 0 and constants from -1 downwards, each after its parts."""

    def __init__(self) -> None:
        self.constants: list[Any] = []
        self.rows: list[tuple[Any, ...]] = []
        self.known: dict[Any, int] = {}

    def place(self, operand: Any) -> int:
        """The number of an operand, its parts numbered before it."""
        stack = [operand]
        while stack:
            here = stack[-1]
            key = key_of(here)
            if key in self.known:
                stack.pop()
                continue
            parts = _parts(here)
            missing = [p for p in parts if key_of(p) not in self.known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self.known[key] = self._new(here, parts)
        return self.known[key_of(operand)]

    def _new(self, operand: Any, parts: tuple[Any, ...]) -> int:
        if not isinstance(operand, Expr) and not parts:
            self.constants.append(operand)
            return -len(self.constants)
        op = operand.op if isinstance(operand, Expr) else None
        self.rows.append((op, *(self.known[key_of(part)] for part in parts)))
        return len(self.rows) - 1


def _parts(operand: Any) -> tuple[Any, ...]:
    """What an operand is put together from: a constant is not."""
    if isinstance(operand, Expr):
        return operand.args
    return operand if isinstance(operand, tuple) and _holds_terms(operand) else ()


def _holds_terms(items: tuple[Any, ...]) -> bool:
    return any(
        isinstance(item, Expr) or (isinstance(item, tuple) and _holds_terms(item)) for item in items
    )


def read_terms(table: Table) -> list[Any]:
    """The operands that :func:`write_terms` was given; terms known already are the same objects."""
    constants, rows, places = table
    values = list(constants)
    keys = [key_of(value) for value in constants]
    for op, *args in rows:
        parts = tuple([values[a] for a in args])
        if op is None:
            values.append(parts)
            keys.append(key_of(parts))
            continue
        found = intern((op, *[keys[a] for a in args]), parts)
        values.append(found)
        keys.append(found.uid)
    return [values[place] for place in places]
