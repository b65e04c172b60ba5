"""matrix: which pairs of values work together, each cell with its reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.context import Config
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.completion import Completions
from kvsolve.solve.grid import values_of
from kvsolve.solve.judge import reports_of
from kvsolve.solve.network import network_of

if TYPE_CHECKING:
    from kvsolve.model.edit import Edit

__all__ = ["CONTEXT_AXES", "Axis", "Cell", "CellState", "Matrix", "matrix"]

CONTEXT_AXES = ("release", "gpu", "model")
"""Axes that are no flag: they choose the context."""


class CellState(StrEnum):
    """What a cell says."""

    YES = "yes"
    WITH = "with"
    NO = "no"
    REPORTED = "reported"
    UNKNOWN = "unknown"


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
        facts: Facts that are missing, for ``unknown``.
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


Situation = tuple[Prepared, Config]
Prepare = Callable[[Mapping[str, Any]], Situation]
"""Given values of the context axes in use, the context and the configuration to start from."""


def matrix(
    prepare: Prepare,
    rows: Axis,
    cols: Axis,
    *,
    held: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
) -> Matrix:
    """Judge every pair of a row's and a column's value.

    Args:
        prepare: Makes the context and the configuration, ``{}`` where no axis chooses the context.
        rows: The rows.
        cols: The columns.
        held: Dests that are no matter of choice.
        context: What to say of the context in the answer.
        time_limit: Seconds for each cell; one that needs longer is ``unknown``.

    Raises:
        KvsolveError: Both axes are the same, a flag is no option, or a context axis has no values.
    """
    if rows.name == cols.name:
        raise KvsolveError(f"rows and columns are both {rows.name}; a matrix needs two axes")
    for axis in (rows, cols):
        if axis.is_context and not axis.values:
            raise KvsolveError(f"name the values of {axis.name} that the matrix is to have")
    first = {a.name: a.values[0] for a in (rows, cols) if a.is_context}
    start = prepare(first)
    rows, cols = _filled(rows, start), _filled(cols, start)
    judge = _Judge(prepare, start, first, (rows, cols), tuple(held), time_limit)
    cells = tuple(judge.cell(rows, r, cols, c) for r in rows.values for c in cols.values)
    return Matrix(rows, cols, dict(context or {}), cells)


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


class _Judge:
    """Judges cells; contexts and what was learned in them are kept."""

    def __init__(
        self,
        prepare: Prepare,
        start: Situation,
        first: Mapping[str, Any],
        axes: tuple[Axis, Axis],
        held: Sequence[str],
        time_limit: float | None,
    ) -> None:
        self.prepare, self.held = prepare, held
        self.values = {axis.name: axis.values for axis in axes if not axis.is_context}
        self.time_limit = time_limit
        self.known: dict[tuple[tuple[str, Any], ...], Completions] = {}
        self._keep(first, start)

    def _keep(self, wanted: Mapping[str, Any], situation: Situation) -> Completions:
        prepared, config = situation
        made = Completions(prepared, config, free=self.values, held=self.held, also=self.values)
        self.known[tuple(sorted(wanted.items()))] = made
        return made

    def cell(self, rows: Axis, row: Any, cols: Axis, col: Any) -> Cell:
        pair = ((rows, row), (cols, col))
        wanted = {axis.name: value for axis, value in pair if axis.is_context}
        shared = self.known.get(tuple(sorted(wanted.items())))
        if shared is None:
            shared = self._keep(wanted, self.prepare(wanted))
        fixed: dict[str, int] = {}
        for axis, value in pair:
            if not axis.is_context:
                at = _state(shared, axis.name, value)
                if at is not None:
                    fixed[axis.name] = at
                elif not same_value(value, shared.config.values.get(axis.name)):
                    return Cell(row, col, CellState.UNKNOWN)
        return Cell(row, col, *self._judged(shared, fixed))

    def _judged(
        self, shared: Completions, fixed: Mapping[str, int]
    ) -> tuple[CellState, tuple[str, ...], tuple[Edit, ...], tuple[str, ...]]:
        limit = self.time_limit
        shared.set_deadline(None if limit is None else time.monotonic() + limit)
        found = shared.cheapest(fixed)
        if found is None:
            if not shared.proven:
                return CellState.UNKNOWN, (), (), ()
            steps = shared.culprits(shared.masks(fixed))
            codes = tuple(dict.fromkeys(shared.code(s) for s in steps))
            return CellState.NO, codes, (), ()
        edits = shared.edits(found, fixed)
        config = shared.space.changed(found.changes)
        trace = shared.prepared.trace(config)
        missing = tuple(dict.fromkeys(_missing(shared.prepared, trace)))
        if missing:
            return CellState.UNKNOWN, (), edits, missing
        values = {**config.values, **trace.values}
        reports = tuple(r.code for r in reports_of(shared.prepared, values))
        if reports:
            return CellState.REPORTED, reports, edits, ()
        return (CellState.WITH if edits else CellState.YES), (), edits, ()


def _missing(prepared: Prepared, trace: Any) -> Iterator[str]:
    for failure in trace.failures:
        step = failure.step
        if failure.reason == "unknown" and prepared.judges(step) and prepared.decides(step):
            yield failure.detail


def _state(shared: Completions, dest: str, value: Any) -> int | None:
    """The state of a flag that has a value; the flag is not given for its default."""
    domain = shared.domain(dest)
    if domain is None:
        return None
    found = [n for n, s in enumerate(domain.states) if same_value(s.value, value)]
    found.sort(key=lambda n: domain.states[n].typed)
    return found[0] if found else None
