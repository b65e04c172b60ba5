"""fix on files: what it edits, what it leaves, what it says and how it exits."""

from __future__ import annotations

import ast
import io
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import LLAMA, run

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
COMMAND = f"python -m sglang.launch_server --model-path {LLAMA}"
CONTEXT = ("--sglang", "0.5.18", "--gpu", "h100")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_options_of_a_program_are_edited_by_name(work: Path, capsys: Capture) -> None:
    text = (
        "import sglang as sgl\n\n"
        f'OPTIONS = {{\n    "model_path": "{LLAMA}",\n    "tp_size": 3,  # of eight\n'
        '    "log_level": "info",  # as ever\n}\n'
        f"engine = sgl.Engine(model_path='{LLAMA}', schedule_policy='lpmx', tp_size=2)\n"
    )
    file = work / "a.py"
    file.write_text(text)
    ran = run(capsys, "fix", "--write", *CONTEXT, "a.py")
    assert ran.code == 0, ran.err
    wanted = text.replace('    "tp_size": 3,  # of eight\n', "").replace("lpmx", "lpm")
    assert file.read_text() == wanted
    ast.parse(wanted)
    again = run(capsys, "fix", "--write", *CONTEXT, "a.py")
    assert (again.code, again.out) == (0, "")


def test_a_new_option_of_a_program_is_set_out_as_the_last_one(work: Path, capsys: Capture) -> None:
    file = work / "a.py"
    kept = ("--keep", "kv-cache-dtype")
    for text in (
        f'ARGS = {{\n    "model_path": "{LLAMA}",\n    "kv_cache_dtype": "nvfp4",  # small\n}}\n',
        f"e = Engine(model_path='{LLAMA}', kv_cache_dtype='nvfp4')\n",
    ):
        file.write_text(text)
        context = ("--sglang", "0.5.18", "--gpu", "b200")
        ran = run(capsys, "fix", "--write", *context, *kept, "a.py")
        ast.parse(file.read_text())
        if ran.code == 0:
            assert all(line in file.read_text() for line in text.splitlines()[:-1])
            assert run(capsys, "check", *context, "a.py").code == 0
        else:
            assert file.read_text() == text


def test_templates_elsewhere_forbid_nothing(work: Path, capsys: Capture) -> None:
    text = (
        "#!/bin/bash\n{% if debug %}\nset -x\n{% endif %}\n"
        "python3 -m sglang.launch_server \\\n  --model-path {{ model }} \\\n"
        "  --schedule-policy lpmx \\\n  --port {{ port }}\n"
    )
    (work / "run.sh.j2").write_text(text)
    ran = run(capsys, "fix", "--write", "--allow-unknown", *CONTEXT, "run.sh.j2")
    assert ran.code == 0, ran.err
    assert (work / "run.sh.j2").read_text() == text.replace("lpmx", "lpm")


def test_a_template_itself_is_left_alone_with_the_reason(work: Path, capsys: Capture) -> None:
    text = f"{COMMAND} --page-size=-{{{{ size }}}} --schedule-policy {{{{ policy }}}} --tpp 2\n"
    (work / "run.sh.j2").write_text(text)
    ran = run(capsys, "fix", "--write", "--allow-unknown", *CONTEXT, "run.sh.j2")
    left = (work / "run.sh.j2").read_text()
    assert "{{ size }}" in left
    assert "{{ policy }}" in left
    assert ran.code in (0, 1)


def test_what_every_gpu_refuses_is_repaired_without_one(work: Path, capsys: Capture) -> None:
    (work / "a.sh").write_text(f"{COMMAND} --schedule-policy lpmx\n")
    ran = run(capsys, "fix", "--write", "--allow-unknown", "a.sh")
    assert (work / "a.sh").read_text() == f"{COMMAND} --schedule-policy lpm\n"
    assert ran.code == 0, ran.err


def test_suppressed_findings_stay_and_are_told_once(work: Path, capsys: Capture) -> None:
    both = f"{COMMAND} --tp 3 --schedule-policy lpmx"
    text = f"# kvsolve: ignore[KV8010] patched later\n{both}\n"
    (work / "a.sh").write_text(text)
    ran = run(capsys, "fix", "--write", *CONTEXT, "a.sh")
    assert ran.code == 0, ran.err
    assert (work / "a.sh").read_text() == text.replace("lpmx", "lpm")
    assert ran.err.count("KV8010") == 1
    again = run(capsys, "fix", "--write", *CONTEXT, "a.sh")
    assert (again.code, again.out) == (0, "")
    assert "a.sh:2: KV8010 stays, it is suppressed: patched later" in again.err


def test_a_suppression_without_a_reason_suppresses_nothing(work: Path, capsys: Capture) -> None:
    (work / "a.sh").write_text(f"# kvsolve: ignore[KV8010]\n{COMMAND} --tp 3\n")
    ran = run(capsys, "fix", *CONTEXT, "a.sh")
    assert ran.code == 2
    assert "gives no reason" in ran.err
    assert "-python" in ran.out


def test_others_are_passed_over(work: Path, capsys: Capture) -> None:
    (work / "notes.md").write_text("nothing\n")
    assert run(capsys, "fix", *CONTEXT, "notes.md").code == 2
    ran = run(capsys, "fix", "--skip-others", *CONTEXT, "notes.md")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_editing_may_be_a_failure(work: Path, capsys: Capture) -> None:
    (work / "a.sh").write_text(f"{COMMAND} --schedule-policy lpmx\n")
    options = ("fix", "--write", "--exit-non-zero-on-fix", *CONTEXT, "a.sh")
    assert run(capsys, *options).code == 1
    assert run(capsys, *options).code == 0


def test_stdin_is_read_as_a_file_is(
    work: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def piped(raw: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="ascii"))

    piped(b"\xef\xbb\xbf" + f"{COMMAND} --schedule-policy lpmx\n".encode())
    ran = run(capsys, "check", *CONTEXT, "--format", "concise", "-")
    assert ran.out.startswith(f"stdin:1:{len(COMMAND) + 2}: error KV0007")
    for raw, words in ((b"sglang \xe9\n", "not UTF-8"), (b"sglang\0", "no text")):
        piped(raw)
        ran = run(capsys, "check", *CONTEXT, "-")
        assert ran.code == 2
        assert words in ran.err


def test_a_command_of_too_many_words_is_one_line(work: Path, capsys: Capture) -> None:
    good = f"{COMMAND} --tp 2\n"
    (work / "a.sh").write_text(f"{good}{COMMAND} {'--enable-metrics ' * 5000}\n{good}")
    ran = run(capsys, "check", *CONTEXT, "--format", "jsonl", "a.sh")
    assert ran.code == 2
    assert "more than 4000 are not read" in ran.err
    assert ran.out.count('"verdict":"valid"') == 2
