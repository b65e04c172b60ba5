"""clingo: clauses as integrity constraints through the backend, one grounding for all questions.

What a command costs is grounded as a part of its own under an external atom, the way of multi-shot
solving; pins are assumptions. Options of all flags are brave consequences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import clingo

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
    from collections.abc import Iterable, Sequence

    from benchmarks.peers.problem import Model, Query

__all__ = ["Clingo"]


class _Ground:
    """Clauses as a ground program."""

    def __init__(self, top: int, clauses: Iterable[Sequence[int]], *options: str) -> None:
        self.control = clingo.Control(["--warn=none", *options])
        with self.control.backend() as backend:
            atoms = [backend.add_atom() for _ in range(top)]
            for atom in atoms:
                backend.add_rule([atom], choice=True)
            self.number = {atom: n for n, atom in enumerate(atoms, 1)}
            self.atoms = atoms
            for clause in clauses:
                backend.add_rule([], [-self.literal(lit) for lit in clause])

    def literal(self, number: int) -> int:
        atom = self.atoms[abs(number) - 1]
        return atom if number > 0 else -atom

    def add(self, clause: Sequence[int], unless: int | None = None) -> None:
        """A clause more, for good or unless an atom is false."""
        with self.control.backend() as backend:
            body = [-self.literal(lit) for lit in clause]
            backend.add_rule([], [*body, unless] if unless else body)


class Clingo(SatPeer):
    """clingo."""

    distributions = ("clingo",)
    how = "multi-shot, ground once; assumptions; brave consequences; projected enumeration"

    def build(self) -> None:
        lines = self.problem.refusing.texts["wcnf"].splitlines()
        hard = [[int(w) for w in line.split()[1:-1]] for line in lines if line.startswith("h ")]
        top = max(abs(lit) for clause in hard for lit in clause)
        self.ground = _Ground(top, hard)
        self.optimum = _Ground(top, hard, "--opt-strategy=usc", "--models=0")
        self.switched = _Ground(self.problem.switched.top, self.problem.switched.clauses)

    def nearest(self, query: Query) -> int | None:
        return next(iter(self._costs(query, 1)), None)

    def alternatives(self, query: Query) -> list[int]:
        return self._costs(query, ALTERNATIVES)

    def _costs(self, query: Query, most: int) -> list[int]:
        model, ground = self.problem.refusing, self.optimum
        with ground.control.backend() as backend:
            active = backend.add_atom()
            backend.add_external(active, clingo.TruthValue.True_)
            for literal, cost in prices(model, query):
                paid = backend.add_atom()
                backend.add_rule([paid], [ground.literal(literal), active])
                backend.add_minimize(0, [(paid, cost)])
        for literal in closed(model, query):
            ground.add([literal], unless=active)
        costs: list[int] = []
        while len(costs) < most:
            found = _best(ground, self.chosen)
            if found is None:
                break
            cost, true = found
            costs.append(cost)
            block = changed(model, query, true.__contains__)
            if not block:
                break
            ground.add(block, unless=active)
        with ground.control.backend() as backend:
            backend.add_external(active, clingo.TruthValue.Release)
        return costs

    def holds(self, assumptions: Sequence[int]) -> list[int] | None:
        given = [self.ground.literal(lit) for lit in assumptions]
        with self.ground.control.solve(assumptions=given, yield_=True) as handle:
            model = handle.model()
            if model is None:
                return None
            atoms = enumerate(self.ground.atoms[: self.chosen], 1)
            return [n if model.is_true(atom) else -n for n, atom in atoms]

    def clash(self, assumptions: Sequence[int]) -> list[int] | None:
        named = {self.switched.literal(lit): lit for lit in assumptions}
        with self.switched.control.solve(assumptions=list(named), yield_=True) as handle:
            if handle.model() is not None:
                return None
            return [named[lit] for lit in handle.core()]

    def enumerate(self) -> int:
        return _listed(self.problem.product, 0)

    def million(self) -> int:
        return _listed(self.problem.wide, MILLION)

    def count(self) -> int:
        return _listed(self.problem.scope, 0)


def _best(ground: _Ground, chosen: int) -> tuple[int, set[int]] | None:
    """The least cost and the literals of the first variables that hold there."""
    best = None
    with ground.control.solve(yield_=True) as handle:
        for model in handle:
            cost = model.cost[0] if model.cost else 0
            atoms = enumerate(ground.atoms[:chosen], 1)
            best = cost, {n if model.is_true(atom) else -n for n, atom in atoms}
    return best


def _listed(model: Model, most: int) -> int:
    top, clauses = clauses_of(model.texts["dimacs"])
    ground = _Ground(top, clauses, "--project", f"--models={most}")
    with ground.control.backend() as backend:
        chosen = [abs(lit) for literals in model.literals for lit in literals]
        backend.add_project([ground.literal(n) for n in dict.fromkeys(chosen)])
    found = 0

    def note(_: clingo.Model) -> None:
        nonlocal found
        found += 1

    ground.control.solve(on_model=note)
    return found
