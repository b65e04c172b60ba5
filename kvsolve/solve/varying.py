"""Flags to vary, as users name them, as states of flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kvsolve.solve.check import same_value
from kvsolve.solve.domains import State, default_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.model.flag import FlagTable
    from kvsolve.solve.grid import Vary

__all__ = ["states_of"]


def states_of(vary: Vary, flags: FlagTable) -> dict[str, Sequence[State] | None]:
    """The flags with the states of their named values, None for all representatives.

    The default stands for the flag that is not given.
    """
    pairs = dict(vary) if isinstance(vary, Mapping) else dict.fromkeys(vary)
    found: dict[str, Sequence[State] | None] = {}
    for dest, values in pairs.items():
        default = default_of(flags, dest)
        found[dest] = (
            None
            if values is None
            else tuple(State(value, not same_value(value, default)) for value in values)
        )
    return found
