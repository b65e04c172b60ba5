"""The notebook runs from top to bottom, and its committed outputs are of such a run."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
WALKTHROUGH = NOTEBOOKS / "walkthrough.ipynb"


@pytest.fixture(scope="module")
def execute():
    spec = importlib.util.spec_from_file_location("execute", NOTEBOOKS / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.execute


def outputs(notebook):
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def shown(notebook):
    found = [output for cell in outputs(notebook) for output in cell]
    return "\n".join(o.get("text") or str(o.get("data", o)) for o in found)


@pytest.mark.filterwarnings("default")
def test_every_cell_runs_and_shows_what_the_committed_run_showed(execute, tmp_path, monkeypatch):
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    fresh, committed = execute(WALKTHROUGH), nbformat.read(WALKTHROUGH, as_version=4)
    kinds = [
        [[(o.output_type, *sorted(o.get("data", ()))) for o in cell] for cell in outputs(notebook)]
        for notebook in (fresh, committed)
    ]
    assert kinds[0] == kinds[1]
    assert "invalid for h100" in shown(fresh)
    assert "<table>" in shown(fresh)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_committed_outputs_are_complete_and_name_no_machine(path):
    committed = nbformat.read(path, as_version=4)
    cells = [cell for cell in committed.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    text = shown(committed)
    assert "h100" in text
    assert "<table>" in text
    assert not [word for word in ("/root", "/home", "/work", "/tmp", "Traceback") if word in text]
