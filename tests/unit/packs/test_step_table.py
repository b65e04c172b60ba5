"""The table of a program's steps: what went in comes out, packed in between."""

from __future__ import annotations

import marshal

import pytest

from kvsolve.packs.step_table import StepInfo, StepTable


def steps(count: int) -> list[StepInfo]:
    return [
        StepInfo("set", f"s{n}", "args", "f.py", "g", n, "h", f"k{n}", "m") for n in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_the_table_of_steps_is_these_steps_also_when_kept(count):
    wanted = steps(count)
    table = StepTable(*marshal.loads(marshal.dumps(StepTable.of(wanted).to_plain())))
    assert len(table) == count
    assert list(table) == wanted
    assert [table[n] for n in reversed(range(count))] == wanted[::-1]


def test_positions_count_from_the_end_and_slices_are_tuples():
    table = StepTable.of(steps(70))
    assert table[-1].name == "s69"
    assert [s.name for s in table[62:66]] == ["s62", "s63", "s64", "s65"]


@pytest.mark.parametrize("position", [70, -71])
def test_a_position_that_is_none_is_an_error(position):
    with pytest.raises(IndexError, match="of 70"):
        StepTable.of(steps(70))[position]
