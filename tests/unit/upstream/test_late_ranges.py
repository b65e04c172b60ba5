"""Late entries are carried over to a release in which their function is the same, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvsolve.upstream.late_ranges import carry_over
from kvsolve.upstream.source import SourceTree

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = """\
# A curated file.

[[let]]
name = "pages"
value = "page_size"
sglang = ">=9.8.6,<=9.8.7"

[[entry]]
code = "KV8001"
ground = { file = "pool.py", symbol = "Pool.__init__", sglang = ">=9.8.6,<=9.8.7" }

[[entry]]
code = "KV8002"
ground = { file = "pool.py", symbol = "Pool.grow", sglang = ">=9.8.6,<=9.8.7" }

[[entry]]
code = "KV8003"
ground = { file = "pool.py", symbol = "Pool.gone", sglang = ">=9.8.6,<=9.8.7" }

[[entry]]
code = "KV8004"
ground = { file = "pool.py", symbol = "Pool.__init__", sglang = ">=9.8.1,<=9.8.2" }
"""
OLD = """\
class Pool:
    def __init__(self, size):
        if size < 1:
            raise ValueError(size)

    def grow(self, by):
        assert by > 0

    def gone(self): ...
"""
NEW = """\
class Pool:
    # Moved, and otherwise the same.

    def __init__(self, size):
        if size < 1:
            raise ValueError(size)

    def grow(self, by):
        assert by > 1
"""


def tree(root: Path, release: str, text: str) -> SourceTree:
    folder = root / release / "sglang" / "srt"
    folder.mkdir(parents=True)
    (folder / "server_args.py").write_text("X = 1\n")
    (folder / "pool.py").write_text(text)
    return SourceTree.open(root / release, release)


@pytest.fixture
def carried(tmp_path):
    path = tmp_path / "70-load.toml"
    path.write_text(ENTRIES)
    return carry_over([path], tree(tmp_path, "9.8.7", OLD), tree(tmp_path, "9.8.8", NEW))


def test_an_entry_whose_function_is_the_same_holds_for_the_new_release_too(carried):
    (text,) = carried.texts.values()
    assert carried.carried == 1
    assert 'symbol = "Pool.__init__", sglang = ">=9.8.6,<=9.8.8"' in text
    assert 'sglang = ">=9.8.1,<=9.8.2"' in text, "it held no longer for the release before"


def test_a_name_goes_with_them(carried):
    (text,) = carried.texts.values()
    assert 'value = "page_size"\nsglang = ">=9.8.6,<=9.8.8"' in text


def test_what_changed_or_is_gone_is_left_to_a_person(carried):
    (text,) = carried.texts.values()
    assert [(code, place) for _, code, place in carried.left] == [
        ("KV8002", "pool.py Pool.grow"),
        ("KV8003", "pool.py Pool.gone"),
    ]
    assert text.count("<=9.8.7") == 2
