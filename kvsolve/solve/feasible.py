"""Whether anything valid lies within some masks, told by a SAT solver over the clauses learned.

Looking for the cheapest configuration is a poor way to find that there is none. The solver gets the
clauses of the context and proposes members; the circuit looks at each and adds what is wrong with
it, until one is valid or the clauses alone leave nothing (lazy clause generation, as in Ohrimenko,
Stuckey and Codish, "Propagation via lazy clause generation", 2009).
"""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

from kvsolve.solve.nogoods import NoGoods, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.solve.judge import CircuitJudge
    from kvsolve.solve.space import Space

__all__ = ["Feasibility", "TooManyRoundsError"]


class TooManyRoundsError(Exception):
    """A question was not settled with the members that were to be looked at."""


class Feasibility:
    """A solver that holds the clauses of a context.

    A variable stands for each state of a flag and for each mask of a clause. A state makes its
    masks true and a clause forbids that all of its masks are; so a flag may be in several states at
    once, any of which will do, and nothing has to say that there is only one.
    """

    def __init__(self, learned: NoGoods) -> None:
        from kvsolve.solve.engines.python_sat import Solver

        self.learned = learned
        self._solver = Solver(())
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._taken = 0
        self._variables: dict[int, None] = {}

    def member(
        self,
        space: Space,
        judge: CircuitJudge,
        masks: Mapping[int, int],
        deadline: float | None,
        most_rounds: int | None = None,
    ) -> dict[int, int] | None:
        """Changes that lead to some valid member, None where there is none.

        Args:
            space: Variables and their states.
            judge: Looks at members in full.
            masks: Where to look.
            deadline: Reading of ``time.monotonic`` after which to stop.
            most_rounds: How many members to look at.

        Raises:
            TimeoutError: The deadline has passed.
            TooManyRoundsError: So many were not enough.
        """
        for number in count():
            if number == most_rounds:
                raise TooManyRoundsError
            self._take()
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError
            domains = {v: masks.get(v, space.full[v]) & space.full[v] for v in self._variables}
            domains |= {v: mask & space.full[v] for v, mask in masks.items()}
            if not all(domains.values()):
                return None
            if not self._solver.solve([self._one_of(v, m) for v, m in domains.items()]):
                return None
            changes = self._changes(space, domains)
            steps = judge.broken(changes)
            if not steps:
                return changes
            for step in steps:
                self.learned.learn(judge.board.explain(step))
        raise AssertionError("counting does not end")

    def _number(self, kind: str, variable: int, value: int) -> int:
        return self._numbers.setdefault((kind, variable, value), len(self._numbers) + 1)

    def _take(self) -> None:
        """Give the solver what was learned since."""
        for clause in self.learned.clauses[self._taken :]:
            if clause.soft is None:
                self._solver.add([-self._within(v, m) for v, m in clause.literals])
        self._taken = len(self.learned.clauses)

    def _within(self, variable: int, mask: int) -> int:
        """The solver's variable for being within a mask."""
        known = len(self._numbers)
        number = self._number("mask", variable, mask)
        if len(self._numbers) > known:
            for state in numbers(mask):
                self._solver.add([-self._number("state", variable, state), number])
            if variable not in self._variables:
                self._variables[variable] = None
                rest = self._number("state", variable, self.learned.rest[variable])
                self._solver.prefer([rest])
        return number

    def _one_of(self, variable: int, mask: int) -> int:
        """An assumption that a flag is in some state of a mask."""
        known = len(self._numbers)
        number = self._number("one", variable, mask)
        if len(self._numbers) > known:
            states = [self._number("state", variable, state) for state in numbers(mask)]
            self._solver.add([-number, *states])
        return number

    def _changes(self, space: Space, domains: Mapping[int, int]) -> dict[int, int]:
        """What a model changes; a flag stays where it is wherever it may."""
        model = self._solver.model
        changes = {}
        for variable, mask in domains.items():
            true = [
                state
                for state in numbers(mask)
                if (n := self._numbers.get(("state", variable, state))) is not None
                and n <= len(model)
                and model[n - 1] > 0
            ]
            start = space.start[variable]
            if start not in true:
                changes[variable] = true[0]
        return changes
