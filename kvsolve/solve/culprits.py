"""Which entries leave nothing for some values: minimal sets, told by a SAT solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Culprits"]

_MOST_TRIED = 6
"""Reasons of other values that are tried before a new one is looked for."""


class Culprits:
    """Names entries for values that no valid configuration has.

    Use it as a context manager. What is answered depends on the questions asked before: of several
    minimal sets, one that explained values of the same flags, or else others, comes first.
    """

    def __init__(self, lowered: Lowered, switches: Switches | None = None) -> None:
        """Prepare to answer.

        Args:
            lowered: The context.
            switches: Of the same context, its own from now on; made where there are none.
        """
        self._switches = switches or Switches(lowered, often=True)
        self._known: dict[tuple[int, ...], int] = {}
        self._last: dict[tuple[int, ...], tuple[int, ...]] = {}

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
        flags = tuple(flag for flag, _ in values)
        for steps in self._likely(flags):
            if self._are_needed(steps, fixed):
                return self._noted(flags, steps)
        found = self._switches.needed(self._switches.of, fixed)
        return self._noted(flags, found) if found else found

    def _likely(self, flags: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The reasons to try first: the last one for the same flags, then frequent ones."""
        often = sorted(self._known, key=lambda s: (-self._known[s], s))[:_MOST_TRIED]
        last = self._last.get(flags)
        return often if last is None else list(dict.fromkeys((last, *often)))

    def _noted(self, flags: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
        self._known[steps] = self._known.get(steps, 0) + 1
        self._last[flags] = steps
        return steps

    def _are_needed(self, steps: tuple[int, ...], fixed: list[int]) -> bool:
        """Whether these entries leave nothing, and none of them can be spared."""
        leave_nothing = self._switches.leave_nothing
        return leave_nothing(steps, fixed) and not (
            # Without any entry everything is left.
            len(steps) > 1
            and any(leave_nothing([s for s in steps if s != spared], fixed) for spared in steps)
        )
