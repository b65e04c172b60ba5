"""The cost of the best repair is what MaxSAT, answer set and CP solvers find."""

from __future__ import annotations

import os

import pytest

from benchmarks.peers.problem import Problem, Switched
from benchmarks.peers.solvers.clingo_asp import Clingo
from benchmarks.peers.solvers.cp_sat import CpSat
from benchmarks.peers.solvers.peer import changed
from benchmarks.peers.solvers.python_sat import PySat
from kvsolve.solve.repair import repair
from tests.independent.real import CONTEXTS, Real, named, real

_OF_CP_SAT = int(os.environ.get("KVSOLVE_CP_SAT", "100"))
"""Commands in each context that CP-SAT, the slowest, is asked about too."""


def problem_of(found: Real, clauses: list[list[int]]) -> Problem:
    """The clauses with some more, as the peers take them; only what they need here."""
    more = "".join(" ".join(["h", *map(str, clause), "0\n"]) for clause in clauses)
    model = found.model
    model.texts["wcnf"] += more
    nothing = Switched([], 0, ())
    return Problem(
        "", "", "", 1, model, model, nothing, model, model, model, (), (), (), len(clauses)
    )


@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_the_best_repair_costs_what_other_engines_find(context: tuple[str, str]) -> None:
    found = real(*context)
    own = []
    for config, _ in found.commands:
        answer = repair(
            found.setting.prepared, config, held=found.setting.held, k=1, both_ways=False
        )
        assert answer.complete or answer.repairs[0].optimal
        own.append(answer.repairs[0].cost if answer.repairs else None)
    assert own.count(None) < len(own) / 2, "most commands can be repaired"
    problem = problem_of(found, [])
    rc2 = PySat(problem)
    rc2.build()
    costs, more = [], []
    for _, query in found.commands:
        cost, learned = _settled(rc2, found, query)
        costs.append(cost)
        more += learned
    assert own == costs
    problem = problem_of(found, more)
    for kind, number in ((Clingo, len(found.commands)), (CpSat, _OF_CP_SAT)):
        peer = kind(problem)
        peer.build()
        told = [peer.nearest(query) for _, query in found.commands[:number]]
        assert told == own[: len(told)], kind.__name__


def _settled(rc2: PySat, found: Real, query) -> tuple[int | None, list[list[int]]]:
    """The optimum once no entry outside of the clauses objects, and the clauses it took."""
    learned: list[list[int]] = []
    with rc2._rc2(query) as solver:
        while (model := solver.compute()) is not None:
            clause = found.objection(set(model))
            if clause is None:
                return solver.cost, learned
            learned.append(clause)
            solver.add_clause(clause)
    return None, learned


@pytest.mark.parametrize("context", CONTEXTS[:1], ids=named(CONTEXTS[:1]))
def test_alternatives_cost_what_a_maxsat_solver_finds(context: tuple[str, str]) -> None:
    found = real(*context)
    rc2 = PySat(problem_of(found, []))
    rc2.build()
    for config, query in found.commands[:40]:
        answer = repair(
            found.setting.prepared,
            config,
            held=found.setting.held,
            k=6,
            both_ways=False,
            reach=None,
            time_limit=20,
        )
        own = [one.cost for one in answer.repairs]
        assert own == _costs(rc2, found, query, len(own), ends=answer.complete), query.typed


def _costs(rc2: PySat, found: Real, query, most: int, *, ends: bool) -> list[int]:
    """Costs of the best repairs of which none contains another, one more where none should be."""
    costs: list[int] = []
    with rc2._rc2(query) as solver:
        while len(costs) < most + (ends and most < 6):
            model = solver.compute()
            if model is None:
                break
            true = set(model)
            clause = found.objection(true)
            if clause is None:
                costs.append(solver.cost)
                clause = changed(found.model, query, true.__contains__)
            if not clause:
                break
            solver.add_clause(clause)
    return costs
