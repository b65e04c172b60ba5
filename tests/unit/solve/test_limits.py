"""Where the time is up, what is not decided is said to be open, and nothing is claimed valid."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from kvsolve.model.program import Program, Refuse
from kvsolve.model.syntax import parse
from kvsolve.solve.cells import CellState
from kvsolve.solve.conflict import conflict
from kvsolve.solve.cover import cover
from kvsolve.solve.enumerate import iter_configs
from kvsolve.solve.full import full_matrix
from kvsolve.solve.lint import Kind
from kvsolve.solve.lint_values import value_remarks
from tests.property.strategies import PLACE, config_of, prepared_of

if TYPE_CHECKING:
    from kvsolve.solve.check import Prepared

REFUSALS = ("depth == 2", "codec == 'x' and extra == 'on'")
VARY = dict.fromkeys(["codec", "depth", "extra"])


@pytest.fixture
def prepared() -> Prepared:
    steps = tuple(Refuse("ValueError", parse(r), PLACE) for r in REFUSALS)
    return prepared_of(Program("0.0.1", steps))


@pytest.mark.parametrize("project", [(), ("codec",)])
def test_a_list_stops(prepared: Prepared, project: tuple[str, ...]) -> None:
    config = config_of(prepared.pack.flags, {})
    assert list(iter_configs(prepared, config, VARY, project=project, time_limit=1e9))
    with pytest.raises(TimeoutError):
        list(iter_configs(prepared, config, VARY, project=project, time_limit=0))


def test_a_full_matrix_without_time_claims_nothing(prepared: Prepared) -> None:
    full = full_matrix(prepared, config_of(prepared.pack.flags, {}), time_limit=0)
    assert not full.complete
    assert {value.ruling.state for value in full.values} == {CellState.UNKNOWN}
    assert all(block.state is CellState.UNKNOWN for block in full.blocks)


def test_a_cover_without_time_says_what_is_left(prepared: Prepared) -> None:
    found = cover(prepared, config_of(prepared.pack.flags, {}), vary=VARY, time_limit=0)
    assert (found.rows, found.complete, found.left > 0) == ((), False, True)


def test_values_without_time_are_open(prepared: Prepared) -> None:
    remarks = value_remarks(prepared, config_of(prepared.pack.flags, {}), time_limit=0)
    assert {remark.kind for remark in remarks} == {Kind.OPEN}


@pytest.mark.parametrize("given", [{"depth": 2}, {"codec": "x"}], ids=["clashes", "holds"])
def test_without_time_it_is_not_said_whether_pins_hold(
    prepared: Prepared, given: dict[str, object]
) -> None:
    config = config_of(prepared.pack.flags, given)
    with pytest.raises(TimeoutError):
        conflict(prepared, config, deadline=time.monotonic() - 1)
