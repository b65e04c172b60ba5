"""Execute the notebooks in place: ``python notebooks/execute.py``, after a change of the packs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
SECONDS_A_CELL = 120


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, run in an empty directory; the file is left alone."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as empty:
        NotebookClient(
            notebook,
            timeout=SECONDS_A_CELL,
            kernel_name="python3",
            coalesce_streams=True,
            resources={"metadata": {"path": empty}},
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of this run
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    for name in sorted(HERE.glob("*.ipynb")):
        nbformat.write(execute(name), name)
        print(name.name)
