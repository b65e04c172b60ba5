"""Cells of matrices and the support of pairs are what CP-SAT and clingo find."""

from __future__ import annotations

import random

import pytest
from ortools.sat.python import cp_model

from benchmarks.peers.solvers.clingo_asp import _Ground
from benchmarks.peers.solvers.cp_sat import _Sat
from kvsolve.solve.check import same_value
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.matrix import Axis, CellState, matrix
from kvsolve.solve.support import Support, support
from tests.independent.real import CONTEXTS, named, real

MATRICES = (("attention_backend", "kv_cache_dtype"), ("page_size", "prefill_attention_backend"))
PAIRS = 150


def mask_literals(clauses: Clauses, variable: int, value: object) -> list[int] | None:
    """The literals of a flag at a value, however it comes to it; None where any class has it."""
    states = clauses.lowered.states[variable]
    own = [n for n, state in enumerate(states) if same_value(state.value, value)]
    literals = clauses.literals[variable]
    if not literals:
        return None
    return sorted({literals[clauses.class_of(variable, n)] for n in own})


class CpSat:
    """A lowered context in CP-SAT; what one solution shows is not asked again."""

    def __init__(self, lowered: Lowered) -> None:
        self.clauses = Clauses(lowered)
        self.sat = _Sat(self.clauses.top, self.clauses.clauses)
        self.shown: list[list[int]] = []

    def allows(self, *either: list[int] | None) -> bool:
        """Whether some solution has one literal of each group."""
        groups = [group for group in either if group is not None]
        for true in self.shown:
            if all(any(true[abs(lit) - 1] == lit for lit in group) for group in groups):
                return True
        model = self.sat.model.clone()
        for group in groups:
            model.add_bool_or([self.sat.literal(lit) for lit in group])
        solver = self.sat.solver()
        while solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            values = map(solver.boolean_value, self.sat.variables)
            true = [n if value else -n for n, value in enumerate(values, 1)]
            at = self.clauses.first_states(self.clauses.chosen(true))
            box = self.clauses.lowered.objection(at)
            if box is None:
                self.shown.append(true)
                return True
            model.add_bool_or([self.sat.literal(lit) for lit in self.clauses.excluding(box)])
        return False


@pytest.mark.parametrize("axes", MATRICES, ids=" x ".join)
@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_cells_are_what_cp_sat_finds(context: tuple[str, str], axes: tuple[str, str]) -> None:
    setting = real(*context).setting
    prepared, config, held = setting.prepared, setting.empty, setting.held
    found = matrix(lambda _: (prepared, config), *map(Axis, axes), held=held)
    vary = dict.fromkeys(dict.fromkeys([*setting.free, *axes]))
    refusing = lower(prepared, config, vary=_with_typed_defaults(setting, vary))
    refusing.unsure.clear()
    engine = CpSat(refusing)
    positions = [refusing.position[dest] for dest in axes]
    kinds = set()
    for cell in found.cells:
        groups = [
            mask_literals(engine.clauses, v, value)
            for v, value in zip(positions, (cell.row, cell.col), strict=True)
        ]
        kinds.add(cell.state)
        if cell.state is CellState.NO:
            assert not engine.allows(*groups), cell
        elif cell.state is not CellState.UNKNOWN or cell.facts:
            assert engine.allows(*groups), cell
    assert len(kinds) > 1


def _with_typed_defaults(setting, vary):
    """Every state that a completion may have: unset, and each value typed."""
    from kvsolve.solve.domains import domain_of
    from kvsolve.solve.network import network_of

    flags, literals = setting.prepared.pack.flags, network_of(setting.prepared).literals
    return {dest: domain_of(dest, setting.empty, flags, literals).states for dest in vary}


@pytest.mark.parametrize("context", CONTEXTS[:1], ids=named(CONTEXTS[:1]))
def test_support_of_pairs_is_what_clingo_finds(context: tuple[str, str]) -> None:
    setting = real(*context).setting
    found = support(setting.prepared, setting.empty, held=setting.held)
    assert found.complete
    clauses = Clauses(found.lowered)
    ground = _Ground(clauses.top, clauses.clauses)
    classes = [(v, mask) for v, own in enumerate(found.lowered.classes) for mask in own]
    source = random.Random(3)
    wanted = dict.fromkeys(Support, PAIRS)
    del wanted[Support.UNKNOWN]
    for _ in range(200_000):
        (a, one), (b, other) = source.sample(classes, 2)
        if a == b or not any(wanted.values()):
            continue
        states = [(mask & -mask).bit_length() - 1 for mask in (one, other)]
        told = found.tell(a, states[0], b, states[1])
        if not wanted[told]:
            continue
        wanted[told] -= 1
        literals = [*clauses.state(a, states[0]), *clauses.state(b, states[1])]
        given = [ground.literal(literal) for literal in literals]
        result = ground.control.solve(assumptions=given)
        # The clauses leave out what entries say that are not lowered, so that they allow more.
        if told is Support.SUPPORTED:
            assert result.satisfiable
        elif not found.lowered.pending or result.unsatisfiable:
            assert result.unsatisfiable
        else:
            pytest.fail(
                f"{told} although the clauses allow it; is it an entry that is not lowered?"
            )
    assert sum(wanted.values()) < PAIRS
