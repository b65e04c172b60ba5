"""The residual problem of a few varying flags, solved by python-constraint.

It judges by running the exact interpreter over folded guards and shares nothing with the lowering
but the entries, so it serves where an entry is not lowered, and in tests as the other opinion.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from kvsolve.solve.engines.python_constraint import solutions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.solve.grid import Grid

__all__ = ["assignments"]

_BATCH = 20_000
"""Combinations solved at once; a batch is sorted before it is given out."""


def assignments(grid: Grid) -> Iterator[tuple[int, ...]]:
    """The states of all valid combinations, in order."""
    if grid.dead:
        return
    sizes = [len(s) for s in grid.states]
    split = _split(sizes)
    rules = [(c.scope, c.allows) for c in grid.constraints]
    early = [(s, f) for s, f in rules if all(p < split for p in s)]
    late = [(s, f) for s, f in rules if any(p >= split for p in s)]
    for head in product(*(range(n) for n in sizes[:split])):
        if all(f(*(head[p] for p in scope)) for scope, f in early):
            domains = [*([value] for value in head), *(range(n) for n in sizes[split:])]
            yield from sorted(solutions(domains, late))


def _split(sizes: list[int]) -> int:
    """How many leading flags to walk through, so that what is left is a batch."""
    split = 0
    while split < len(sizes) and prod(sizes[split:]) > _BATCH:
        split += 1
    return split
