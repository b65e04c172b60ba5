"""fix and what stays: baselines, settings, suppressed findings; and repairs that can be written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import LLAMA, run

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
COMMAND = f"python -m sglang.launch_server --model-path {LLAMA}"
CONTEXT = ("--sglang", "0.5.18", "--gpu", "h100")
IGNORED = '[[ignore]]\ncode = "KV8010"\nreason = "patched later"\n'
BOTH = f"{COMMAND} --tp 3 --schedule-policy lpmx"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sarif_results(capsys: Capture, *args: str) -> list[dict[str, Any]]:
    ran = run(capsys, "check", "--format", "sarif", *CONTEXT, *args)
    results: list[dict[str, Any]] = json.loads(ran.out)["runs"][0]["results"]
    return results


def test_what_a_baseline_knows_is_not_mended(work: Path, capsys: Capture) -> None:
    (work / "a.sh").write_text(f"{COMMAND} --tp 3\n{COMMAND} --tp 3\n")
    run(capsys, "check", *CONTEXT, "--write-baseline", "known.json", "a.sh")
    (work / "a.sh").write_text(f"{BOTH}\n{COMMAND} --tp 3\n")
    options = ("fix", "--write", *CONTEXT, "--baseline", "known.json", "a.sh")
    ran = run(capsys, *options)
    assert ran.code == 0, ran.err
    assert (
        work / "a.sh"
    ).read_text() == f"{COMMAND} --tp 3 --schedule-policy lpm\n{COMMAND} --tp 3\n"
    assert ran.err.count("KV8010 stays, it is suppressed: known in known.json") == 2
    assert (run(capsys, *options).code, run(capsys, *options).out) == (0, "")
    # The settings name it as well, and one that is gone is one sentence.
    (work / "kvsolve.toml").write_text('baseline = "known.json"\n')
    assert run(capsys, "fix", *CONTEXT, "a.sh").code == 0
    (work / "known.json").unlink()
    ran = run(capsys, "fix", *CONTEXT, "a.sh")
    assert (ran.code, ran.out) == (2, "")
    assert "known.json: cannot be read" in ran.err


def test_more_of_what_a_baseline_knows_is_mended(work: Path, capsys: Capture) -> None:
    (work / "a.sh").write_text(f"{COMMAND} --tp 3\n")
    run(capsys, "check", *CONTEXT, "--write-baseline", "known.json", "a.sh")
    (work / "a.sh").write_text(f"{COMMAND} --tp 3\n{COMMAND} --tp 5\n")
    ran = run(capsys, "fix", "--write", *CONTEXT, "--baseline", "known.json", "a.sh")
    assert ran.code == 0, ran.err
    first, second = (work / "a.sh").read_text().splitlines()
    assert (first, "--tp 5" in second) == (f"{COMMAND} --tp 3", False)


def test_settings_suppress_for_a_typed_command_too(work: Path, capsys: Capture) -> None:
    (work / "kvsolve.toml").write_text(IGNORED)
    ran = run(capsys, "fix", *CONTEXT, "--", *f"{COMMAND} --tp 3".split())
    assert (ran.code, "invalid" in ran.out) == (0, True)
    assert "KV8010 stays, it is suppressed: patched later" in ran.err
    ran = run(capsys, "fix", *CONTEXT, "--format", "json", "--", *BOTH.split())
    (result,) = ran.json["results"]
    assert ran.code == 1
    for repair in result["repairs"]:
        assert [edit["flag"] for edit in repair["edits"]] == ["--schedule-policy"]
        assert repair["removes"] == ["KV0007"]
        assert "--tp" in repair["argv"]
        assert repair["optimal"]
    ran = run(capsys, "fix", *CONTEXT, "--command-only", "--", *f"{COMMAND} --tp 3".split())
    assert (ran.code, "--tp 3" in ran.out) == (0, True)


def test_the_cheapest_repair_that_leaves_the_suppressed_is_proven(
    work: Path, capsys: Capture
) -> None:
    """What mends both at once is dearer than what mends the one that nobody suppressed."""
    command = f"{COMMAND} --is-embedding --prefill-only-disable-kv-cache --kv-cache-dtype nvfp4"
    args = ("--format", "json", "--top", "6", "--", *command.split())
    (whole,) = run(capsys, "fix", *CONTEXT, *args).json["results"]
    codes = [f["code"] for f in whole["findings"] if f["severity"] == "error"]
    assert len(codes) > 1
    for code in codes:
        (work / "kvsolve.toml").write_text(f'[[ignore]]\ncode = "{code}"\nreason = "known"\n')
        (result,) = run(capsys, "fix", *CONTEXT, *args).json["results"]
        best = result["repairs"][0]
        assert best["optimal"]
        assert best["cost"] == best["bound"] <= whole["repairs"][0]["cost"]
        assert code not in best["removes"]
        # Nothing cheaper was overlooked: what is left of it, checked, is what is suppressed.
        (after,) = run(
            capsys, "check", *CONTEXT, "--format", "json", "--", *_launched(best["argv"])
        ).json["results"]
        left = {f["code"] for f in after["findings"] if f["severity"] == "error"}
        assert left <= {code}


def _launched(argv: list[str]) -> list[str]:
    return ["python", "-m", "sglang.launch_server", *argv]


def test_what_a_config_file_gives_may_stay_too(work: Path, capsys: Capture) -> None:
    (work / "kvsolve.toml").write_text('[[ignore]]\ncode = "KV0002"\nreason = "an older image"\n')
    (work / "c.yaml").write_text(
        f"model-path: {LLAMA}\ncuda-graph-max-bs: 64\nschedule-policy: lpmx\n"
    )
    command = ("python", "-m", "sglang.launch_server", "--config", "c.yaml", "--tp", "2")
    context = ("--sglang", "0.5.23", "--gpu", "h100")
    ran = run(capsys, "fix", *context, "--format", "json", "--", *command)
    (result,) = ran.json["results"]
    assert [edit["flag"] for edit in result["repairs"][0]["edits"]] == ["--schedule-policy"]
    assert "--cuda-graph-max-bs" in result["repairs"][0]["argv"]


def test_a_code_that_is_suppressed_in_one_place_is_mended_in_another(
    work: Path, capsys: Capture
) -> None:
    text = f"{COMMAND} \\\n  --no-such-a \\\n  --no-such-b  # kvsolve: ignore[KV0001] a fork's\n"
    (work / "a.sh").write_text(text)
    ran = run(capsys, "fix", "--write", *CONTEXT, "a.sh")
    assert ran.code == 0, ran.err
    assert (work / "a.sh").read_text() == text.replace("  --no-such-a \\\n", "")


def test_sarif_offers_no_change_of_what_is_suppressed(work: Path, capsys: Capture) -> None:
    (work / "kvsolve.toml").write_text(IGNORED)
    (work / "a.sh").write_text(f"{COMMAND} --tp 3\n{BOTH}\n")
    results = sarif_results(capsys, "a.sh")
    fixes = [(result["ruleId"], "fixes" in result) for result in results]
    assert fixes == [("KV8010", False), ("KV0007", True), ("KV8010", False)]
    (change,) = results[1]["fixes"][0]["artifactChanges"]
    assert [part["insertedContent"]["text"] for part in change["replacements"]] == ["lpm"]


def test_sarif_heeds_what_the_settings_keep(work: Path, capsys: Capture) -> None:
    (work / "kvsolve.toml").write_text('keep = ["schedule-policy"]\n')
    (work / "a.sh").write_text(f"{COMMAND} --enable-hierarchical-cache --disable-radix-cache\n")
    (result,) = sarif_results(capsys, "a.sh")
    assert result["fixes"][0]["description"]["text"] == "remove --disable-radix-cache"
    (work / "kvsolve.toml").write_text('keep = ["disable-radix-cache"]\n')
    (result,) = sarif_results(capsys, "a.sh")
    assert result["fixes"][0]["description"]["text"] == "remove --enable-hierarchical-cache"


SHARED = (
    "K=--disable-radix-cache\necho $K\n"
    f"{COMMAND} $K --enable-hierarchical-cache\n"
)  # fmt: skip


@pytest.mark.parametrize("top", [1, 3])
def test_the_next_repair_is_written_where_the_cheapest_cannot_be(
    work: Path, capsys: Capture, top: int
) -> None:
    (work / "a.sh").write_text(SHARED)
    ran = run(capsys, "fix", "--top", str(top), *CONTEXT, "--format", "json", "a.sh")
    (result,) = ran.json["results"]
    assert (result["written"], result["left_alone"]) == (1, None)
    assert result["repairs"][1]["edits"][0]["flag"] == "--enable-hierarchical-cache"
    ran = run(capsys, "fix", "--write", "--top", str(top), *CONTEXT, "a.sh")
    assert ran.code == 0, ran.err
    assert "a.sh:3: alternative 1, since the cheapest repair cannot be written: " in ran.err
    assert "used 2 times" in ran.err
    wanted = SHARED.replace(" --enable-hierarchical-cache", "")
    assert (work / "a.sh").read_text() == wanted


def test_where_no_repair_can_be_written_the_file_stays(work: Path, capsys: Capture) -> None:
    text = SHARED.replace("--disable-radix-cache\n", "--no-such-flag\n")
    (work / "a.sh").write_text(text)
    ran = run(capsys, "fix", "--write", *CONTEXT, "a.sh")
    assert (ran.code, (work / "a.sh").read_text()) == (1, text)
    assert "the file is left alone: --no-such-flag is left alone: it comes from $K" in ran.err


def test_the_settings_are_named_as_what_chose_the_release(work: Path, capsys: Capture) -> None:
    (work / "kvsolve.toml").write_text('sglang = "0.5.18"\n')
    ran = run(capsys, "check", "--gpu", "h100", "--format", "json", "--", *COMMAND.split())
    assert ran.json["results"][0]["sglang_from"] == "settings"
    assert "SGLang 0.5.18, as the settings say" in ran.err
    ran = run(capsys, "check", *CONTEXT, "--format", "json", "--", *COMMAND.split())
    assert ran.json["results"][0]["sglang_from"] == "option"


def test_what_a_template_fills_in_does_not_go_with_an_unknown_option(
    work: Path, capsys: Capture
) -> None:
    text = (
        "spec:\n  containers:\n    - image: lmsysorg/sglang:v0.5.18\n"
        f"      command: [python3, -m, sglang.launch_server, --model-path, {LLAMA}]\n"
        "      args:\n        - --no-such-option\n        - '2'\n"
        "        {{- range .Values.extra }}\n        - {{ . }}\n        {{- end }}\n"
    )
    (work / "a.yaml").write_text(text)
    ran = run(capsys, "fix", "--write", *CONTEXT, "a.yaml")
    assert (ran.code, (work / "a.yaml").read_text()) == (1, text), ran.err
    assert "what stands behind --no-such-option is not known" in ran.err
