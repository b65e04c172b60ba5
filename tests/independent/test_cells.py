"""Cells of matrices and the support of pairs are what CP-SAT and clingo find."""

from __future__ import annotations

import os
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
from tests.independent.real import CONTEXTS, named, setting_of

MATRICES = (("attention_backend", "kv_cache_dtype"), ("page_size", "prefill_attention_backend"))
PAIRS = 150
_OF_CP_SAT = int(os.environ.get("KVSOLVE_CP_SAT", "100")) // 4
"""Cells of each matrix that CP-SAT, the slowest, is asked about too."""


def mask_literals(clauses: Clauses, variable: int, value: object) -> list[int] | None:
    """The literals of a flag at a value, however it comes to it; None where any class has it."""
    states = clauses.lowered.states[variable]
    own = [n for n, state in enumerate(states) if same_value(state.value, value)]
    literals = clauses.literals[variable]
    if not literals:
        return None
    return sorted({literals[clauses.class_of(variable, n)] for n in own})


Groups = list[list[int]]
"""Literals of which one in each group must hold."""


class Engine:
    """A lowered context in another solver; what one solution shows is not asked again."""

    def __init__(self, lowered: Lowered) -> None:
        self.clauses = Clauses(lowered)
        self.shown: list[list[int]] = []
        self.more: Groups = []
        self.last = max(abs(lit) for own in self.clauses.literals for lit in own)

    def solution(self, groups: Groups) -> list[int] | None:
        raise NotImplementedError

    def allows(self, *either: list[int] | None) -> bool:
        """Whether something valid has one literal of each group."""
        groups = [group for group in either if group is not None]
        for true in self.shown:
            if all(any(true[abs(lit) - 1] == lit for lit in group) for group in groups):
                return True
        while (true := self.solution([*groups, *self.more])) is not None:
            at = self.clauses.first_states(self.clauses.chosen(true))
            box = self.clauses.lowered.objection(at)
            if box is None:
                self.shown.append(true)
                return True
            self.more.append(self.clauses.excluding(box))
        return False


class CpSat(Engine):
    def __init__(self, lowered: Lowered) -> None:
        super().__init__(lowered)
        self.sat = _Sat(self.clauses.top, self.clauses.clauses)

    def solution(self, groups: Groups) -> list[int] | None:
        model = self.sat.model.clone()
        for group in groups:
            model.add_bool_or([self.sat.literal(lit) for lit in group])
        solver = self.sat.solver()
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        values = map(solver.boolean_value, self.sat.variables[: self.last])
        return [n if value else -n for n, value in enumerate(values, 1)]


class Clingo(Engine):
    def __init__(self, lowered: Lowered) -> None:
        super().__init__(lowered)
        self.ground = _Ground(self.clauses.top, self.clauses.clauses)

    def solution(self, groups: Groups) -> list[int] | None:
        control = self.ground.control
        with control.backend() as backend:
            active = backend.add_atom()
            backend.add_rule([active], choice=True)
        for group in groups:
            self.ground.add(group, unless=active)
        with control.solve(assumptions=[active], yield_=True) as handle:
            model = handle.model()
            if model is None:
                return None
            atoms = enumerate(self.ground.atoms[: self.last], 1)
            return [n if model.is_true(atom) else -n for n, atom in atoms]


@pytest.mark.parametrize("axes", MATRICES, ids=" x ".join)
@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_cells_are_what_clingo_and_cp_sat_find(
    context: tuple[str, str], axes: tuple[str, str]
) -> None:
    setting = setting_of(*context)
    prepared, config, held = setting.prepared, setting.empty, setting.held
    found = matrix(lambda _: (prepared, config), *map(Axis, axes), held=held)
    vary = dict.fromkeys([*setting.free, *axes])
    refusing = lower(prepared, config, vary=_with_typed_defaults(setting, vary))
    refusing.unsure.clear()
    source = random.Random(7)
    kinds = {cell.state for cell in found.cells}
    assert len(kinds) > 1
    of_cp_sat = source.sample(found.cells, min(len(found.cells), _OF_CP_SAT))
    for engine, cells in ((Clingo(refusing), found.cells), (CpSat(refusing), of_cp_sat)):
        positions = [refusing.position[dest] for dest in axes]
        for cell in cells:
            groups = [
                mask_literals(engine.clauses, v, value)
                for v, value in zip(positions, (cell.row, cell.col), strict=True)
            ]
            if cell.state is CellState.NO:
                assert not engine.allows(*groups), cell
            elif cell.state is not CellState.UNKNOWN or cell.facts:
                assert engine.allows(*groups), cell


def _with_typed_defaults(setting, vary):
    """Every state that a completion may have: unset, and each value typed."""
    from kvsolve.solve.domains import domain_of
    from kvsolve.solve.network import network_of

    flags, literals = setting.prepared.pack.flags, network_of(setting.prepared).literals
    return {dest: domain_of(dest, setting.empty, flags, literals).states for dest in vary}


@pytest.mark.parametrize("context", CONTEXTS[:1], ids=named(CONTEXTS[:1]))
def test_support_of_pairs_is_what_clingo_finds(context: tuple[str, str]) -> None:
    setting = setting_of(*context)
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
