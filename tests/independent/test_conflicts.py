"""Conflicts clash and every member of one is needed, as another solver has it."""

from __future__ import annotations

import time

import pytest

from benchmarks.peers.solvers.clingo_asp import _Ground
from benchmarks.peers.solvers.peer import closed, pin_literals
from kvsolve.solve.conflict import conflict
from tests.independent.real import CONTEXTS, Real, named, real

_MOST_S = 40


class Other:
    """The entries of a context, each with a switch, in clingo."""

    def __init__(self, found: Real) -> None:
        self.found = found
        self.clauses = found.switches.clauses
        self.ground = _Ground(self.clauses.top, self.clauses.clauses)
        catalog = found.setting.prepared.pack.catalog
        self.switches: dict[str, list[int]] = {}
        for step, literal in found.switches.of.items():
            code = catalog.entry(max(step, ~step)).code
            self.switches.setdefault(code, []).append(literal)
        self.outside = {catalog.entry(c.step).code for c in found.lowering.refusing.pending}

    def clash(self, literals: list[int]) -> bool:
        given = [self.ground.literal(literal) for literal in literals]
        return bool(self.ground.control.solve(assumptions=given).unsatisfiable)


@pytest.mark.parametrize("context", CONTEXTS, ids=named())
def test_conflicts_are_conflicts_and_minimal(context: tuple[str, str]) -> None:
    found = real(*context)
    other = Other(found)
    prepared, held = found.setting.prepared, found.setting.held
    told = 0
    for config, query in found.commands:
        answer = conflict(prepared, config, held=held, deadline=time.monotonic() + _MOST_S)
        closed_ = closed(found.model, query)
        every = [switch for group in other.switches.values() for switch in group]
        pins = pin_literals(found.model, query)
        if answer is None:
            assert not other.clash([*closed_, *pins, *every]), config.given
            continue
        if other.outside & set(answer.codes):
            continue  # no clause says what such an entry says
        told += 1
        literals = {
            dest: found.model.literals[v][query.start[v]]
            for dest, _ in answer.pins
            for v in [found.model.flags.index(dest)]
        }
        members = [*([literal] for literal in literals.values())]
        members += [other.switches[code] for code in answer.codes]
        parts = [lit for member in members for lit in member]
        assert other.clash([*closed_, *parts]), answer
        for member in members:
            fewer = [lit for lit in parts if lit not in member]
            assert not other.clash([*closed_, *fewer]), (answer, member)
    assert told > len(found.commands) / 4
