"""Which entries leave nothing for some values: minimal sets, told by a SAT solver.

As in :mod:`kvsolve.solve.feasible`, but every entry has a literal that switches it on (Eén and
Sörensson, "Temporal induction by incremental SAT solving", 2003). What is assumed and cannot
hold names the entries; one after the other is then left out, and kept out where the rest suffices
(Marques-Silva, "Minimal unsatisfiability: models, algorithms and applications", 2010).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from kvsolve.solve.engines.python_sat import Solver
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        self.lowered = lowered
        self.switches: dict[int, int] = {}
        self.clauses = _Switched(lowered, self.switches)
        self._solver = Solver(self.clauses.clauses, self.clauses.top)
        self._steps = {literal: step for step, literal in self.switches.items()}
        self._known: dict[tuple[int, ...], int] = {}

    def __enter__(self) -> Culprits:
        return self

    def __exit__(self, *about: object) -> None:
        self._solver.__exit__(None, None, None)

    def of(self, values: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """A minimal set of entries, in upstream's order; empty where something is valid.

        An entry that excludes what is asked only because a fact is missing is told as ``~step``.

        Args:
            values: Position of a flag in ``lowered.dests`` and of its state, each.
        """
        fixed = [lit for flag, state in values for lit in self.clauses.state(flag, state)]
        for steps in sorted(self._known, key=lambda s: (-self._known[s], s))[:_MOST_TRIED]:
            if self._leave_nothing(steps, fixed) and self._is_minimal(steps, fixed):
                self._known[steps] += 1
                return steps
        if not self._leave_nothing(self.switches, fixed):
            return ()
        named = {self._steps[lit] for lit in self._solver.core if lit in self._steps}
        for step in sorted(named, key=lambda step: -max(step, ~step)):
            if self._leave_nothing(named - {step}, fixed):
                named -= {step}
        found = tuple(sorted(named, key=lambda step: max(step, ~step)))
        self._known[found] = self._known.get(found, 0) + 1
        return found

    def _is_minimal(self, steps: tuple[int, ...], fixed: list[int]) -> bool:
        return not any(
            self._leave_nothing([s for s in steps if s != step], fixed) for step in steps
        )

    def _leave_nothing(self, steps: Iterable[int], fixed: list[int]) -> bool:
        """Whether some entries exclude all that has the literals fixed."""
        assumed = [*fixed, *(self.switches[step] for step in steps)]
        wanted = frozenset(steps)
        while self._solver.solve(assumed):
            objection = self._objection(wanted)
            if objection is None:
                return False
            step, clause = objection
            self._solver.add([-self.switches[step], *clause])
        return True

    def _objection(self, steps: frozenset[int]) -> tuple[int, list[int]] | None:
        """What an entry that is not lowered has against the model, with the entry."""
        pending = [c for c in self.lowered.pending if c.step in steps]
        if not pending:
            return None
        at = self.clauses.first_states(self.clauses.chosen(self._solver.model))
        for constraint in pending:
            alone = copy(self.lowered)
            alone.pending = [constraint]
            box = alone.objection(at)
            if box is not None:
                return constraint.step, self.clauses.excluding(box)
        return None


class _Switched(Clauses):
    """The clauses of a context in which an entry counts where its switch is on."""

    def __init__(self, lowered: Lowered, switches: dict[int, int]) -> None:
        self._switches = switches
        super().__init__(lowered)

    def _roots(self, forbidden: Iterable[int]) -> None:
        gates = self.lowered.gates
        for node in gates.below(forbidden):
            self._define(node)
        unsure = ((~step, root) for step, root in self.lowered.unsure)
        for step, root in (*self.lowered.broken, *unsure):
            switch = self._switches[step] = self._switches.get(step) or self._new()
            if root == TRUE:
                self.clauses.append([-switch])
            elif root != FALSE:
                self.clauses.append([-switch, -self.literal(root)])
        for constraint in self.lowered.pending:
            if constraint.step not in self._switches:
                self._switches[constraint.step] = self._new()
