from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.model.finding import CheckResult, Location, Severity
from kvsolve.settings.baseline import Baseline, read_baseline
from tests.cli import samples

if TYPE_CHECKING:
    from pathlib import Path


def at(file: Path, line: int, *findings: object) -> CheckResult:
    return replace(samples.result(*findings), source=Location(str(file), line, 1))  # type: ignore[arg-type]


def suppressed(result: CheckResult) -> list[bool]:
    return [finding.suppressed is not None for finding in result.findings]


def learned(path: Path, *results: CheckResult) -> Baseline:
    baseline = Baseline(str(path))
    for result in results:
        baseline.apply(result, learn=True)
    baseline.write()
    return read_baseline(str(path))


def test_what_was_there_does_not_count_and_what_is_new_does(tmp_path: Path) -> None:
    file = tmp_path / "serve.sh"
    known = learned(tmp_path / "known.json", at(file, 3, samples.FIRST))
    moved = known.apply(at(file, 40, replace(samples.FIRST, message="Reworded."), samples.LATER))
    assert suppressed(moved) == [True, False]
    first = moved.findings[0].suppressed
    assert first is not None
    assert (first.by, "known.json" in first.reason) == ("baseline", True)
    assert known.gone == ()


def test_a_second_one_like_it_is_new(tmp_path: Path) -> None:
    file = tmp_path / "serve.sh"
    known = learned(tmp_path / "known.json", at(file, 3, samples.FIRST))
    again = [known.apply(at(file, line, samples.FIRST)) for line in (3, 9)]
    assert [suppressed(result) for result in again] == [[True], [False]]


def test_what_is_gone_is_told_for_the_files_judged(tmp_path: Path) -> None:
    here, there = tmp_path / "a.sh", tmp_path / "b.sh"
    known = learned(
        tmp_path / "known.json", at(here, 1, samples.FIRST), at(there, 1, samples.FIRST)
    )
    known.apply(at(here, 1))
    known.apply(at(here, 2, samples.LATER))
    assert [row.code for row in known.gone] == ["KV0101"]


def test_it_holds_from_wherever_it_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    known = learned(tmp_path / "known.json", at(tmp_path / "sub/a.sh", 1, samples.FIRST))
    file = json.loads((tmp_path / "known.json").read_text())["findings"][0]["file"]
    assert file == "sub/a.sh"
    monkeypatch.chdir(tmp_path / "sub")
    from pathlib import Path

    assert suppressed(known.apply(at(Path("a.sh"), 1, samples.FIRST))) == [True]


def test_notes_are_no_part_of_it(tmp_path: Path) -> None:
    known = Baseline(str(tmp_path / "known.json"))
    note = replace(samples.FIRST, severity=Severity.NOTE)
    known.apply(at(tmp_path / "a.sh", 1, note), learn=True)
    assert known.write() == 0


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 9, "findings": []}', '{"version": 1, "findings": [3]}']
)
def test_what_is_no_baseline_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(KvsolveError, match=r"known\.json"):
        read_baseline(str(path))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KvsolveError, match="cannot be written"):
        Baseline(str(tmp_path / "gone" / "known.json")).write()
    with pytest.raises(KvsolveError, match="cannot be read"):
        read_baseline(str(tmp_path / "gone.json"))


def test_nothing_is_left_of_a_baseline_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "known.json").mkdir()
    baseline = Baseline(str(tmp_path / "known.json"))
    with pytest.raises(KvsolveError, match="is a folder"):
        baseline.must_be_writable()
    with pytest.raises(KvsolveError, match="cannot be written"):
        baseline.write()
    assert [path.name for path in tmp_path.iterdir()] == ["known.json"]
