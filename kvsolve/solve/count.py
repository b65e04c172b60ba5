"""count: how many valid configurations there are, exactly and without listing them.

Bucket elimination (Dechter, "Bucket elimination: a unifying framework for reasoning", 1999): flags
are summed out one at a time, the one whose neighbours have the fewest combinations first.
"""

from __future__ import annotations

import time
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeVar

from kvsolve.errors import KvsolveError
from kvsolve.solve.enumerate import iter_projected
from kvsolve.solve.grid import Grid, GridConstraint, Vary, grid_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

__all__ = ["TooSlowError", "TooWideError", "count", "count_grid"]

T = TypeVar("T")
_WIDEST = 2_000_000
"""Combinations in the largest table that is made."""

Table = tuple[tuple[int, ...], dict[tuple[int, ...], int]]
"""A scope and how often each combination of it can be completed; absent means never."""


class TooWideError(KvsolveError):
    """The flags hang together too widely to count them exactly."""


class TooSlowError(KvsolveError):
    """There was not the time to count exactly."""


def count(
    prepared: Prepared,
    config: Config,
    vary: Vary = (),
    *,
    project: Iterable[str] = (),
    held: Iterable[str] = (),
    time_limit: float | None = None,
) -> int:
    """The exact number of configurations that :func:`~kvsolve.solve.enumerate.iter_configs` gives.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that are held.
        vary: Flags that vary.
        project: Flags whose combinations are wanted.
        held: Dests that are no matter of choice.
        time_limit: Seconds after which counting is given up.

    Raises:
        TooWideError: The flags hang together too widely; vary fewer, or fewer values.
        TooSlowError: The time has passed.
    """
    clock = _Clock(time_limit)
    wanted = tuple(project)
    if wanted:
        found = iter_projected(prepared, config, wanted, vary=vary, held=held)
        return sum(1 for _ in clock.over(found, every=1))
    return count_grid(grid_of(prepared, config, vary), clock)


class _Clock:
    """Stops loops that take longer than they may."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.end = None if limit is None else time.monotonic() + limit

    def over(self, items: Iterable[T], every: int = 256) -> Iterator[T]:
        """The same items, looking at the time after so many."""
        for number, item in enumerate(items, 1):
            if self.end is not None and number % every == 0 and time.monotonic() > self.end:
                raise TooSlowError(
                    f"not counted within {self.limit:g} seconds; vary fewer flags, name fewer "
                    "values, or allow more time with --limit-s"
                )
            yield item


def count_grid(grid: Grid, clock: _Clock | None = None) -> int:
    """The number of valid combinations of a grid."""
    clock = clock or _Clock()
    if grid.dead:
        return 0
    sizes = [len(s) for s in grid.states]
    tables = [_tabulate(c, sizes, clock) for c in grid.constraints]
    left = set(range(len(sizes)))
    total = 1
    while left:
        variable = min(left, key=lambda v: (_width(v, tables, sizes), v))
        left.remove(variable)
        near = [t for t in tables if variable in t[0]]
        tables = [t for t in tables if variable not in t[0]]
        summed = _sum_out(variable, near, sizes, clock)
        if summed[0]:
            tables.append(summed)
        else:
            total *= summed[1].get((), 0)
    return total


def _tabulate(constraint: GridConstraint, sizes: list[int], clock: _Clock) -> Table:
    scope = constraint.scope
    _require(prod(sizes[v] for v in scope))
    rows = product(*(range(sizes[v]) for v in scope))
    return scope, {row: 1 for row in clock.over(rows) if constraint.allows(*row)}


def _width(variable: int, tables: list[Table], sizes: list[int]) -> int:
    scope = {v for t in tables if variable in t[0] for v in t[0]}
    return prod(sizes[v] for v in scope)


def _require(rows: int) -> None:
    if rows > _WIDEST:
        raise TooWideError(
            f"counting exactly needs a table of {rows} rows; vary fewer flags or name fewer values"
        )


def _sum_out(variable: int, tables: list[Table], sizes: list[int], clock: _Clock) -> Table:
    """Join tables and sum a variable out of the result."""
    joined: Table = (variable,), {(value,): 1 for value in range(sizes[variable])}
    for table in sorted(tables, key=lambda t: len(t[1])):
        joined = _join(joined, table, clock)
    scope, rows = joined
    place = scope.index(variable)
    rest = scope[:place] + scope[place + 1 :]
    out: dict[tuple[int, ...], int] = {}
    for row, times in rows.items():
        key = row[:place] + row[place + 1 :]
        out[key] = out.get(key, 0) + times
    return rest, out


def _join(a: Table, b: Table, clock: _Clock) -> Table:
    """All combinations that agree on the variables both have."""
    shared = [v for v in b[0] if v in a[0]]
    new = [at for at, v in enumerate(b[0]) if v not in a[0]]
    a_key = [a[0].index(v) for v in shared]
    b_key = [b[0].index(v) for v in shared]
    groups: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    for row, times in b[1].items():
        key = tuple(row[at] for at in b_key)
        groups.setdefault(key, []).append((tuple(row[at] for at in new), times))
    out: dict[tuple[int, ...], int] = {}
    for row, times in clock.over(a[1].items()):
        for extra, more in groups.get(tuple(row[at] for at in a_key), ()):
            out[row + extra] = times * more
        _require(len(out))
    return a[0] + tuple(b[0][at] for at in new), out
