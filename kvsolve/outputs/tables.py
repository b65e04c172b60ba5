"""Tables: for a terminal, Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["csv_table", "html_page", "markdown_table", "text_table"]

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


def html_page(title: str, body: str) -> str:
    """A page that stands by itself: no script, no other file.

    Args:
        title: Plain text.
        body: HTML.
    """
    return _PAGE.replace("{title}", escape(title)).replace("{body}", body)


def escape(text: str) -> str:
    """Text as HTML."""
    from html import escape as html_escape

    return html_escape(text)


def _tabulate(columns: Sequence[str], rows: Iterable[Sequence[Cell]], style: str) -> str:
    from tabulate import tabulate

    cells = [list(row) for row in rows]
    return str(tabulate(cells, list(columns), tablefmt=style, disable_numparse=True)) + "\n"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: center; }
th { font-weight: 600; }
tbody th { text-align: left; }
.yes { background: #2e9e5b33; }
.with { background: #d9a4002e; }
.no { background: #d1343433; }
.reported { background: #b05cd633; }
.unknown { background: #8882; }
sup { font-size: .7em; }
ol.notes { font-size: .9em; }
</style>
</head>
<body>
{body}
</body>
</html>
"""
