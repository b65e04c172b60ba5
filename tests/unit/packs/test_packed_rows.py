"""Tables that stay packed: what went in comes out, whatever lies between."""

from __future__ import annotations

import os

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.packs import cached_parts
from kvsolve.packs.cached_parts import read_cached_parts, write_cached_parts
from kvsolve.packs.files import cache_directory
from kvsolve.packs.packed_rows import PackedRows, blocks_of
from kvsolve.packs.steps import StepInfo, StepTable


def steps(count: int) -> list[StepInfo]:
    return [StepInfo("set", f"s{n}", "args", "f.py", "g", n, "h", f"k{n}") for n in range(count)]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KVSOLVE_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 200])
@pytest.mark.parametrize("first", [0, 3])
def test_a_table_of_steps_is_these_steps(count, first):
    wanted = steps(count)
    table = StepTable([*[b""] * first, *blocks_of(wanted)], count, first)
    assert len(table) == count
    assert list(table) == wanted
    assert [table[n] for n in reversed(range(count))] == wanted[::-1]


def test_positions_count_from_the_end_and_slices_are_rows():
    rows = [(n, str(n)) for n in range(70)]
    table = PackedRows(blocks_of(rows), 70)
    assert table[-1] == (69, "69")
    assert table[30:34] == rows[30:34]


@pytest.mark.parametrize("position", [70, -71])
def test_a_position_that_is_none_is_an_error(position):
    with pytest.raises(IndexError, match="among 70"):
        PackedRows(blocks_of((n,) for n in range(70)), 70)[position]


PARTS = [[], [b""], [b"a", b"", b"some more"], [bytes([n]) * n for n in range(100)]]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("whole", [False, True], ids=["by part", "whole"])
def test_kept_parts_are_these_parts(monkeypatch, parts, whole):
    write_cached_parts("some", "key", parts)
    if whole:
        monkeypatch.delattr(os, "pread")
    kept = read_cached_parts("some", "key")
    assert list(kept) == parts
    assert read_cached_parts("some", "another key") is None
    assert read_cached_parts("none", "key") is None


def test_kept_parts_outlive_their_file():
    write_cached_parts("some", "key", [b"old", b"older"])
    kept = read_cached_parts("some", "key")
    write_cached_parts("some", "key", [b"new"])
    (cache_directory() / "some").unlink()
    assert list(kept) == [b"old", b"older"]


def test_a_file_that_others_may_write_is_not_read():
    write_cached_parts("some", "key", [b"a"])
    (cache_directory() / "some").chmod(0o666)
    assert read_cached_parts("some", "key") is None


def test_a_file_cut_short_while_it_is_read_is_told():
    write_cached_parts("some", "key", [b"a", b"bcd"])
    kept = read_cached_parts("some", "key")
    path = cache_directory() / "some"
    os.truncate(path, path.stat().st_size - 1)
    assert kept[0] == b"a"
    with pytest.raises(KvsolveError, match=r"cut short.*KVSOLVE_CACHE_DIR"):
        kept[1]


def test_the_file_is_closed_when_nobody_needs_it(monkeypatch):
    closed = []
    close = os.close
    monkeypatch.setattr(cached_parts.os, "close", lambda fd: (closed.append(fd), close(fd)))
    write_cached_parts("some", "key", [b"a"])
    kept = read_cached_parts("some", "key")
    closed.clear()
    del kept
    assert len(closed) == 1
