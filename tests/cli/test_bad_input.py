from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kvsolve.cli import main as main_module
from kvsolve.cli.main import main
from tests.cli.running import H100, PLAIN, Ran, assert_one_sentence, run

if TYPE_CHECKING:
    from collections.abc import Sequence

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["chek"], ["no verb chek", "check"]),
        (["check", "--gpuu", "x"], ["--gpuu", "--gpu"]),
        (["check", "--gpus", "many", "--", *PLAIN], ["--gpus", "many"]),
        (["check", "--gpus", "0", "--", *PLAIN], ["--gpus", "0"]),
        (["check", "--stage", "later", "--", *PLAIN], ["--stage", "later", "args"]),
        (["check", "--format", "xml", "--", *PLAIN], ["--format", "xml", "json"]),
        (["check", "--fail-on", "never", "--", *PLAIN], ["--fail-on", "never"]),
        (["check", "--gpu", "h1000", "--", *PLAIN], ["h1000", "h100"]),
        (["check", "--family", "llamma", "--gpu", "h100", "--", *PLAIN], ["llamma"]),
        (["check", "--sglang", "0.4.9", "--", *PLAIN], ["0.4.9", "0.5.6"]),
        (["check", "--sglang", "banana", "--", *PLAIN], ["banana", "0.5.23"]),
        (["check", "--env", "A", "--", *PLAIN], ["NAME=VALUE", "'A'"]),
        (["check", "--model-config", "/no/such", *H100, "--", *PLAIN], ["/no/such"]),
        (["check", "--model-config", "x", "--family", "y", "--", *PLAIN], ["--model-config"]),
        (["check"], ["nothing to judge"]),
        (["check", "--"], ["nothing to judge"]),
        (["check", "--", "ls", "-l"], ["sglang.launch_server"]),
        (["check", "python", "-m", "sglang.launch_server"], ["behind `--`"]),
        (["check", "/no/such.sh"], ["/no/such.sh", "No such file"]),
        (["fix", *H100, "--keep", "page-sise", "--", *PLAIN], ["page-sise", "--page-size"]),
        (["fix", *H100, "--cost", "page-size", "--", *PLAIN], ["FLAG=N"]),
        (["fix", *H100, "--cost", "page-size=0", "--", *PLAIN], ["positive integer"]),
        (["fix", "--sglang", "0.5.18", "--", *PLAIN, "--kv-cache-dtype", "nvfp4"], ["--gpu"]),
        (["options", *H100, "page-size"], ["give --model-config or --family ("]),
        (["options", "page-size", "--", *PLAIN], ["give --gpu ("]),
        (["options", *H100, "page-sise", "--", *PLAIN], ["page-sise"]),
        (["count", *H100, "--", *PLAIN], ["--vary"]),
        (["count", *H100, "--vary", "page_size=x", "--", *PLAIN], ["--page-size", "x"]),
        (["list", *H100, "--vary", "attention-backend=fa9", "--", *PLAIN], ["fa9", "fa3"]),
        (["count", *H100, "--vary", "page_size=", "--", *PLAIN], ["--page-size", "(nothing)"]),
        (["count", *H100, "--vary", "=", "--", *PLAIN], ["no flag (nothing)"]),
        (["matrix", *H100, "--rows", "page_size"], ["--cols"]),
        (["matrix", *H100, "--rows", "api_key=a,b", "--cols", "page_size=1"], ["secret"]),
        (["matrix", *H100, "--rows", "model_path=a", "--cols", "page_size=1"], ["model profiles"]),
        (["matrix", *H100, "--rows", "nope", "--cols", "page_size"], ["nope"]),
        (["conflict", *H100, "--", *PLAIN, "--bogus"], ["no flag --bogus"]),
        (["explain", "KV0"], ["KV0", "kvsolve rules"]),
        (["why", "the dog ate my homework"], ["no entry"]),
        (["flags", "nope-nope"], ["nope-nope"]),
        (["profiles", "cpus"], ["cpus", "gpu"]),
        (["batch", "/no/such.jsonl"], ["/no/such.jsonl", "No such file"]),
        (["upstream", "flags", "/no/such"], ["/no/such"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_told_in_one_sentence(
    args: Sequence[str], words: Sequence[str], capsys: Capture
) -> None:
    assert_one_sentence(run(capsys, *args), *words)


@pytest.mark.parametrize(
    ("text", "word"),
    [("{", "line 1"), ("[]", "object"), ('"x"', "object"), ("\x00", "config.json")],
)
def test_a_malformed_model_configuration_is_told(
    text: str, word: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    ran = run(capsys, "check", *H100, "--model-config", str(file), "--", *PLAIN)
    assert_one_sentence(ran, "config.json", word)


def test_an_unreadable_model_configuration_is_told(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "config.json").mkdir()
    ran = run(capsys, "check", *H100, "--model-config", str(tmp_path), "--", *PLAIN)
    assert_one_sentence(ran, "config.json")


def test_a_directory_that_is_no_release_is_told(tmp_path: Path, capsys: Capture) -> None:
    for verb in ("flags", "extract", "inventory"):
        assert_one_sentence(run(capsys, "upstream", verb, str(tmp_path)), str(tmp_path))


def test_broken_lines_of_a_batch_lose_nothing(tmp_path: Path, capsys: Capture) -> None:
    good = {"id": 1, "argv": list(PLAIN), "gpu": "h100"}
    lines = [
        json.dumps(good),
        "{",
        "[]",
        json.dumps({"id": "a"}),
        json.dumps({"id": "b", "argv": "x"}),
        json.dumps({"id": "c", "argv": [1]}),
        json.dumps({**good, "id": "d", "gpu": 3}),
        json.dumps({**good, "id": "e", "gpus": True}),
        json.dumps({**good, "id": "f", "gpu": "h1000"}),
        json.dumps({**good, "id": "g", "env": {"A": 1}}),
        json.dumps({**good, "id": "h", "gpuu": "h100"}),
        json.dumps({**good, "id": "i", "sglang": "9"}),
        json.dumps({**good, "id": "j", "stage": "never"}),
        json.dumps({**good, "id": "k", "model_config": "/no/such"}),
        "",
        "[" * 100_000,
        r'{"id": "\ud800", "argv": []}',
        json.dumps({**good, "id": 2}),
    ]
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join(lines))
    ran = run(capsys, "batch", "--sglang", "0.5.18", str(file))
    assert ran.code == 2
    answers = ran.lines
    assert [a["id"] for a in answers] == [1, None, None, *"abcdefghijk", None, None, 2]
    assert [("error" in a) for a in answers] == [False] + [True] * 15 + [False]
    assert [a["line"] for a in answers if "error" in a] == [*range(2, 15), 16, 17]
    assert answers[0] == {**answers[-1], "id": 1}


BAD_BYTES = b'{"id": "\xff", "argv": []}\n{"id": "\xc3\xa9", "argv": ["--tp", "2"]}\n'


def assert_only_the_first_line_is_lost(ran: Ran) -> None:
    assert ran.code == 2
    first, second = ran.lines
    assert first == {"id": None, "error": "the line is not UTF-8 text", "line": 1}
    assert second["id"] == "\u00e9"
    assert "error" not in second


def test_a_line_of_a_batch_that_is_not_utf_8_is_lost_alone(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "many.jsonl"
    file.write_bytes(BAD_BYTES)
    args = ("batch", "--sglang", "0.5.18", "--gpu", "h100", "--family", "llama-mha")
    assert_only_the_first_line_is_lost(run(capsys, *args, str(file)))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD_BYTES), encoding="ascii"))
    assert_only_the_first_line_is_lost(run(capsys, *args))


