"""Files and folders from the command line: what is read, what is told, what is written."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from kvsolve.files import walk
from kvsolve.files.found import Document, FileError
from kvsolve.files.storing import store

from .running import H100, LLAMA, piped, run

if TYPE_CHECKING:
    from pathlib import Path

POD = f"""\
spec:
  containers:
    - name: a   # first
      image: lmsysorg/sglang:v0.5.18
      args:
        - sglang
        - serve
        - '{LLAMA}'
        - --is-embedding
        - --prefill-only-disable-kv-cache  # no pool
        - "--kv-cache-dtype"
        - nvfp4
"""
FIXED = POD.replace(
    "        - --prefill-only-disable-kv-cache  # no pool\n",
    "        - --prefill-only-disable-kv-cache  # no pool\n"
    "        - --chunked-prefill-size\n        - '-1'\n        - --disable-radix-cache\n",
).replace('        - "--kv-cache-dtype"\n        - nvfp4\n', "")
GPU = ("--gpu", "h100")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_findings_stand_at_their_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pod.yaml").write_text(POD)
    ran = run(capsys, "check", "pod.yaml", *GPU, "--format", "json")
    (result,) = ran.json["results"]
    assert (result["sglang"], result["sglang_from"]) == ("0.5.18", "image")
    assert result["source"] == {"file": "pod.yaml", "line": 6, "column": 11}
    first = result["findings"][0]
    assert first["flags"][0] == "--prefill-only-disable-kv-cache"
    assert first["location"] == {"file": "pod.yaml", "line": 10, "column": 11}


def test_a_fix_is_a_diff_that_applies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pod.yaml").write_text(POD)
    ran = run(capsys, "fix", "pod.yaml", *GPU)
    assert ran.code == 1
    assert (folder / "pod.yaml").read_text() == POD
    git = shutil.which("git")
    assert git is not None
    (folder / "fix.diff").write_text(ran.out)
    subprocess.run([git, "apply", "-p0", "fix.diff"], check=True, cwd=folder)
    assert (folder / "pod.yaml").read_text() == FIXED


def test_a_written_fix_keeps_the_rest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "pod.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + POD.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    link = folder / "link.yaml"
    link.symlink_to(file)
    assert run(capsys, "fix", "--write", "link.yaml", *GPU).code == 0
    assert file.read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(p.name for p in folder.iterdir()) == ["link.yaml", "pod.yaml"]
    again = run(capsys, "fix", "--write", "pod.yaml", *GPU)
    assert (again.code, again.out) == (0, "")


def test_what_was_changed_meanwhile_is_not_written(folder: Path) -> None:
    file = folder / "a.yaml"
    file.write_text("a: 1\n")
    with pytest.raises(FileError, match="changed meanwhile"):
        store(Document(str(file), "a: 0\n"), "a: 2\n")
    assert file.read_text() == "a: 1\n"


def test_a_failed_write_leaves_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "a.yaml"
    file.write_text("a: 1\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        store(Document(str(file), "a: 1\n"), "a: 2\n")
    assert [p.name for p in folder.iterdir()] == ["a.yaml"]
    assert file.read_text() == "a: 1\n"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "shared.sh",
            f"A=nvfp4\nsglang serve {LLAMA} --kv-cache-dtype $A &\n"
            f"sglang serve {LLAMA} --kv-cache-dtype $A --port 2\n",
            "nvfp4 is left alone: it comes from $A, which is used 2 times",
        ),
        (
            "anchors.yaml",
            "x-a: &a [sglang, serve, " + LLAMA + ", --kv-cache-dtype, nvfp4]\n"
            "services:\n  b: {command: *a, ipc: host}\n  c: {command: *a, ipc: host}\n",
            "is left alone: several commands share it",
        ),
    ],
)
def test_what_cannot_be_edited_safely_is_left_alone(
    name: str, text: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text(text)
    ran = run(capsys, "fix", "--write", name, *H100)
    assert ran.code == 1
    assert (folder / name).read_text() == text
    assert reason in ran.err


def test_stdin_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "fix", "--write", "-")
    assert ran.code == 2
    assert "--write needs a file" in ran.err


def test_each_odd_file_costs_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "good.sh").write_text(f"sglang serve {LLAMA}\n")
    with (folder / "huge.yaml").open("wb") as huge:
        for _ in range(50):
            huge.write(b"# sglang " + b"x" * 999_991)
    rows = ["a0: &a0 [sglang, sglang]"]
    rows += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 40)]
    (folder / "bomb.yaml").write_text("\n".join(rows))
    (folder / "binary.yaml").write_bytes(b"sglang\0\1\2" * 100)
    (folder / "latin.sh").write_bytes(b"# sglang \xe9\n")
    (folder / "deep.yaml").write_text("# sglang\n" + "[" * 100_000)
    (folder / "loop").symlink_to(folder)
    (folder / "gone.yaml").write_text(f"args: [sglang, serve, {LLAMA}]\n")
    opened = walk.open_document

    def vanishing(path: str) -> Document | FileError:
        if path.endswith("gone.yaml"):
            os.unlink(path)
        return opened(path)

    monkeypatch.setattr(walk, "open_document", vanishing)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = run(capsys, "check", ".", *H100)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ran.code == 2
    told = [line for line in ran.err.splitlines() if line.startswith("kvsolve: ")]
    assert "./deep.yaml, line 2: it is no YAML from here on" in told.pop(2)
    assert told == [
        "kvsolve: error: ./binary.yaml: is no text",
        "kvsolve: error: ./bomb.yaml, line 7: its aliases stand for more than 1,000,000 values",
        "kvsolve: error: ./gone.yaml: cannot be read: No such file or directory",
        "kvsolve: error: ./huge.yaml: is 50 MB large; files over 8 MB are not read",
        "kvsolve: error: ./latin.sh: cannot be read: not UTF-8 text",
        "kvsolve: skipped: ./loop: is a link to a folder that is read anyway",
    ]
    assert "./good.sh:1" in ran.out
    assert grown < 300_000  # KiB


def test_what_vanishes_during_a_walk_is_told(folder: Path) -> None:
    for name in ("a.sh", "b.sh", "c/d.sh", "e.sh"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"sglang serve {LLAMA}\n")
    met = walk.documents(["."])
    names = [next(met).document.path]  # the folder is listed now
    (folder / "b.sh").unlink()
    shutil.rmtree(folder / "c")
    rest = list(met)
    assert names == ["./a.sh"]
    assert [str(item) for item in rest if isinstance(item, FileError)] == [
        "./b.sh: cannot be read: No such file or directory",
        "./c: cannot be read: No such file or directory",
    ]
    assert [m.document.path for m in rest if isinstance(m, walk.Met)] == ["./e.sh"]


def test_a_large_list_is_no_bomb(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = ",".join(["1"] * 1_100_000)
    argv = f'["sglang", "serve", "{LLAMA}"]'
    (folder / "large.json").write_text(f'{{"args": {argv}, "numbers": [{numbers}]}}')
    ran = run(capsys, "check", "large.json", *H100)
    assert ran.code == 0, ran.err


def test_a_release_that_is_not_known_is_told_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pod.yaml").write_text(POD.replace("v0.5.18", "v0.4.6.post5"))
    ran = run(capsys, "check", "pod.yaml", *GPU)
    assert ran.code == 2
    assert "pod.yaml, line 6: no pack for SGLang 0.4.6.post5" in ran.err
    assert run(capsys, "check", "pod.yaml", *GPU, "--sglang", "0.5.18").code == 1


def test_what_a_file_does_not_tell_is_never_valid(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.sh").write_text(f"sglang serve {LLAMA} --tp $TP\n")
    ran = run(capsys, "check", "a.sh", *H100)
    assert ran.code == 2
    assert "$TP is not set in this file" in ran.out
    assert run(capsys, "check", "a.sh", *H100, "--env", "TP=2").code == 0


@pytest.mark.parametrize(
    "command",
    [
        'sglang serve "$@"',
        'bash -c "sglang serve $EXTRA"',
        f"sglang serve {LLAMA} $EXTRA",
        f"sglang serve {LLAMA} --cuda-graph-bs 1 $EXTRA",
    ],
)
def test_what_may_hold_any_option_is_never_valid(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.sh").write_text(command + "\n")
    assert run(capsys, "check", "a.sh", *H100, "--family", "llama-mha").code == 2


def test_what_does_not_matter_may_stay_open(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.sh").write_text(f"sglang serve {LLAMA} --host $POD_IP --tp 2\n")
    assert run(capsys, "check", "a.sh", *H100).code == 0


def test_every_option_may_be_unknown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from kvsolve.packs.pack import load_pack

    flags = load_pack("0.5.18").flags
    valued = [f.name for f in flags if f.takes_value and f.nargs is None and f.action == "store"]
    for start in range(0, len(valued), 40):
        options = " ".join(f"{name} $X" for name in valued[start : start + 40])
        (folder / "a.sh").write_text(f"python -m sglang.launch_server {options}\n")
        ran = run(capsys, "check", "a.sh", *H100, "--format", "json")
        assert ran.code in (1, 2), ran
        (result,) = ran.json["results"]
        assert result["verdict"] != "valid"


def test_a_diff_shows_no_secret(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"sglang serve {LLAMA} --api-key sk-live-1234 --kv-cache-dtype nvfp4\n"
    (folder / "a.sh").write_text(text)
    ran = run(capsys, "fix", "a.sh", *H100)
    assert "nvfp4" in ran.out
    assert "sk-live-1234" not in ran.out + ran.err
    assert "a secret is hidden in the diff" in ran.err
    run(capsys, "fix", "--write", "a.sh", *H100)
    assert "sk-live-1234" in (folder / "a.sh").read_text()


def test_options_on_stdin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", piped(f"model-path: {LLAMA}\nkv-cache-dtype: nvfp4\n"))
    ran = run(capsys, "check", "-", *H100, "--format", "json")
    (result,) = ran.json["results"]
    assert result["verdict"] == "invalid"
    assert result["findings"][0]["location"] == {"file": "stdin", "line": 2, "column": 1}
