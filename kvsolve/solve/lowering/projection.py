"""The combinations of some flags that some values of all others make valid.

Both answers of the SAT solver decide many combinations at once: a completion found is tried on all
combinations (one evaluation of the gates), and of a combination without one only the part that
rules it out is kept. What is left is asked until nothing is.
"""

from __future__ import annotations

import time
from math import prod
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.gates import FALSE
from kvsolve.solve.lowering.tables import bitmap, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["projection"]

_WIDEST = 1 << 24
"""Combinations that are kept in a set."""


def projection(
    lowered: Lowered, variables: Sequence[int], deadline: float | None = None
) -> tuple[int, int]:
    """Which combinations of some flags can be completed.

    Args:
        lowered: The context, with the flags that may help.
        variables: Positions of the flags, in the order of the combinations.
        deadline: Reading of ``time.monotonic`` at which it is given up.

    Returns:
        The combinations that can be completed, a bit each in the order of the product, and those
        that cannot; all are in one of both unless the time was up.

    Raises:
        KvsolveError: There are too many combinations.
    """
    sizes = {v: len(lowered.states[v]) for v in variables}
    if prod(sizes.values()) > _WIDEST:
        raise KvsolveError(
            f"{prod(sizes.values())} combinations are too many to tell apart; project fewer flags "
            "or values"
        )
    rows, total = columns(sizes)
    masks = {v: range(size) for v, size in sizes.items()}
    roots = [r for r in (*lowered.forbidden, *lowered.doubts) if r != FALSE]
    left, good, bad = (1 << total) - 1, 0, 0
    with Feasible(lowered) as feasible:
        while left and (deadline is None or time.monotonic() < deadline):
            row = (left & -left).bit_length() - 1
            at = _states(row, sizes)
            literals = {lit: v for v in variables for lit in feasible.clauses.state(v, at[v])}
            try:
                chosen = feasible.find(list(literals), deadline)
            except TimeoutError:
                break
            if chosen is None:
                ruled = (1 << total) - 1
                for literal in feasible.core(list(literals), deadline):
                    variable = literals[literal]
                    own = feasible.clauses.classes[variable]
                    mask = own[feasible.clauses.class_of(variable, at[variable])]
                    ruled &= _union(rows[variable], mask)
                bad |= ruled
            else:
                fixed = dict(enumerate(feasible.clauses.first_states(chosen)))
                for variable in variables:
                    del fixed[variable]
                good |= bitmap(lowered, roots, sizes, masks, fixed) | 1 << row
            left &= ~(good | bad)
    return good, bad


def _states(row: int, sizes: dict[int, int]) -> dict[int, int]:
    found = {}
    for variable in reversed(sizes):
        row, found[variable] = divmod(row, sizes[variable])
    return found


def _union(rows: Sequence[int], mask: int) -> int:
    found = 0
    for state, own in enumerate(rows):
        if mask >> state & 1:
            found |= own
    return found