def test_a_bug_of_ours_is_one_line_too(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("a\nb")

    monkeypatch.delenv("KVSOLVE_DEBUG", raising=False)
    monkeypatch.setattr(main_module, "_dispatch", broken)
    assert_one_sentence(
        run(capsys, "check"), "internal error", "ZeroDivisionError", "KVSOLVE_DEBUG"
    )
    monkeypatch.setenv("KVSOLVE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["check"])


def test_a_command_that_is_no_launch_is_quoted_without_secrets(capsys: Capture) -> None:
    for front in ("docker run -e HF_TOKEN=s3cr3t x/vllm serve", "vllm serve --api-key s3cr3t"):
        ran = run(capsys, "check", "--", "API_KEY=s3cr3t", *front.split())
        assert_one_sentence(ran, "launches no SGLang server")
        assert "s3cr3t" not in ran.err


def test_no_verb_gets_the_help_and_a_sentence(capsys: Capture) -> None:
    ran = run(capsys)
    assert ran.code == 2
    assert "Usage" in ran.out
    assert ran.err == "kvsolve: error: name a verb\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_and_a_closed_stdout_are_told() -> None:
    code = "import sys; from kvsolve.cli.main import run; run()"
    for redirect, word in ((">/dev/full", "cannot be written"), (">&-", "stdout is closed")):
        line = f'"$0" -c "$1" flags tp-size {redirect}'
        ran = subprocess.run(
            ["sh", "-c", line, sys.executable, code], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 2
        assert word in ran.stderr
        assert "bug" not in ran.stderr


def test_an_interrupt_is_quiet(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module, "_dispatch", interrupted)
    ran = run(capsys, "check")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


@pytest.mark.parametrize("args", [["profiles"], ["flags", "--sglang", "0.5.18"], ["--help"]])
def test_a_reader_that_has_left_is_no_error(args: Sequence[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    code = "import sys; from kvsolve.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *args]
    ran = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert ran.stderr == b""
    assert ran.returncode == 141
