"""Tables of a lowered context: which combinations of a few flags its entries allow.

Every combination of the flags is a bit, and the gates are evaluated for all of them at once.
"""

from __future__ import annotations

from itertools import compress, product
from math import prod
from typing import TYPE_CHECKING

from kvsolve.solve.lowering.feasible import look_at_clock
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["assignments", "bitmap", "rows_of"]

_ROWS = 1 << 19
"""Combinations evaluated at once."""


def columns(sizes: Mapping[int, int]) -> tuple[dict[int, list[int]], int]:
    """For the product of some ranges, the rows in which each variable has each value.

    Args:
        sizes: How many values each variable has; the last one varies fastest.

    Returns:
        By variable and value the set of rows, a bit each, the first row lowest; the number of rows.
    """
    total = prod(sizes.values())
    found: dict[int, list[int]] = {}
    inner = total
    for variable, size in sizes.items():
        inner //= size
        block = (1 << inner) - 1
        period = inner * size
        once = [block << inner * value for value in range(size)]
        found[variable] = [_repeated(rows, period, total // period) for rows in once]
    return found, total


def _repeated(pattern: int, length: int, times: int) -> int:
    """A pattern of so many bits, so many times over."""
    found, have = pattern, 1
    while have < times:
        more = min(have, times - have)
        found |= (found & (1 << length * more) - 1) << length * have
        have += more
    return found


def bitmap(
    lowered: Lowered,
    roots: Sequence[int],
    sizes: Mapping[int, int],
    masks: Mapping[int, Sequence[int]],
    fixed: Mapping[int, int],
) -> int:
    """The combinations in which none of some literals holds.

    Args:
        lowered: The context.
        roots: The literals.
        sizes: How many choices each variable has.
        masks: For each choice of a variable a state that stands for it.
        fixed: State of every other variable that the literals read.
    """
    rows, total = columns(sizes)
    by_state = {
        variable: _by_state(own, masks[variable], len(lowered.states[variable]))
        for variable, own in rows.items()
    }
    bad = 0
    for value in lowered.gates.values(roots, by_state, total, fixed):
        bad |= value
    return ((1 << total) - 1) & ~bad


def _by_state(rows: Sequence[int], states: Sequence[int], size: int) -> list[int]:
    found = [0] * size
    for own, state in zip(rows, states, strict=True):
        found[state] = own
    return found


_BITS = bytes.maketrans(b"01", b"\x00\x01")


def rows_of(valid: int, total: int) -> bytes:
    """For each row 1 where it is in a set, else 0; first row first."""
    return f"{valid:0{total}b}"[::-1].encode().translate(_BITS)


def assignments(lowered: Lowered, deadline: float | None = None) -> Iterator[tuple[int, ...]]:
    """The states of all valid combinations of the flags that vary, in order.

    Args:
        lowered: The context.
        deadline: Reading of ``time.monotonic`` at which it is given up.

    Raises:
        TimeoutError: The deadline has passed, and there may be more.
    """
    if lowered.dead:
        return
    sizes = [len(states) for states in lowered.states]
    split = 0
    while split < len(sizes) and prod(sizes[split:]) > _ROWS:
        split += 1
    tail = dict(enumerate(sizes[split:], split))
    every = {variable: range(size) for variable, size in tail.items()}
    roots = [root for root in lowered.forbidden if root not in (TRUE, FALSE)]
    head_only = [r for r in roots if max(lowered.gates.variables([r])) < split]
    rest = [r for r in roots if r not in head_only]
    for head in product(*(range(size) for size in sizes[:split])):
        look_at_clock(deadline)
        fixed = dict(enumerate(head))
        if any(lowered.gates.values(head_only, {}, 1, fixed)):
            continue
        valid = bitmap(lowered, rest, tail, every, fixed)
        found = compress(product(*every.values()), rows_of(valid, prod(tail.values())))
        for row in found:
            at = (*head, *row)
            if lowered.pending:
                look_at_clock(deadline)
                if lowered.objection(at) is not None:
                    continue
            yield at
