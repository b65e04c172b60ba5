"""An interrupt while a file is written leaves the old one, and no halves beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from kvsolve.files.found import Document
from kvsolve.files.storing import store
from kvsolve.packs.files import read_cached, write_cached
from kvsolve.settings.baseline import Baseline

if TYPE_CHECKING:
    from pathlib import Path


def interrupted(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("os.replace", interrupted)
    return tmp_path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_of_a_repaired_file(folder: Path) -> None:
    file = folder / "a.sh"
    file.write_text("old\n")
    with pytest.raises(KeyboardInterrupt):
        store(Document(str(file), "old\n"), "new\n")
    assert (file.read_text(), left(folder)) == ("old\n", ["a.sh"])


def test_of_a_baseline(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        Baseline(str(folder / "known.json")).write()
    assert left(folder) == []


def test_of_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_cached("a", "key", b"body")
    assert left(folder) == []
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    write_cached("a", "key", b"body")
    found = read_cached("a", "key")
    assert found is not None
    assert bytes(found) == b"body"
    assert left(folder) == ["a"]
