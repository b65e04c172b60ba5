"""Tables: for a terminal, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["csv_table", "markdown_table", "text_table"]

Cell = str


def text_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table for a terminal."""
    return _tabulate(columns, rows, "simple")


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as GitHub's Markdown wants it."""
    safe = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return _tabulate(columns, safe, "github")


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Comma-separated values with a header; a value that a spreadsheet would run is quoted off."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_inert(cell) for cell in row] for row in rows)
    return out.getvalue()


def _inert(cell: Cell) -> Cell:
    return "'" + cell if cell[:1] in ("=", "+", "@") else cell


def _tabulate(columns: Sequence[str], rows: Iterable[Sequence[Cell]], style: str) -> str:
    from tabulate import tabulate

    cells = [list(row) for row in rows]
    return str(tabulate(cells, list(columns), tablefmt=style, disable_numparse=True)) + "\n"
