"""Runs the shell steps of the GitHub Action as a runner does.

``python tests/action_steps.py PACKAGE WORK [INPUT=VALUE...]`` installs a package with the action's
own install step, checks the folder with its last step, and exits as that does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ROOT", "action", "run_step"]

ROOT = Path(__file__).resolve().parents[1]
FILES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")


def action() -> dict[str, Any]:
    """The action as it is written."""
    found = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def run_step(
    name: str, work: Path, temp: Path, inputs: Mapping[str, str], **known: str
) -> subprocess.CompletedProcess[str]:
    """Run a step.

    Args:
        name: Its id.
        work: Folder of the repository that is checked.
        temp: The runner's folder; what steps write is kept in it.
        inputs: Inputs of the action that are not left at their defaults.
        **known: Values of ``steps.python.outputs.python-path`` (``python``) and the action's folder
            (``path``).
    """
    whole = action()
    (step,) = (step for step in whole["runs"]["steps"] if step.get("id") == name)
    values = {f"inputs.{key}": str(row.get("default", "")) for key, row in whole["inputs"].items()}
    values |= {f"inputs.{key}": value for key, value in inputs.items()}
    values["steps.python.outputs.python-path"] = known.get("python", sys.executable)
    env = {
        key: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], text)
        for key, text in step["env"].items()
    }
    env |= {"RUNNER_TEMP": str(temp), "GITHUB_ACTION_PATH": known.get("path", str(ROOT))}
    for file in FILES:
        (temp / file).touch()
        env[file] = str(temp / file)
    return subprocess.run(
        # As GitHub runs `shell: bash`.
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=work,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def main() -> int:
    """Install, then check."""
    package, work = sys.argv[1], Path(sys.argv[2])
    inputs = dict(pair.split("=", 1) for pair in sys.argv[3:])
    with tempfile.TemporaryDirectory() as temp:
        for name in ("install", "check"):
            done = run_step(name, work, Path(temp), inputs, path=package)
            sys.stdout.write(done.stdout)
            sys.stderr.write(done.stderr)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
