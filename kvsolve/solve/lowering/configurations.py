"""Configurations of a lowered context by the thousand.

Neighbours in a list differ in the last flags only. So the values that the first flags take are
shared, and what the last ones add is made once for each combination of them.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from kvsolve.model.context import Config
from kvsolve.model.overlay import Overlay, Shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Configurations"]

_TAILS = 4096
"""Combinations of the last flags that are kept."""

Half = tuple[dict[str, Any], dict[str, str]]
"""The values of some flags, and how those that are typed are spelled."""


class Configurations:
    """Makes configurations, each like :meth:`Lowered.config_at`, quickest in order.

    Args:
        lowered: The context.
    """

    def __init__(self, lowered: Lowered) -> None:
        self._lowered = lowered
        sizes = [len(states) for states in lowered.states]
        self._split = next(at for at in range(len(sizes) + 1) if prod(sizes[at:]) <= _TAILS)
        self._tails: dict[tuple[int, ...], Half] = {}
        self._head: tuple[int, ...] | None = None
        self._below = Shared({})
        self._given: dict[str, str] = {}
        # What is typed of these flags already has its place in the order of the command.
        self._one_by_one = not lowered.config.given.keys().isdisjoint(lowered.dests)

    def at(self, states: Sequence[int]) -> Config:
        """The configuration with every flag that varies in such a state."""
        if self._one_by_one:
            return self._lowered.config_at(states)
        head, tail = tuple(states[: self._split]), tuple(states[self._split :])
        if head != self._head:
            self._begin(head)
        half = self._tails.get(tail)
        if half is None:
            half = self._tails[tail] = self._half(tail, self._split)
        values, given = half
        return Config(Overlay(partial(_parts, self._below, values)), {**self._given, **given})

    def _begin(self, head: tuple[int, ...]) -> None:
        values, given = self._half(head, 0)
        config = self._lowered.config
        self._head = head
        self._below = Shared({**config.values, **values})
        self._given = {**config.given, **given}

    def _half(self, states: tuple[int, ...], first: int) -> Half:
        values: dict[str, Any] = {}
        given: dict[str, str] = {}
        for variable, number in enumerate(states, first):
            dest = self._lowered.dests[variable]
            values[dest], typed = self._lowered.told[variable][number]
            if typed is not None:
                given[dest] = typed
        return values, given


def _parts(shared: Shared, values: dict[str, Any]) -> tuple[Shared, dict[str, Any]]:
    return shared, values
