"""Feasibility: a valid configuration under assumptions, or the certainty that there is none."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kvsolve.solve.engines.python_sat import Solver
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.lowering.lean import Lean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Feasible", "look_at_clock"]


class Feasible:
    """Answers questions about one lowered context, keeping what it learns.

    Use it as a context manager.

    Attributes:
        lowered: The context.
        clauses: Its clauses; literals of assumptions are theirs.
    """

    def __init__(self, lowered: Lowered, *, often: bool = False) -> None:
        """Prepare to answer.

        Args:
            lowered: The context.
            often: Many questions are to come, so that it pays to simplify the clauses first.
        """
        self.lowered = lowered
        self.clauses = Lean(lowered) if often else Clauses(lowered)
        self._top = self.clauses.top
        # What no pending entry objected to: the next question is best answered close to that.
        self._agreed: list[int] = []
        self._solver = Solver(self.clauses.clauses, self.clauses.top)
        self._settled = [
            -self.clauses.literal(doubt) for doubt in lowered.doubts if doubt not in (TRUE, FALSE)
        ]

    def __enter__(self) -> Feasible:
        return self

    def __exit__(self, *about: object) -> None:
        self._solver.close()

    def find(
        self, assumptions: Sequence[int] = (), deadline: float | None = None
    ) -> list[int] | None:
        """The classes of a valid configuration with these literals; None where there is none.

        Entries that are not lowered are kept out of the way. Only where nothing is left without
        them are they asked, and a choice that one objects to is excluded for good, with all that it
        objects to for the same reason.

        Args:
            assumptions: Literals that it has to have.
            deadline: Reading of ``time.monotonic`` at which it is given up, looked at before each
                question to the solver.

        Raises:
            TimeoutError: The deadline has passed and nothing is settled.
        """
        look_at_clock(deadline)
        chosen = self.settled(assumptions)
        if chosen is not None:
            return chosen
        if not self.lowered.pending:
            return None
        self._solver.prefer(self._agreed)
        while True:
            look_at_clock(deadline)
            if not self._solver.solve(assumptions):
                return None
            chosen = self.clauses.chosen(self._solver.model)
            objection = self.lowered.objection(self.clauses.first_states(chosen))
            if objection is None:
                own = zip(self.clauses.literals, chosen, strict=True)
                self._agreed = [literals[n] for literals, n in own if literals]
                return chosen
            self._solver.add(self.clauses.excluding(objection))

    def settled(self, assumptions: Sequence[int]) -> list[int] | None:
        """As ``find``, among the configurations that no pending entry has a say in."""
        if TRUE in self.lowered.doubts:
            return None
        if self._solver.solve([*assumptions, *self._settled]):
            return self.clauses.chosen(self._solver.model)
        return None

    def core(self, assumptions: Sequence[int], deadline: float | None = None) -> list[int]:
        """A minimal part of assumptions that nothing valid has.

        Deletion-based; the assumptions must be known to have no valid configuration. Once the
        deadline has passed, what is left is given, which need not be minimal.
        """
        kept = list(assumptions)
        for literal in list(kept):
            fewer = [other for other in kept if other != literal]
            try:
                if len(fewer) < len(kept) and self.find(fewer, deadline) is None:
                    kept = fewer
            except TimeoutError:
                break
        return kept

    def implied(self, assumptions: Sequence[int]) -> set[int] | None:
        """Literals that follow by unit propagation; None where the assumptions clash."""
        consistent, implied = self._solver.propagate(assumptions)
        return set(implied) if consistent else None

    def any_of(self, literals: Sequence[int]) -> int:
        """A literal to assume where at least one of some literals is wanted; see ``forget``."""
        self._top += 1
        self._solver.add([-self._top, *literals])
        return self._top

    def forget(self, wanted: int) -> None:
        """Say that a literal of ``any_of`` will not be assumed any more."""
        self._solver.add([-wanted])

    def prefer(self, literals: Sequence[int]) -> None:
        """Literals to try first in later searches."""
        self._solver.prefer(literals)


def look_at_clock(deadline: float | None) -> None:
    """Give up where a reading of ``time.monotonic`` has passed."""
    if deadline is not None and time.monotonic() >= deadline:
        raise TimeoutError
