"""Which entries leave nothing for some values: minimal sets, told by a SAT solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Culprits"]

_MOST_TRIED = 12
"""Reasons of other values that are tried before a new one is looked for."""


class Culprits:
    """Names entries for values that no valid configuration has.

    Use it as a context manager. What is answered depends on the questions asked before: of several
    minimal sets, one that explains other values as well comes first.
    """

    def __init__(self, lowered: Lowered) -> None:
        self._switches = Switches(lowered)
        self._known: dict[tuple[int, ...], int] = {}

    def __enter__(self) -> Culprits:
        return self

    def __exit__(self, *about: object) -> None:
        self._switches.__exit__(*about)

    def of(self, values: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """A minimal set of entries, in upstream's order; empty where something is valid.

        An entry that excludes what is asked only because a fact is missing is told as ``~step``.

        Args:
            values: Position of a flag in ``lowered.dests`` and of its state, each.
        """
        clauses = self._switches.clauses
        fixed = [lit for flag, state in values for lit in clauses.state(flag, state)]
        for steps in sorted(self._known, key=lambda s: (-self._known[s], s))[:_MOST_TRIED]:
            if self._are_needed(steps, fixed):
                self._known[steps] += 1
                return steps
        found = self._switches.needed(self._switches.of, fixed)
        if found:
            self._known[found] = self._known.get(found, 0) + 1
        return found

    def _are_needed(self, steps: tuple[int, ...], fixed: list[int]) -> bool:
        """Whether these entries leave nothing, and none of them can be spared."""
        leave_nothing = self._switches.leave_nothing
        return leave_nothing(steps, fixed) and not any(
            leave_nothing([s for s in steps if s != spared], fixed) for spared in steps
        )
