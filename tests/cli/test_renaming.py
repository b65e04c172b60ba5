"""fix where an option is gone, unknown or misspelt: what is written in its place, and how."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import LLAMA, run

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
COMMAND = f"python -m sglang.launch_server --model-path {LLAMA}"
CONTEXT = ("--sglang", "0.5.23", "--gpu", "h200")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A name that is gone is told whatever its value is, and the value stays.
        ("--cuda-graph-max-bs $N", "--cuda-graph-max-bs-decode $N"),
        ("--cuda-graph-max-bs=$N", "--cuda-graph-max-bs-decode=$N"),
        ('--cuda-graph-max-bs="${N}"', '--cuda-graph-max-bs-decode="${N}"'),
        ("--mamba-scheduler-strategy $S --tp 2", "--mamba-radix-cache-strategy $S --tp 2"),
        # Quotes behind an equals sign stay.
        ('--schedule-policy="lpmx"', '--schedule-policy="lpm"'),
        ("--schedule-policy='lpmx'", "--schedule-policy='lpm'"),
        ('--cuda-graph-max-bs="64"', '--cuda-graph-max-bs-decode="64"'),
        # The first option of a line goes without the line, and so do two of them.
        ("\\\n  --no-such-flag --tp 2", "\\\n  --tp 2"),
        ("\\\n  --no-such-a --no-such-b 7 --tp 2 \\\n  --dp 2", "\\\n  --tp 2 \\\n  --dp 2"),
        ("\\\n  --no-such-flag \\\n  --tp 2", "\\\n  --tp 2"),
        ("\\\n  --tp 2 --no-such-flag", "\\\n  --tp 2"),
    ],
)
def test_in_a_script(work: Path, capsys: Capture, before: str, after: str) -> None:
    (work / "a.sh").write_text(f"{COMMAND} {before}\n")
    ran = run(capsys, "fix", "--write", "--allow-unknown", *CONTEXT, "a.sh")
    assert (work / "a.sh").read_text() == f"{COMMAND} {after}\n"
    assert ran.code == 0, ran.err
    again = run(capsys, "fix", "--write", "--allow-unknown", *CONTEXT, "a.sh")
    assert (again.code, again.out) == (0, "")


def test_a_name_with_an_unknown_part_is_not_judged(work: Path, capsys: Capture) -> None:
    (work / "a.sh").write_text(f"{COMMAND} --enable-$FEATURE\n")
    ran = run(capsys, "check", *CONTEXT, "a.sh")
    assert ran.code == 2
    assert "unknown: " in ran.out
    assert "has no flag" not in ran.out


def test_options_of_a_config_file_are_translated(work: Path, capsys: Capture) -> None:
    (work / "c.yaml").write_text(f"model-path: {LLAMA}\ncuda-graph-max-bs: 64\npage-size: 64\n")
    command = ("python", "-m", "sglang.launch_server", "--config", "c.yaml", "--tp", "2")
    ran = run(capsys, "fix", *CONTEXT, "--command-only", "--", *command)
    assert "--cuda-graph-max-bs-decode 64" in ran.out
    assert "--config" not in ran.out
    # The script does not hold the option, so its file is left alone; the options' own is not.
    (work / "a.sh").write_text(" ".join(command) + "\n")
    ran = run(capsys, "fix", "--write", *CONTEXT, "a.sh")
    assert ran.code == 1
    assert "--cuda-graph-max-bs is in the file of --config, not in this one" in ran.err
    assert run(capsys, "fix", "--write", *CONTEXT, "c.yaml").code == 0
    assert "cuda-graph-max-bs-decode: 64\n" in (work / "c.yaml").read_text()
    assert run(capsys, "check", *CONTEXT, "a.sh").code == 0


def test_a_switch_of_a_mapping_becomes_an_option_with_a_value(work: Path, capsys: Capture) -> None:
    (work / "c.yaml").write_text(
        f"model-path: {LLAMA}\nenable-flashinfer-mla: true  # as ever\npage-size: 64\n"
    )
    assert run(capsys, "fix", "--write", *CONTEXT, "c.yaml").code == 0
    assert "\nattention-backend: flashinfer  # as ever\n" in (work / "c.yaml").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("enable_flashinfer_mla=True", 'attention_backend="flashinfer"'),
        ("cuda_graph_max_bs=64", "cuda_graph_max_bs_decode=64"),
    ],
)
def test_in_a_program(work: Path, capsys: Capture, before: str, after: str) -> None:
    text = f"import sglang\n\ne = sglang.Engine(model_path='{LLAMA}', {before}, tp_size=2)\n"
    (work / "a.py").write_text(text)
    assert run(capsys, "fix", "--write", *CONTEXT, "a.py").code == 0
    assert (work / "a.py").read_text() == text.replace(before, after)
    ast.parse((work / "a.py").read_text())


def test_a_keyword_that_nobody_knows_is_a_finding(work: Path, capsys: Capture) -> None:
    text = "from sglang import Engine\n\ne = Engine(model_path='m', fancy_thing=True{})\n"
    (work / "a.py").write_text(text.format(""))
    ran = run(capsys, "check", *CONTEXT, "--family", "llama-mha", "--format", "concise", "a.py")
    assert ran.code == 1
    assert "a.py:3:28: error KV0001 SGLang 0.5.23 has no flag --fancy-thing" in ran.out
    (work / "a.py").write_text(text.format(", max_model_len=2") + "import sglang\n")
    assert run(capsys, "check", "--skip-others", *CONTEXT, "a.py").out == ""


def test_a_misspelt_secret_is_mended_and_not_shown(work: Path, capsys: Capture) -> None:
    for written in ("--api-kye hunter22", "--api-kye=hunter22", '--api-kye="hunter22"'):
        text = f"{COMMAND} {written} --schedule-policy lpmx\n"
        (work / "a.sh").write_text(text)
        sarif = run(capsys, "check", "--format", "sarif", *CONTEXT, "a.sh")
        assert "hunter22" not in sarif.out + sarif.err
        ran = run(capsys, "fix", "--write", *CONTEXT, "a.sh")
        assert "hunter22" not in ran.out + ran.err
        assert (work / "a.sh").read_text() == text.replace("kye", "key").replace("lpmx", "lpm")


def test_an_option_with_an_unknown_value_is_not_given_a_second_time(
    work: Path, capsys: Capture
) -> None:
    text = f"{COMMAND} --schedule-policy lpmx --chunked-prefill-size $C --page-size 3\n"
    (work / "a.sh").write_text(text)
    ran = run(capsys, "fix", "--write", "--allow-unknown", *CONTEXT, "a.sh")
    assert ran.code == 0, ran.err
    assert (work / "a.sh").read_text() == text.replace("lpmx", "lpm")
    assert "removes KV0007\n" in ran.err
    (work / "a.sh").write_text(text.replace(" --chunked-prefill-size $C", ""))
    run(capsys, "fix", "--write", *CONTEXT, "a.sh")
    assert "--chunked-prefill-size -1" in (work / "a.sh").read_text()
