"""Counts are those of clingo's projected enumeration and of a decision diagram."""

from __future__ import annotations

import random
from math import prod
from typing import TYPE_CHECKING

import pytest

from benchmarks.peers.making import first_scope
from benchmarks.peers.solvers.clingo_asp import _Ground
from benchmarks.peers.solvers.decision_diagram import diagram
from kvsolve.solve.count import bounds, count, helped
from kvsolve.solve.enumerate import iter_configs
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.lower import Lowered, lower
from tests.independent.real import CONTEXTS, named, setting_of

if TYPE_CHECKING:
    import clingo


def listed(lowered: Lowered, variables: list[int]) -> int:
    """How many values of some flags some solution has, by clingo: classes times their sizes."""
    clauses = Clauses(lowered)
    ground = _Ground(clauses.top, clauses.clauses, "--project", "--models=0")
    own = [abs(lit) for v in variables for lit in clauses.literals[v]]
    atoms = {n: ground.literal(n) for n in dict.fromkeys(own)}
    with ground.control.backend() as backend:
        backend.add_project(list(atoms.values()))
    total = 0

    def note(model: clingo.Model) -> None:
        nonlocal total
        true = {n for n, atom in atoms.items() if model.is_true(atom)}
        total += prod(_chosen(clauses, v, true) for v in variables)

    ground.control.solve(on_model=note)
    return total


def _chosen(clauses: Clauses, variable: int, true: set[int]) -> int:
    literals, classes = clauses.literals[variable], clauses.classes[variable]
    if not literals:
        return classes[0].bit_count()
    holds = [(lit in true) if lit > 0 else -lit not in true for lit in literals]
    return classes[holds.index(True)].bit_count()


@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_counts_of_a_few_flags(context: tuple[str, str]) -> None:
    setting = setting_of(*context)
    source = random.Random(11)
    pool = list(first_scope(setting))
    for _ in range(8):
        vary = source.sample(pool, 5)
        lowered = lower(setting.prepared, setting.empty, vary=dict.fromkeys(vary))
        if lowered.pending or prod(map(len, lowered.classes)) > 20_000:
            continue
        own = count(setting.prepared, setting.empty, vary)
        assert own == listed(lowered, list(range(len(lowered.dests)))), vary


@pytest.mark.parametrize("context", CONTEXTS[:1], ids=named(CONTEXTS[:1]))
def test_counts_of_projections_with_everything_else_free(context: tuple[str, str]) -> None:
    setting = setting_of(*context)
    source = random.Random(12)
    pool = list(first_scope(setting))
    for _ in range(3):
        project = source.sample(pool, 3)
        own = bounds(setting.prepared, setting.empty, project=project, held=setting.held)
        assert own.exact
        lowered = helped(setting.prepared, setting.empty, project, (), setting.held)
        told = listed(lowered, [lowered.position[dest] for dest in project])
        # An entry that is not lowered is in no clause: clingo may count too many, never too few.
        assert own.lower == told if not lowered.pending else own.lower <= told
        assert own.lower == told, (project, [str(c.step) for c in lowered.pending])


@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_lists_have_as_many_as_a_decision_diagram_counts(context: tuple[str, str]) -> None:
    setting = setting_of(*context)
    vary = [
        "attention_backend",
        "kv_cache_dtype",
        "page_size",
        "is_embedding",
        "enable_mixed_chunk",
    ]
    lowered = lower(setting.prepared, setting.empty, vary=dict.fromkeys(vary))
    vars(lowered)["classes"] = tuple(
        tuple(1 << s for s in range(len(states))) for states in lowered.states
    )
    clauses = Clauses(lowered)
    found = sum(1 for _ in iter_configs(setting.prepared, setting.empty, vary))
    assert found
    assert diagram(clauses.top, clauses.clauses) == found
