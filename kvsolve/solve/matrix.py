"""matrix: which pairs of values work together, each cell with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.context import Config
from kvsolve.solve.cells import CellJudge, CellState
from kvsolve.solve.check import Prepared
from kvsolve.solve.grid import values_of
from kvsolve.solve.network import network_of

if TYPE_CHECKING:
    from kvsolve.model.edit import Edit

__all__ = ["CONTEXT_AXES", "Axis", "Cell", "CellState", "Matrix", "Part", "judged_part", "matrix"]

CONTEXT_AXES = ("release", "gpu", "model")
"""Axes that are no flag: they choose the context."""

_PART = 400
"""Cells of one context that are judged together, so that they can share what is learned.

Parts are cut alike however many processes there are: of several reasons for a cell, which one is
found may depend on the cells judged before it.
"""


@dataclass(frozen=True, slots=True)
class Axis:
    """Rows or columns.

    Attributes:
        name: A dest, or one of :data:`CONTEXT_AXES`.
        values: What stands along it; empty for all representatives of a flag.
    """

    name: str
    values: tuple[Any, ...] = ()

    @property
    def is_context(self) -> bool:
        """Whether it chooses the context rather than a flag's value."""
        return self.name in CONTEXT_AXES

    def to_dict(self) -> dict[str, Any]:
        """The JSON of an axis."""
        return {"name": self.name, "values": list(self.values)}


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair of values.

    Attributes:
        row: Value of the row.
        col: Value of the column.
        state: What is known.
        codes: The entries that refuse it, or the reports on it.
        edits: What must be changed beside the pair.
        facts: Facts that are missing and flags that are not modelled, for ``unknown``.
    """

    row: Any
    col: Any
    state: CellState
    codes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    facts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a cell."""
        return {
            "row": self.row,
            "col": self.col,
            "state": str(self.state),
            "codes": list(self.codes),
            "edits": [e.to_dict() for e in self.edits],
            "facts": list(self.facts),
        }


@dataclass(frozen=True, slots=True)
class Matrix:
    """All cells, row by row.

    Attributes:
        rows: The rows.
        cols: The columns.
        context: What is the same for all cells.
        cells: Row by row.
    """

    rows: Axis
    cols: Axis
    context: Mapping[str, Any]
    cells: tuple[Cell, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a matrix."""
        return {
            "rows": self.rows.to_dict(),
            "cols": self.cols.to_dict(),
            "context": dict(self.context),
            "cells": [c.to_dict() for c in self.cells],
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Cells of one context that are judged together.

    Attributes:
        rows: The rows of the whole matrix.
        cols: Its columns.
        cells: Positions of a row and a column each.
        held: Dests that are no matter of choice.
        time_limit: Seconds for each cell.
    """

    rows: Axis
    cols: Axis
    cells: tuple[tuple[int, int], ...]
    held: tuple[str, ...] = ()
    time_limit: float | None = None

    @property
    def context(self) -> dict[str, Any]:
        """The values of the context axes, the same for all cells of the part."""
        (row, col), *_ = self.cells
        pairs = ((self.rows, row), (self.cols, col))
        return {axis.name: axis.values[at] for axis, at in pairs if axis.is_context}


Situation = tuple[Prepared, Config]
Prepare = Callable[[Mapping[str, Any]], Situation]
"""Given values of the context axes in use, the context and the configuration to start from."""
Judge = Callable[[Sequence[Part]], Iterable[Sequence[Cell]]]
"""Judges parts, in order; may do so in several processes."""


def matrix(
    prepare: Prepare,
    rows: Axis,
    cols: Axis,
    *,
    held: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    judge: Judge | None = None,
) -> Matrix:
    """Judge every pair of a row's and a column's value.

    Args:
        prepare: Makes the context and the configuration, ``{}`` where no axis chooses the context.
        rows: The rows.
        cols: The columns.
        held: Dests that are no matter of choice.
        context: What to say of the context in the answer.
        time_limit: Seconds for each cell; one that needs longer is ``unknown``.
        judge: Calls :func:`judged_part` for every part; one after the other here where None.

    Raises:
        KvsolveError: Both axes are the same, a flag is no option, or a context axis has no values.
    """
    if rows.name == cols.name:
        raise KvsolveError(f"rows and columns are both {rows.name}; a matrix needs two axes")
    for axis in (rows, cols):
        if axis.is_context and not axis.values:
            raise KvsolveError(f"name the values of {axis.name} that the matrix is to have")
    if not (rows.is_context or rows.values) or not (cols.is_context or cols.values):
        start = prepare({a.name: a.values[0] for a in (rows, cols) if a.is_context})
        rows, cols = _filled(rows, start), _filled(cols, start)
    parts = _parts(rows, cols, tuple(held), time_limit)
    answers = judge(parts) if judge else (judged_part(prepare, part) for part in parts)
    found = dict(zip((at for p in parts for at in p.cells), _chained(answers), strict=True))
    order = product(range(len(rows.values)), range(len(cols.values)))
    return Matrix(rows, cols, dict(context or {}), tuple(found[at] for at in order))


def judged_part(prepare: Prepare, part: Part) -> tuple[Cell, ...]:
    """The cells of a part, in its order."""
    prepared, config = prepare(part.context)
    axes = (part.rows, part.cols)
    values = {axis.name: axis.values for axis in axes if not axis.is_context}
    judge = CellJudge(prepared, config, values, held=part.held, time_limit=part.time_limit)
    return tuple(_cell(judge, part, row, col) for row, col in part.cells)


def _cell(judge: CellJudge, part: Part, row: int, col: int) -> Cell:
    pairs = ((part.rows, part.rows.values[row]), (part.cols, part.cols.values[col]))
    ruling = judge.ruling({axis.name: value for axis, value in pairs if not axis.is_context})
    (_, first), (_, second) = pairs
    return Cell(first, second, ruling.state, ruling.codes, ruling.edits, ruling.lacks)


def _parts(
    rows: Axis, cols: Axis, held: tuple[str, ...], time_limit: float | None
) -> tuple[Part, ...]:
    """The matrix in parts of one context each, rows together."""
    size = max(1, _PART // max(1, len(cols.values)))
    across = _runs(cols, len(cols.values))
    return tuple(
        Part(rows, cols, tuple((row, col) for row in run for col in part), held, time_limit)
        for run in _runs(rows, size if not cols.is_context else len(rows.values))
        for part in across
    )


def _runs(axis: Axis, size: int) -> list[range]:
    """The positions along an axis in runs; each by itself where it chooses the context."""
    size, whole = 1 if axis.is_context else size, range(len(axis.values))
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def _chained(answers: Iterable[Sequence[Cell]]) -> Iterator[Cell]:
    for cells in answers:
        yield from cells


def _filled(axis: Axis, situation: Situation) -> Axis:
    """The axis with its values."""
    if axis.is_context or axis.values:
        return axis
    prepared, config = situation
    flags = prepared.pack.flags
    if axis.name not in flags.fields or not flags.by_dest(axis.name):
        raise KvsolveError(f"{axis.name} is no option of {prepared.pack.release}")
    states = values_of(axis.name, config, flags, network_of(prepared))
    return Axis(axis.name, tuple(s.value for s in states))
