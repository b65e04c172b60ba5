"""A support matrix as text, Markdown and CSV (others: ``matrix_html``, ``matrix_latex``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.matrix_notes import (
    LEGEND,
    Notes,
    context_of,
    grid_of,
    header_of,
    needs_of,
    title_of,
    used_states,
)
from kvsolve.outputs.tables import csv_table, markdown_table, text_table
from kvsolve.outputs.words import spoken_value, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["matrix_csv", "matrix_markdown", "matrix_text"]

_CSV_COLUMNS = ("row", "col", "state", "codes", "edits", "reasons")
_GAP = 2


def matrix_text(
    matrix: Mapping[str, Any],
    reasons: Mapping[str, str] | None = None,
    width: int | None = None,
) -> str:
    """The matrix for a terminal, with legend and footnotes.

    Args:
        matrix: Its JSON.
        reasons: Message by code, for the footnotes.
        width: Columns of the terminal; a wider table goes on below. None for no limit.
    """
    notes = Notes(reasons or {})
    rows = [
        [name, *(f"{state} {_joined(marks)}".rstrip() for state, marks in line)]
        for name, line in grid_of(matrix, notes)
    ]
    tables = [text_table(*part).rstrip("\n") for part in _parts(header_of(matrix), rows, width)]
    legend = [f"{state:<9} {LEGEND[state]}" for state in used_states([matrix])]
    footnotes = [_footnote(number, text, width) for number, text in enumerate(notes.lines(), 1)]
    head = f"{title_of(matrix)} ({context_of(matrix)})"
    blocks = [head, *tables, "\n".join(legend)]
    return "\n\n".join([*blocks, *(["\n".join(footnotes)] if footnotes else [])]) + "\n"


def _joined(marks: Iterable[int]) -> str:
    return ",".join(map(str, marks))


def _footnote(number: int, text: str, width: int | None) -> str:
    first = f"{number:>3}. "
    return wrap(text, width, " " * len(first), first) if width else first + text


def _parts(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The table cut into tables that fit a width, each with the names of the rows."""
    table = [header, *rows]
    widths = [max(len(line[at]) for line in table) + _GAP for at in range(len(header))]
    start = 1
    while start < len(header):
        end, left = start + 1, (width or sum(widths)) - widths[0] - widths[start]
        while end < len(header) and widths[end] <= left:
            left -= widths[end]
            end += 1
        yield (
            [header[0], *header[start:end]],
            [[row[0], *row[start:end]] for row in rows],
        )
        start = end


def matrix_markdown(matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> str:
    """The matrix as Markdown."""
    notes = Notes(reasons or {})
    rows = [
        [f"`{name}`", *(f"{s} <sup>{_joined(m)}</sup>" if m else s for s, m in line)]
        for name, line in grid_of(matrix, notes)
    ]
    header = header_of(matrix)
    table = markdown_table([header[0], *(f"`{name}`" for name in header[1:])], rows)
    legend = "\n".join(f"- **{state}**: {LEGEND[state]}" for state in used_states([matrix]))
    footnotes = "\n".join(f"{n}. {text}" for n, text in enumerate(notes.lines(), 1))
    head = f"{title_of(matrix)} ({context_of(matrix)})"
    blocks = [head, table.rstrip("\n"), legend, footnotes]
    return "\n\n".join(block for block in blocks if block) + "\n"


def matrix_csv(matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> str:
    """One line a cell: row, column, state, codes, edits, reasons."""
    known = reasons or {}
    return csv_table(_CSV_COLUMNS, (_csv_row(cell, known) for cell in matrix["cells"]))


def _csv_row(cell: Mapping[str, Any], reasons: Mapping[str, str]) -> list[str]:
    codes: Iterable[str] = cell.get("codes", ())
    edits = needs_of(cell.get("edits", ())).replace(", ", "; ")
    texts = " ".join(reasons[code] for code in codes if code in reasons)
    row, col = spoken_value(cell["row"]), spoken_value(cell["col"])
    return [row, col, cell["state"], " ".join(codes), edits, texts]
