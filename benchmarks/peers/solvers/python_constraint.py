"""python-constraint2 by itself: a fresh problem per question, entries as function constraints over
the flags they read, values in the order in which the command's own comes first.

It has no optimisation: the nearest is found by allowing one unit of cost more at a time.
"""

from __future__ import annotations

from itertools import count as numbers
from itertools import islice
from typing import TYPE_CHECKING, Any

from constraint import FunctionConstraint, InSetConstraint, OptimizedBacktrackingSolver, Problem

from benchmarks.peers.solvers.peer import MILLION, Peer

if TYPE_CHECKING:
    from benchmarks.peers.problem import Model, Query

__all__ = ["PythonConstraint"]


class PythonConstraint(Peer):
    """python-constraint2."""

    distributions = ("python-constraint2",)
    how = "OptimizedBacktrackingSolver, FunctionConstraint per entry, fresh problem per question"

    def build(self) -> None:
        self.rules = [(rule.scope, rule.compiled()) for rule in self.problem.refusing.rules]

    def _whole(self, query: Query) -> Problem:
        problem = Problem(OptimizedBacktrackingSolver())
        for v, costs in enumerate(query.costs):
            open_ = [n for n, cost in enumerate(costs) if cost is not None]
            problem.addVariable(v, sorted(open_, key=lambda n, own=costs: own[n]))
        for scope, allows in self.rules:
            problem.addConstraint(FunctionConstraint(allows), list(scope))
        return problem

    def nearest(self, query: Query) -> int | None:
        flags = range(len(query.costs))
        for most in numbers():
            problem = self._whole(query)

            def cheap(*at: int, most: int = most) -> bool:
                return sum(c[n] or 0 for c, n in zip(query.costs, at, strict=True)) <= most

            problem.addConstraint(FunctionConstraint(cheap), list(flags))
            if problem.getSolution() is not None:
                return most
        return None

    def options_one(self, query: Query, flag: int) -> list[bool]:
        found = []
        for number in range(self.problem.refusing.sizes[flag]):
            problem = self._whole(query)
            for v, wanted in {**{v: query.start[v] for v in query.pins}, flag: number}.items():
                problem.addConstraint(InSetConstraint([wanted]), [v])
            found.append(problem.getSolution() is not None)
        return found

    def enumerate(self) -> int:
        return sum(1 for _ in _listed(self.problem.product))

    def million(self) -> int:
        return sum(1 for _ in islice(_listed(self.problem.wide), MILLION))

    def count(self) -> int:
        return sum(1 for _ in _listed(self.problem.scope))


def _listed(model: Model) -> Any:
    problem = Problem(OptimizedBacktrackingSolver())
    for v, size in enumerate(model.sizes):
        problem.addVariable(v, list(range(size)))
    for rule in model.rules:
        problem.addConstraint(FunctionConstraint(rule.compiled()), list(rule.scope))
    return problem.getSolutionIter()
