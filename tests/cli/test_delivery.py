"""The pre-commit hook, the GitHub Action and the problem matcher, run as far as a machine can."""

from __future__ import annotations

import json
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kvsolve.settings.options import SHARED
from tests.action_steps import FILES, ROOT, run_step
from tests.cli.running import EXAMPLE, LLAMA, run
from tests.public_schemas import ACTION, HOOKS, assert_fits, public_schema

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
BAD = " ".join(EXAMPLE) + "\n"
GOOD = f"python -m sglang.launch_server --model-path {LLAMA}\n"
TABLE = 'sglang = "0.5.18"\ngpu = "h100"\n'


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


# The hook


def test_the_hook_is_one_that_pre_commit_takes() -> None:
    hooks = loaded(".pre-commit-hooks.yaml")
    assert_fits(hooks, public_schema(HOOKS))
    assert [hook["id"] for hook in hooks] == ["kvsolve", "kvsolve-fix"]
    assert len({hook["files"] for hook in hooks}) == 1
    files = re.compile(hooks[0]["files"])
    taken = ["a.yaml", "b/Dockerfile", "c/Dockerfile.gpu", "run.SH", "x.ipynb", "job.sbatch"]
    left = ["a.toml", "b.txt", "Dockerfile/notes.txt", "c.go"]
    assert [name for name in taken if not files.search(name)] == []
    assert [name for name in left if files.search(name)] == []


def hook(capsys: Capture, *files: str, name: str = "kvsolve") -> Any:
    """Run a hook as pre-commit does: its entry, then the files."""
    (chosen,) = (hook for hook in loaded(".pre-commit-hooks.yaml") if hook["id"] == name)
    program, *options = shlex.split(chosen["entry"])
    assert program == "kvsolve"
    return run(capsys, *options, *files)


def test_the_hook_judges_the_files_of_a_commit(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kvsolve.toml").write_text(TABLE)
    (tmp_path / "good.sh").write_text(GOOD)
    (tmp_path / "bad.sh").write_text(BAD)
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "notes.md").write_text("# sglang\n\nNothing to run here.\n")
    assert hook(capsys, "good.sh", "values.yaml", "notes.md").code == 0
    ran = hook(capsys, "good.sh", "bad.sh", "values.yaml")
    assert ran.code == 1
    assert all(line.startswith("bad.sh:1:") for line in ran.out.splitlines())


def test_the_hook_that_repairs_fails_once(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kvsolve.toml").write_text(TABLE)
    (tmp_path / "bad.sh").write_text(GOOD.replace("\n", " --schedule-policy lpmx\n"))
    (tmp_path / "notes.md").write_text("Nothing to run here.\n")
    files = ("bad.sh", "notes.md")
    assert hook(capsys, *files, name="kvsolve-fix").code == 1
    assert (tmp_path / "bad.sh").read_text() == GOOD.replace("\n", " --schedule-policy lpm\n")
    again = hook(capsys, *files, name="kvsolve-fix")
    assert (again.code, again.out) == (0, "")


# The problem matcher


def test_the_matcher_reads_what_the_concise_format_prints(tmp_path: Path, capsys: Capture) -> None:
    (matcher,) = json.loads((ROOT / "problem-matcher.json").read_text())["problemMatcher"]
    (pattern,) = matcher["pattern"]
    shape = re.compile(pattern["regexp"])
    script = tmp_path / "bad.sh"
    script.write_text(BAD)
    options = ("--sglang", "0.5.18", "--gpu", "h100", "--format", "concise")
    lines = run(capsys, "check", *options, str(script)).out.splitlines()
    assert lines
    for line in lines:
        match = shape.match(line)
        assert match is not None
        assert match[pattern["file"]] == str(script)
        assert match[pattern["line"]] == "1"
        assert match[pattern["severity"]] in ("error", "warning")
        assert match[pattern["code"]].startswith("KV")
        assert match[pattern["message"]]


# The action


def test_the_action_is_one_that_github_takes() -> None:
    action = loaded("action.yml")
    assert_fits(action, public_schema(ACTION))
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input could become a command"


def test_the_action_hands_on_options_by_their_variables() -> None:
    action = loaded("action.yml")
    step = action["runs"]["steps"][-1]
    variables = [name for name in step["env"] if name.startswith("KVSOLVE_")]
    assert variables
    assert set(variables) <= {f"KVSOLVE_{option.name.upper()}" for option in SHARED}
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(step["env"])))
    assert used == set(action["inputs"])


class Runner:
    """What a GitHub runner gives the last step of the action."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temp = folder / "work", folder / "temp"
        self.work.mkdir()
        program = self.temp / "kvsolve" / "bin" / "kvsolve"
        program.parent.mkdir(parents=True)
        start = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        program.write_text(
            f"#!{sys.executable}\n{start}from kvsolve.cli.main import run\nrun()\n",
            encoding="utf-8",
        )
        program.chmod(0o755)

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        for name in FILES:
            (self.temp / name).write_text("")
        return run_step("check", self.work, self.temp, inputs)

    def written(self, name: str) -> str:
        return (self.temp / name).read_text(encoding="utf-8")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    (made.work / "deploy").mkdir()
    (made.work / "deploy" / "good.sh").write_text(GOOD)
    return made


CONTEXT = {"sglang": "0.5.18", "gpu": "h100"}


def test_a_clean_repository_passes(runner: Runner) -> None:
    done = runner.run(**CONTEXT)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert runner.written("GITHUB_OUTPUT") == "exit-code=0\n"
    assert "nothing known refuses 1 command" in runner.written("GITHUB_STEP_SUMMARY")


def test_findings_are_annotated_summed_up_and_written_as_sarif(runner: Runner) -> None:
    (runner.work / "deploy" / "bad one.sh").write_text(BAD)
    paths = "deploy/good.sh\n\ndeploy/bad one.sh\n"
    done = runner.run(**CONTEXT, paths=paths, sarif="out.sarif")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=deploy/bad one.sh,line=1,")
    assert "exit-code=1\nsarif=out.sarif\n" in runner.written("GITHUB_OUTPUT")
    assert "1 of 2 commands would not start" in runner.written("GITHUB_STEP_SUMMARY")
    log = json.loads((runner.work / "out.sarif").read_text())
    assert log["runs"][0]["results"]


def test_options_reach_the_check_and_nothing_else(runner: Runner) -> None:
    (runner.work / "deploy" / "bad.sh").write_text(BAD)
    done = runner.run(**CONTEXT, args="--exit-zero\n--notes", summary="false")
    assert done.returncode == 0, done.stderr
    assert runner.written("GITHUB_STEP_SUMMARY") == ""
    evil = {"paths": "$(touch evil)\n; touch evil", "args": "$(touch evil) `touch evil`"}
    done = runner.run(**CONTEXT, **evil)
    assert done.returncode == 2
    assert not (runner.work / "evil").exists()
