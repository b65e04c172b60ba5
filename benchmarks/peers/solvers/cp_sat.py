"""OR-Tools CP-SAT: one model, read from the WCNF export; objective and hints are set for each
command and then cleared. One worker, since processor time is measured, and no presolve, which would
be done anew for every question and takes five times as long as the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

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
    from collections.abc import Sequence

    from benchmarks.peers.problem import Model, Query

__all__ = ["CpSat"]


class _Sat:
    """Clauses as a CP-SAT model."""

    def __init__(self, top: int, clauses: Sequence[Sequence[int]]) -> None:
        self.model = cp_model.CpModel()
        self.variables = [self.model.new_bool_var("") for _ in range(top)]
        self.negated = [~variable for variable in self.variables]
        for clause in clauses:
            self.model.add_bool_or([self.literal(lit) for lit in clause])

    def literal(self, number: int) -> Any:
        return self.variables[number - 1] if number > 0 else self.negated[-number - 1]

    def solver(self) -> cp_model.CpSolver:
        found = cp_model.CpSolver()
        found.parameters.num_workers = 1
        found.parameters.cp_model_presolve = False
        return found

    def assume(self, assumptions: Sequence[int]) -> None:
        self.model.clear_assumptions()
        self.model.add_assumptions([self.literal(lit) for lit in assumptions])


class CpSat(SatPeer):
    """OR-Tools CP-SAT."""

    distributions = ("ortools",)
    how = "one model; objective, hints and assumptions set per question; 1 worker, no presolve"

    def build(self) -> None:
        lines = self.problem.refusing.texts["wcnf"].splitlines()
        hard = [[int(w) for w in line.split()[1:-1]] for line in lines if line.startswith("h ")]
        top = max(abs(lit) for clause in hard for lit in clause)
        self.sat = _Sat(top, hard)
        self.switched = _Sat(self.problem.switched.top, self.problem.switched.clauses)

    def _aim(self, query: Query) -> cp_model.CpSolver:
        sat, model = self.sat, self.problem.refusing
        sat.model.clear_hints()
        sat.assume(())
        for literals, start in zip(model.literals, query.start, strict=True):
            for number, literal in enumerate(literals):
                if literal > 0:
                    sat.model.add_hint(sat.literal(literal), number == start)
        sat.model.minimize(
            sum(cost * sat.literal(literal) for literal, cost in prices(model, query))
        )
        return sat.solver()

    def nearest(self, query: Query) -> int | None:
        return next(iter(self._costs(query, 1)), None)

    def alternatives(self, query: Query) -> list[int]:
        return self._costs(query, ALTERNATIVES)

    def _costs(self, query: Query, most: int) -> list[int]:
        solver, model = self._aim(query), self.problem.refusing
        # A constraint cannot be taken back; those of one command hold while this is true.
        active = self.sat.model.new_bool_var("")
        domain = self.sat.model.proto.variables[active.index].domain
        domain[0] = 1
        costs: list[int] = []
        for literal in closed(model, query):
            self.sat.model.add_bool_or([self.sat.literal(literal), ~active])
        while len(costs) < most:
            status = solver.solve(self.sat.model)
            if status != cp_model.OPTIMAL:
                assert status == cp_model.INFEASIBLE, status
                break
            costs.append(round(solver.objective_value))
            block = changed(model, query, lambda n: solver.boolean_value(self.sat.literal(n)))
            if not block:
                break
            self.sat.model.add_bool_or([*map(self.sat.literal, block), ~active])
        domain[0], domain[1] = 0, 0
        self.sat.model.clear_objective()
        return costs

    def holds(self, assumptions: Sequence[int]) -> list[int] | None:
        self.sat.assume(assumptions)
        solver = self.sat.solver()
        if solver.solve(self.sat.model) == cp_model.INFEASIBLE:
            return None
        values = map(solver.boolean_value, self.sat.variables[: self.chosen])
        return [n if value else -n for n, value in enumerate(values, 1)]

    def clash(self, assumptions: Sequence[int]) -> list[int] | None:
        self.switched.assume(assumptions)
        solver = self.switched.solver()
        if solver.solve(self.switched.model) != cp_model.INFEASIBLE:
            return None
        named = set(solver.sufficient_assumptions_for_infeasibility())
        return [lit for lit in assumptions if self.switched.literal(lit).index in named]

    def enumerate(self) -> int:
        return _listed(self.problem.product, None)

    def million(self) -> int:
        return _listed(self.problem.wide, MILLION)

    def count(self) -> int:
        return _listed(self.problem.scope, None)


class _Counter(cp_model.CpSolverSolutionCallback):
    def __init__(self, most: int | None) -> None:
        super().__init__()
        self.found, self.most = 0, most

    def on_solution_callback(self) -> None:
        self.found += 1
        if self.found == self.most:
            self.stop_search()


def _listed(model: Model, most: int | None) -> int:
    top, clauses = clauses_of(model.texts["dimacs"])
    sat = _Sat(top, clauses)
    solver = sat.solver()
    solver.parameters.enumerate_all_solutions = True
    counter = _Counter(most)
    solver.solve(sat.model, counter)
    return counter.found
