from __future__ import annotations

from dataclasses import replace

from kvsolve.model.finding import CheckResult, Location, Severity
from kvsolve.settings.file import Ignored, Settings
from kvsolve.settings.suppress import Suppressor
from tests.cli import samples

COMMENT = "# kvsolve: ignore[KV0101] known\ncommand\n"
FILED = Settings("/x/kvsolve.toml", {}, (Ignored(("KV0101", "KV0999"), "filed", ("a.sh",)),))


def at(file: str, line: int = 2) -> CheckResult:
    return replace(samples.result(samples.FIRST), source=Location(file, line, 1))


def by(result: CheckResult) -> str | None:
    (finding,) = result.findings
    return finding.suppressed.by if finding.suppressed else None


def test_the_nearer_suppression_is_the_reason_and_both_are_in_use() -> None:
    suppressor = Suppressor()
    assert suppressor.read("/x/a.sh", COMMENT) == []
    assert by(suppressor.apply(at("/x/a.sh"), FILED)) == "comment"
    idle = [(unused.code, unused.severity) for unused in suppressor.unused()]
    assert idle == [("KV0999", Severity.NOTE)]


def test_alike_suppressions_of_two_files_are_two() -> None:
    suppressor = Suppressor()
    for file in ("a.sh", "b.sh"):
        suppressor.read(file, COMMENT)
    assert by(suppressor.apply(at("a.sh"))) == "comment"
    assert by(suppressor.apply(at("b.sh", line=9))) is None
    assert [unused.place.file for unused in suppressor.unused()] == ["b.sh"]


def test_settings_hold_for_the_files_that_they_name() -> None:
    suppressor = Suppressor()
    assert by(suppressor.apply(at("/x/sub/a.sh"), FILED)) == "config"
    assert by(suppressor.apply(at("/x/b.sh"), FILED)) is None
    for pattern in ("sub", "sub/", "sub/*.sh", "*.sh", "s*"):
        some = Settings("/x/kvsolve.toml", {}, (Ignored(("KV0101",), "r", (pattern,)),))
        assert by(Suppressor().apply(at("/x/sub/a.sh"), some)) == "config", pattern
        assert by(Suppressor().apply(at("/y/sub/a.txt"), some)) is None, pattern


def test_a_command_behind_the_dashes_heeds_settings_without_files() -> None:
    typed = replace(samples.result(samples.FIRST), source=None)
    every = Settings("/x/kvsolve.toml", {}, (Ignored(("KV0101",), "r"),))
    assert by(Suppressor().apply(typed, every)) == "config"
    assert by(Suppressor().apply(typed, FILED)) is None


def test_lines_of_options_count_beside_that_of_the_command() -> None:
    suppressor = Suppressor()
    suppressor.read("a.yaml", "command\n- --x\n- y  # kvsolve: ignore[KV0101] known\n")
    assert by(suppressor.apply(at("a.yaml", 1))) is None
    assert by(suppressor.apply(at("a.yaml", 1), None, lambda finding: {2, 3})) == "comment"
