from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import EXAMPLE, H100, LLAMA, PLAIN, run

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
UNKNOWN_GPU = ("--sglang", "0.5.18")
REFUSED = (*PLAIN, "--kv-cache-dtype", "nvfp4")
REWRITTEN = (*PLAIN, "--is-embedding", "--enable-mixed-chunk", "--chunked-prefill-size", "-1")


def test_0_where_nothing_is_found(capsys: Capture) -> None:
    ran = run(capsys, "check", *H100, "--", *PLAIN)
    assert ran.code == 0
    assert "valid" in ran.out


def test_1_where_something_is_refused(capsys: Capture) -> None:
    ran = run(capsys, "check", *H100, "--", *EXAMPLE)
    assert ran.code == 1
    assert "invalid" in ran.out


def test_a_command_that_the_parser_refuses_is_a_finding(capsys: Capture) -> None:
    for bad in (["--no-such-option", "1"], ["--tp", "many"], ["--kv-cache-dtype", "fp1"]):
        ran = run(capsys, "check", *H100, "--", *PLAIN, *bad)
        assert ran.code == 1
        assert "(SGLang stops here)" in ran.out


def test_fail_on_chooses_what_counts(capsys: Capture) -> None:
    answers = run(capsys, "check", *H100, "--format", "json", "--", *PLAIN).json
    severities = {f["severity"] for r in answers["results"] for f in r["findings"]}
    assert "error" not in severities
    assert "note" in severities
    assert run(capsys, "check", *H100, "--fail-on", "note", "--", *PLAIN).code == 1
    assert run(capsys, "check", *H100, "--fail-on", "error", "--", *PLAIN).code == 0


def test_2_where_the_verdict_is_unknown(capsys: Capture) -> None:
    ran = run(capsys, "check", *UNKNOWN_GPU, "--", *PLAIN, "--kv-cache-dtype", "mxfp8")
    assert ran.code == 2
    assert "It depends on what the command does not say" in ran.out
    allowed = run(
        capsys, "check", *UNKNOWN_GPU, "--allow-unknown", "--", *PLAIN, "--kv-cache-dtype", "mxfp8"
    )
    assert allowed.code == 0
    assert allowed.out == ran.out


def test_2_where_a_file_was_not_read_though_others_were(tmp_path: Path, capsys: Capture) -> None:
    good = tmp_path / "good.sh"
    good.write_text(f"#!/bin/sh\npython -m sglang.launch_server --model-path {LLAMA}\n")
    assert run(capsys, "check", *H100, str(good)).code == 0
    ran = run(capsys, "check", *H100, "--format", "json", str(good), str(tmp_path / "none.sh"))
    assert ran.code == 2
    assert [r["verdict"] for r in ran.json["results"]] == ["valid"]
    assert ran.json["results"][0]["source"] == {"file": str(good), "line": 2, "column": 1}
    assert ran.json["errors"][0]["file"] == str(tmp_path / "none.sh")


def test_fix_tells_whether_something_was_wrong(capsys: Capture) -> None:
    assert run(capsys, "fix", *H100, "--", *EXAMPLE).code == 1
    assert run(capsys, "fix", *H100, "--", *PLAIN).code == 0


def test_batch_is_0_where_every_line_was_answered(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text(
        '{"id": 1, "argv": ["--model-path", "x"], "gpu": "h100", "family": "llama-mha"}\n'
    )
    assert run(capsys, "batch", "--sglang", "0.5.18", str(file)).code == 0


@pytest.mark.parametrize("command", [PLAIN, EXAMPLE], ids=["holds", "clashes"])
def test_a_conflict_that_was_not_decided_is_2_and_no_answer(
    capsys: Capture, command: tuple[str, ...]
) -> None:
    ran = run(capsys, "conflict", *H100, "--limit-s", "0", "--", *command)
    assert (ran.code, ran.out) == (2, "")
    assert "not decided within 0 s" in ran.err
    assert "raise --limit-s" in ran.err


def test_stdout_has_the_answer_and_stderr_the_talk(capsys: Capture) -> None:
    ran = run(capsys, "check", *H100, "--", *PLAIN)
    assert "judged for SGLang 0.5.18" in ran.err
    assert "judged for" not in ran.out.splitlines()[0]
    newest = run(capsys, "check", "--gpu", "h100", "--format", "json", "--", *PLAIN)
    assert "the newest known" in newest.err
    assert newest.json["results"][0]["sglang_from"] == "newest"


def test_no_colour_without_a_terminal(capsys: Capture) -> None:
    for args in (["check", *H100, "--", *EXAMPLE], ["fix", *H100, "--", *EXAMPLE]):
        ran = run(capsys, *args)
        assert "\x1b[" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("overrides", "code"),
    [("{bad", 1), ("[1]", 1), ("", 1), ("[]", 0), ("null", 0), ('{"rope_theta": 1.0}', 0)],
)
def test_overrides_of_the_model_have_to_be_a_json_object(
    overrides: str, code: int, capsys: Capture
) -> None:
    tokens = (*PLAIN, "--json-model-override-args", overrides)
    ran = run(capsys, "check", *H100, "--", *tokens)
    assert ran.code == code
    assert ("KV0014" in ran.out) is bool(code)
    if code:
        fixed = run(capsys, "fix", *H100, "--command-only", "--", *tokens).out.split()
        assert "--json-model-override-args" not in fixed


def test_a_fix_drops_a_log_level_that_is_none(capsys: Capture) -> None:
    ran = run(capsys, "fix", *H100, "--command-only", "--", *PLAIN, "--log-level", "loud")
    assert ran.code == 1
    assert "--log-level" not in ran.out
