"""The full matrix says of every pair of values what brute force says, with reasons that suffice."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given, settings

from kvsolve.solve.cells import CellState
from kvsolve.solve.check import same_value
from kvsolve.solve.culprits import Culprits
from kvsolve.solve.full import full_matrix
from kvsolve.solve.lowering.lower import lower
from tests.property.strategies import Case, cases, is_valid, stops

if TYPE_CHECKING:
    from kvsolve.model.context import Config

GONE = (CellState.NO, CellState.UNKNOWN)


def members(case: Case) -> list[Config]:
    """Every configuration that keeps what is given, a default standing for the flag not given."""
    lowered = lower(case.prepared, case.config)
    return [lowered.config_at(at) for at in product(*(range(len(s)) for s in lowered.states))]


def valid_members(case: Case) -> list[dict[str, object]]:
    """The values of each valid configuration that keeps what is given."""
    return [dict(c.values) for c in members(case) if decided(case, c)]


def decided(case: Case, config: Config) -> bool:
    """Valid, and no missing fact leaves it open."""
    trace = case.prepared.trace(config)
    unknown = any(f.reason == "unknown" and case.prepared.decides(f.step) for f in trace.failures)
    return is_valid(case.prepared, config) and not unknown


@settings(max_examples=80, deadline=None)
@given(cases(reports=False))
def test_every_pair_is_as_brute_force_has_it(case: Case) -> None:
    members = valid_members(case)
    full = full_matrix(case.prepared, case.config)
    clashing = {
        (block.row[0], repr(a), block.col[0], repr(b))
        for block in full.blocks
        for a in block.row[1]
        for b in block.col[1]
    }
    lost = {(v.dest, repr(v.value)) for v in full.values if v.ruling.state in GONE}
    for dest, values in full.flags:
        for value in values:
            alive = any(same_value(m[dest], value) for m in members)
            assert ((dest, repr(value)) in lost) is not alive
    total = 0
    for at, (row, rows) in enumerate(full.flags):
        for col, cols in full.flags[at + 1 :]:
            for a in rows:
                for b in cols:
                    total += 1
                    if (row, repr(a)) in lost or (col, repr(b)) in lost:
                        continue
                    meet = any(same_value(m[row], a) and same_value(m[col], b) for m in members)
                    assert ((row, repr(a), col, repr(b)) in clashing) is not meet
    assert full.complete
    assert sum(full.counts.values()) == total


@settings(max_examples=80, deadline=None)
@given(cases(reports=False).filter(lambda case: "gpu.old" in case.prepared.facts))
def test_culprits_suffice_and_none_can_be_spared(case: Case) -> None:
    lowered = lower(case.prepared, case.config)
    every = members(case)
    with Culprits(lowered) as culprits:
        for flag, dest in enumerate(lowered.dests):
            for state, one in enumerate(lowered.states[flag]):
                steps = culprits.of([(flag, state)])
                alike = [c for c in every if same_value(c.values[dest], one.value)]
                left = [c for c in alike if not any(stops(case.prepared, s, c) for s in steps)]
                if not steps:
                    continue
                assert not left
                for spared in steps:
                    rest = [s for s in steps if s != spared]
                    assert any(not any(stops(case.prepared, s, c) for s in rest) for c in alike)
