"""PySAT: RC2 for optima, Glucose 4 under assumptions for the rest.

RC2 takes no assumptions, so it is loaded anew for every command; its stratified variant with core
exhaustion and minimisation is what its authors recommend for weighted formulas. Further answers are
asked of the same object with a clause more, as its documentation shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pysat.examples.rc2 import RC2, RC2Stratified
from pysat.formula import WCNF
from pysat.solvers import Glucose4

from benchmarks.peers.solvers.peer import (
    ALTERNATIVES,
    MILLION,
    SatPeer,
    changed,
    clauses_of,
    closed,
    prices,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.peers.problem import Model, Query

__all__ = ["PySat"]


class PySat(SatPeer):
    """PySAT."""

    distributions = ("python-sat",)
    how = "RC2 (stratified) per command; Glucose 4 incremental under assumptions"

    def build(self) -> None:
        wcnf = WCNF(from_string=self.problem.refusing.texts["wcnf"])
        self.hard: list[list[int]] = wcnf.hard
        self.solver = Glucose4(bootstrap_with=self.hard)
        switched = self.problem.switched
        self.switched = Glucose4(bootstrap_with=switched.clauses)

    def _rc2(self, query: Query) -> RC2:
        formula = WCNF()
        formula.hard = [*self.hard, *([lit] for lit in closed(self.problem.refusing, query))]
        formula.nv = max(abs(lit) for clause in self.hard for lit in clause)
        for literal, cost in prices(self.problem.refusing, query):
            formula.append([-literal], weight=cost)
        return RC2Stratified(formula, solver="g4", adapt=True, exhaust=True, minz=True)

    def nearest(self, query: Query) -> int | None:
        with self._rc2(query) as solver:
            return None if solver.compute() is None else solver.cost

    def alternatives(self, query: Query) -> list[int]:
        costs: list[int] = []
        with self._rc2(query) as solver:
            while len(costs) < ALTERNATIVES:
                found = solver.compute()
                if found is None:
                    break
                costs.append(solver.cost)
                true = set(found)
                block = changed(self.problem.refusing, query, true.__contains__)
                if not block:
                    break
                solver.add_clause(block)
        return costs

    def holds(self, assumptions: Sequence[int]) -> list[int] | None:
        if self.solver.solve(assumptions=assumptions):
            found: list[int] = self.solver.get_model()
            return found
        return None

    def clash(self, assumptions: Sequence[int]) -> list[int] | None:
        if self.switched.solve(assumptions=assumptions):
            return None
        return list(self.switched.get_core() or ())

    def enumerate(self) -> int:
        return sum(1 for _ in _listed(self.problem.product))

    def million(self) -> int:
        return sum(1 for _, _ in zip(range(MILLION), _listed(self.problem.wide), strict=False))

    def count(self) -> int:
        return sum(1 for _ in _listed(self.problem.scope))


def _listed(model: Model) -> Iterator[list[int]]:
    """Every valid choice, each blocked once it was found."""
    top, clauses = clauses_of(model.texts["dimacs"])
    chosen = [lit for literals in model.literals for lit in literals]
    with Glucose4(bootstrap_with=clauses) as solver:
        while solver.solve():
            found = solver.get_model()
            found += range(len(found) + 1, top + 1)
            true = [lit for lit in chosen if found[abs(lit) - 1] == lit]
            yield true
            solver.add_clause([-lit for lit in true])
