"""z3: the clauses as Booleans, read once; costs as soft constraints of ``Optimize``, pushed and
popped, pins as assumptions of its finite-domain solver, cores minimised by the solver itself.

The SMT-LIB export says the same with integers; z3 takes minutes for one optimum over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

from benchmarks.peers.solvers.peer import (
    ALTERNATIVES,
    SatPeer,
    changed,
    clauses_of,
    closed,
    pin_literals,
    prices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.peers.problem import Model, Query

__all__ = ["Z3"]


class _Bools:
    """Variables of clauses as Booleans of z3."""

    def __init__(self, top: int) -> None:
        self.positive = [z3.Bool(f"b{n}") for n in range(top + 1)]
        self.negative = [z3.Not(b) for b in self.positive]

    def literal(self, number: int) -> Any:
        return self.positive[number] if number > 0 else self.negative[-number]

    def clauses(self, clauses: Iterable[Sequence[int]]) -> list[Any]:
        return [z3.Or([self.literal(lit) for lit in clause]) for clause in clauses]


class Z3(SatPeer):
    """z3."""

    distributions = ("z3-solver",)
    how = "Booleans read once; Optimize with push and pop; QF_FD under assumptions; core.minimize"

    def build(self) -> None:
        top, clauses = clauses_of(self.problem.refusing.texts["dimacs"])
        self.bools = _Bools(top)
        read = self.bools.clauses(clauses)
        self.solver = z3.SolverFor("QF_FD")
        self.solver.add(read)
        self.optimize = z3.Optimize()
        self.optimize.add(read)
        switched = self.problem.switched
        self.switches = _Bools(switched.top)
        self.switched = z3.Solver()
        self.switched.set("core.minimize", True)
        self.switched.add(self.switches.clauses(switched.clauses))

    def nearest(self, query: Query) -> int | None:
        return next(iter(self._costs(query, 1)), None)

    def alternatives(self, query: Query) -> list[int]:
        return self._costs(query, ALTERNATIVES)

    def _costs(self, query: Query, most: int) -> list[int]:
        model, literal, optimize = self.problem.refusing, self.bools.literal, self.optimize
        optimize.push()
        priced = list(prices(model, query))
        for number, cost in priced:
            optimize.add_soft(literal(-number), cost, "cost")
        optimize.add([literal(number) for number in closed(model, query)])
        found: list[int] = []
        while len(found) < most and optimize.check() == z3.sat:
            true = self._true(optimize.model())
            found.append(sum(cost for number, cost in priced if number in true))
            block = changed(model, query, true.__contains__)
            if not block:
                break
            optimize.add(z3.Or([literal(number) for number in block]))
        optimize.pop()
        return found

    def _true(self, model: Any) -> set[int]:
        bools = self.bools.positive
        values = ((n, z3.is_true(model.eval(bools[n]))) for n in range(1, self.chosen + 1))
        return {n if value else -n for n, value in values}

    def holds(self, assumptions: Sequence[int]) -> list[int] | None:
        if self.solver.check([self.bools.literal(lit) for lit in assumptions]) != z3.sat:
            return None
        return sorted(self._true(self.solver.model()), key=abs)

    def conflict(self, query: Query) -> tuple[int, int]:
        literal = self.switches.literal
        pins = [literal(number) for number in pin_literals(self.problem.refusing, query)]
        entries = [literal(number) for number in self.problem.switched.switches]
        assert self.switched.check(*pins, *entries) == z3.unsat, "the pins hold together"
        core = {str(part) for part in self.switched.unsat_core()}
        return sum(str(p) in core for p in pins), sum(str(e) in core for e in entries)

    def enumerate(self) -> int:
        return _listed(self.problem.product)


def _listed(model: Model) -> int:
    """Every valid choice of the SMT-LIB export, each blocked once it was found."""
    solver = z3.Solver()
    solver.from_string(model.texts["smtlib"])
    xs = [z3.Int(f"x{v}") for v in range(len(model.flags))]
    found = 0
    while solver.check() == z3.sat:
        found += 1
        at = solver.model()
        solver.add(z3.Or([x != at.eval(x, model_completion=True) for x in xs]))
    return found
