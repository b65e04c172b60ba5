"""Settings, variables, suppressions and baselines as a user meets them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from kvsolve.cli import checking
from kvsolve.settings.ignores import ignores_in
from kvsolve.settings.table import read_table
from tests.cli.running import EXAMPLE, LLAMA, PLAIN, assert_one_sentence, run

Capture = pytest.CaptureFixture[str]
CONTEXT = 'sglang = "0.5.18"\ngpu = "h100"\n'
BAD = " ".join(EXAMPLE)
GOOD = f"python -m sglang.launch_server --model-path {LLAMA}"
NVFP4 = f"{GOOD} --kv-cache-dtype nvfp4"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kvsolve.toml").write_text(CONTEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(out: str) -> list[str]:
    return [line.split(" ")[2] for line in out.splitlines()]


def test_settings_stand_in_for_options(project: Path, capsys: Capture) -> None:
    ran = run(capsys, "check", "--format", "json", "--", *PLAIN)
    (result,) = ran.json["results"]
    assert (result["sglang"], result["facts"]["gpu"]) == ("0.5.18", "h100")
    assert run(capsys, "fix", "--", *EXAMPLE).code == 1


def test_flag_over_variable_over_file(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gpu(*options: str) -> str:
        ran = run(capsys, "check", *options, "--format", "json", "--", *PLAIN)
        return str(ran.json["results"][0]["facts"]["gpu"])

    assert gpu() == "h100"
    monkeypatch.setenv("KVSOLVE_GPU", "b200")
    assert gpu() == "b200"
    assert gpu("--gpu", "a100") == "a100"
    # This option takes the long way, through Typer.
    ran = run(
        capsys, "check", "--limit-s", "3", "--sglang", "0.5.20", "--format", "json", "--", *PLAIN
    )
    (result,) = ran.json["results"]
    assert (result["sglang"], result["facts"]["gpu"]) == ("0.5.20", "b200")


def test_a_file_is_judged_by_the_settings_near_it(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = project / "blackwell"
    near.mkdir()
    (near / "kvsolve.toml").write_text('extend = "../kvsolve.toml"\ngpu = "b200"\n')
    (near / "serve.sh").write_text(NVFP4 + "\n")
    (project / "serve.sh").write_text(NVFP4 + "\n")
    ran = run(capsys, "check", "--format", "json", "serve.sh", "blackwell/serve.sh")
    assert [r["facts"]["gpu"] for r in ran.json["results"]] == ["h100", "b200"]
    ran = run(capsys, "check", "--gpu", "a100", "--format", "json", "blackwell/serve.sh")
    assert ran.json["results"][0]["facts"]["gpu"] == "a100"


def test_bad_settings_are_told_in_one_sentence(project: Path, capsys: Capture) -> None:
    (project / "kvsolve.toml").write_text("fail_on = 'note'\n")
    assert_one_sentence(run(capsys, "check", "--", *PLAIN), "kvsolve.toml", "fail-on")
    assert_one_sentence(run(capsys, "fix", "--", *PLAIN), "kvsolve.toml", "fail-on")
    assert run(capsys, "check", "--settings", "none", "--gpu", "h100", "--", *PLAIN).code == 0


def test_a_comment_suppresses_and_the_verdict_stays(project: Path, capsys: Capture) -> None:
    (project / "serve.sh").write_text(f"# kvsolve: ignore[KV1141] patched later\n{NVFP4}\n")
    before = run(capsys, "check", "--format", "concise", "--", *NVFP4.split())
    ran = run(capsys, "check", "--format", "concise", "serve.sh")
    assert set(codes(before.out)) - set(codes(ran.out)) == {"KV1141"}
    assert ran.code == 1
    every = ", ".join(codes(before.out))
    (project / "serve.sh").write_text(f"{NVFP4}  # kvsolve: ignore[{every}] patched later\n")
    ran = run(capsys, "check", "--format", "json", "serve.sh")
    assert ran.code == 0
    (result,) = ran.json["results"]
    assert result["verdict"] == "invalid"
    assert {f["suppressed"]["reason"] for f in result["findings"] if f["severity"] == "error"} == {
        "patched later"
    }


def test_settings_suppress_by_file(project: Path, capsys: Capture) -> None:
    errors = codes(run(capsys, "check", "--format", "concise", "--", *NVFP4.split()).out)
    listed = json.dumps(errors)
    table = f'[[ignore]]\ncode = {listed}\nfiles = ["old/"]\nreason = "being retired"\n'
    (project / "kvsolve.toml").write_text(CONTEXT + table)
    (project / "old").mkdir()
    for name in ("old/serve.sh", "serve.sh"):
        (project / name).write_text(NVFP4 + "\n")
    assert run(capsys, "check", "old/serve.sh").code == 0
    assert run(capsys, "check", "serve.sh").code == 1


def test_an_idle_suppression_is_a_warning(project: Path, capsys: Capture) -> None:
    (project / "serve.sh").write_text(f"# kvsolve: ignore[KV1141] no longer\n{GOOD}\n")
    ran = run(capsys, "check", "--format", "concise", "serve.sh")
    assert ran.code == 0
    assert ran.out == (
        "serve.sh:1:1: warning unused-suppression "
        "suppression of KV1141 suppresses nothing (no longer)\n"
    )
    assert run(capsys, "check", "--fail-on", "warning", "serve.sh").code == 1
    ran = run(capsys, "check", "--format", "json", "serve.sh")
    assert ran.json["unused_suppressions"] == [
        {"file": "serve.sh", "line": 1, "column": 1, "code": "KV1141", "reason": "no longer"}
    ]


def test_a_suppression_without_a_reason_suppresses_nothing(project: Path, capsys: Capture) -> None:
    (project / "serve.sh").write_text(f"# kvsolve: ignore[KV1141]\n{NVFP4}\n")
    ran = run(capsys, "check", "--format", "concise", "serve.sh")
    assert ran.code == 2
    assert "KV1141" in codes(ran.out)
    assert "serve.sh, line 1: the suppression of KV1141 gives no reason" in ran.err


def test_a_baseline_lets_only_new_findings_count(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "serve.sh").write_text(NVFP4 + "\n")
    ran = run(capsys, "check", "--write-baseline", "known.json", "serve.sh")
    assert (ran.code, "wrote" in ran.err) == (0, True)
    assert run(capsys, "check", "--baseline", "known.json", "serve.sh").code == 0
    monkeypatch.setenv("KVSOLVE_BASELINE", "known.json")
    assert run(capsys, "check", "serve.sh").code == 0
    monkeypatch.delenv("KVSOLVE_BASELINE")
    (project / "kvsolve.toml").write_text(CONTEXT + 'baseline = "known.json"\n')
    assert run(capsys, "check", "serve.sh").code == 0
    (project / "serve.sh").write_text(f"{NVFP4}\n{BAD}\n")
    assert run(capsys, "check", "serve.sh").code == 1
    (project / "serve.sh").write_text(GOOD + "\n")
    ran = run(capsys, "check", "serve.sh")
    assert (ran.code, "no longer there" in ran.err) == (0, True)


def test_repairs_in_sarif_end_when_they_take_too_long(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "serve.sh").write_text(f"{NVFP4}\n{NVFP4}\n")

    def fixed(*options: str) -> int:
        ran = run(capsys, "check", "--format", "sarif", *options, "serve.sh")
        told = "left out; --limit-s allows for more" in ran.err
        found = sum("fixes" in row for row in ran.json["runs"][0]["results"])
        assert told is (found == 0)
        return found

    assert fixed() >= 2
    monkeypatch.setattr(checking, "_PATIENCE", -1.0)
    assert fixed() == 0
    assert fixed("--limit-s", "5") >= 2


def test_a_baseline_that_cannot_be_kept_is_told_before_the_run(
    project: Path, capsys: Capture
) -> None:
    (project / "serve.sh").write_text(NVFP4 + "\n")
    options = ("--format", "json", "--write-baseline", "gone/known.json")
    assert_one_sentence(run(capsys, "check", *options, "serve.sh"), "gone/known.json")


def test_settings_say_what_a_fix_keeps(project: Path, capsys: Capture) -> None:
    def edited(*options: str) -> set[str]:
        ran = run(capsys, "fix", "--format", "json", *options, "--", *EXAMPLE)
        (answer,) = ran.json["results"]
        return {edit["flag"] for edit in answer["repairs"][0]["edits"]}

    assert "--kv-cache-dtype" in edited()
    (project / "kvsolve.toml").write_text(
        CONTEXT.replace("h100", "b200")
        + 'keep = ["is-embedding"]\ncost = { kv-cache-dtype = 50 }\n'
    )
    assert "--kv-cache-dtype" not in edited()
    assert "--is-embedding" not in edited("--keep", "kv-cache-dtype")


def test_exit_zero_is_for_findings_only(project: Path, capsys: Capture) -> None:
    assert run(capsys, "check", "--exit-zero", "--", *EXAMPLE).code == 0
    assert run(capsys, "fix", "--exit-zero", "--", *EXAMPLE).code == 0
    assert run(capsys, "check", "--exit-zero", "gone.sh").code == 2


def blocks(kind: str) -> list[str]:
    """The fenced blocks of the page about settings."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "settings.md").read_text()
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def test_the_settings_of_the_docs_are_read() -> None:
    (text,) = blocks("toml")
    settings = read_table("/x/kvsolve.toml", tomllib.loads(text))
    assert settings.values["fail_on"] == "warning"
    assert settings.ignores[0].codes == ("KV1141", "nvfp4-needs-blackwell")


def test_the_suppressions_of_the_docs_are_read() -> None:
    (script,), (manifest,) = blocks("sh"), blocks("yaml")
    found = [*ignores_in(script), *ignores_in(manifest)]
    assert [ignore.codes for ignore in found] == [("KV1141",), ("KV1141",), ("KV1145",)]
    assert not any(ignore.mistake for ignore in found)
