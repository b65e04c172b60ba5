"""A matrix cell agrees with a check of its witness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.model.context import Config, Context
from kvsolve.solve.cells import CellJudge
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.domains import default_of
from kvsolve.solve.matrix import Axis, Cell, CellState, Part, judged_part, matrix
from tests.property.strategies import (
    VALUES,
    Assignment,
    Case,
    assignments,
    cases,
    config_at,
    domains,
    is_valid,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

pairs = st.lists(st.sampled_from(sorted(VALUES)), min_size=2, max_size=2, unique=True)


def fixed_state(case: Case, dest: str, value: Any) -> int:
    states = domains(case)[dest].states
    found = [n for n, s in enumerate(states) if same_value(s.value, value)]
    return min(found, key=lambda n: states[n].typed)


def witness(case: Case, cell: Cell, axes: tuple[str, str]) -> Config:
    """The configuration that a cell speaks of."""
    values, given_ = dict(case.config.values), dict(case.config.given)
    for dest, value in zip(axes, (cell.row, cell.col), strict=True):
        state = domains(case)[dest].states[fixed_state(case, dest, value)]
        values[dest] = value
        given_.pop(dest, None)
        if state.typed:
            given_[dest] = "--" + dest
    for edit in cell.edits:
        values[edit.dest] = edit.value
        given_[edit.dest] = edit.flag
        if edit.op == "remove":
            del given_[edit.dest]
    return Config(values, given_)


@settings(max_examples=150, deadline=None)
@given(cases(), pairs)
def test_cells_agree_with_the_product_and_with_check(case: Case, pair: list[str]) -> None:
    row, col = pair
    answer = matrix(lambda _: (case.prepared, case.config), Axis(row), Axis(col))
    found = domains(case)
    kept: Assignment = {d: found[d].start for d in case.config.given if d not in pair}
    free = {d: domain for d, domain in found.items() if d not in kept and d not in pair}
    for cell in answer.cells:
        fixed = {row: fixed_state(case, row, cell.row), col: fixed_state(case, col, cell.col)}
        members = [kept | fixed | rest for rest in assignments(free)]
        valid = [m for m in members if is_valid(case.prepared, config_at(case, found, m))]
        assert (cell.state is CellState.NO) is (not valid)
        if cell.state is CellState.NO:
            assert cell.codes
            continue
        config = witness(case, cell, (row, col))
        assert is_valid(case.prepared, config)
        trace = case.prepared.trace(config)
        effective = {**config.values, **trace.values}
        reports = case.prepared.pack.catalog.reports(effective, {})
        if cell.state is CellState.REPORTED:
            assert cell.codes == tuple(r.code for r in reports)
        if cell.state in (CellState.YES, CellState.WITH):
            assert not reports
            assert bool(cell.edits) is (cell.state is CellState.WITH)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(sorted(VALUES)))
def test_a_context_axis_gives_what_each_context_gives_alone(case: Case, dest: str) -> None:
    def prepare(wanted: Any) -> tuple[Prepared, Config]:
        facts = {**case.prepared.facts, "gpu.new": wanted.get("gpu") == "new"}
        context = Context("0.0.1", wanted.get("gpu"), 8, "m", "-", facts)
        return Prepared(case.prepared.pack, context), case.config

    both = matrix(prepare, Axis(dest), Axis("gpu", ("new", "old")))
    for gpu in ("new", "old"):
        alone = matrix(prepare, Axis(dest), Axis("gpu", (gpu,)))
        assert [c for c in both.cells if c.col == gpu] == list(alone.cells)


def test_a_default_is_the_flag_not_given() -> None:
    from tests.property.strategies import random_case

    case = random_case(3)
    default = default_of(case.prepared.pack.flags, "depth")
    state = domains(case)["depth"].states[fixed_state(case, "depth", default)]
    assert not state.typed


@settings(max_examples=40, deadline=None)
@given(cases(), pairs)
def test_parts_judged_elsewhere_give_the_same_matrix(case: Case, pair: list[str]) -> None:
    def prepare(_: Any) -> tuple[Prepared, Config]:
        fresh = Prepared(case.prepared.pack, case.prepared.context)
        return fresh, case.config

    def backwards(parts: Sequence[Part]) -> list[tuple[Cell, ...]]:
        return [judged_part(prepare, part) for part in reversed(parts)][::-1]

    axes = Axis(pair[0]), Axis(pair[1])
    assert matrix(prepare, *axes, judge=backwards) == matrix(prepare, *axes)


@settings(max_examples=40, deadline=None)
@given(cases(reports=False), pairs)
def test_the_solver_asked_instead_of_a_long_search_says_the_same(
    case: Case, pair: list[str]
) -> None:
    values = {dest: VALUES[dest] for dest in pair}
    judge = CellJudge(case.prepared, case.config, values)
    for row in VALUES[pair[0]]:
        for col in VALUES[pair[1]]:
            wanted = {pair[0]: row, pair[1]: col}
            excluded = judge._excluded(wanted)
            state = judge.ruling(wanted).state
            if excluded is None:
                assert state not in (CellState.NO, CellState.UNKNOWN)
            else:
                assert excluded.codes
                assert (excluded.state is CellState.NO) <= (state is CellState.NO)
