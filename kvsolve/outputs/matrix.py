"""A support matrix as text, Markdown, CSV and HTML.

The renderers take the JSON of a matrix (``to_dict`` of the solver's answer), so that a stored one
prints like a fresh one. Reasons become numbered footnotes, each told once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.tables import csv_table, escape, html_page, markdown_table, text_table
from kvsolve.outputs.words import edit_in_words, quote, spoken_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["LEGEND", "matrices_html", "matrix_csv", "matrix_markdown", "matrix_text"]

LEGEND = {
    "yes": "accepted with everything else at its default",
    "with": "accepted after the edits in the footnote",
    "no": "no choice of the other flags is accepted",
    "reported": "accepted, publicly reported to fail",
    "unknown": "not known",
}
_CSV_COLUMNS = ("row", "col", "state", "codes", "edits", "reasons")


class _Notes:
    """Footnotes, numbered in the order in which they are first needed."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._reasons = reasons
        self._numbers: dict[str, int] = {}

    def mark(self, cell: Mapping[str, Any]) -> str:
        """The numbers of a cell's footnotes, as in ``1,3``; empty where there is nothing to say."""
        numbers = [self._numbers.setdefault(t, len(self._numbers) + 1) for t in self._texts(cell)]
        return ",".join(str(number) for number in numbers)

    def _texts(self, cell: Mapping[str, Any]) -> Iterator[str]:
        if cell["state"] == "with" and cell.get("edits"):
            yield ", ".join(edit_in_words(edit) for edit in cell["edits"])
            return
        for code in cell.get("codes", ()):
            yield self.reason(code)
        if cell["state"] == "unknown" and cell.get("facts"):
            yield f"not known: {', '.join(cell['facts'])}"

    def reason(self, code: str) -> str:
        """A code with its reason where that is known."""
        text = self._reasons.get(code)
        return f"[{code}] {text}" if text else f"[{code}]"

    def lines(self) -> list[str]:
        """The footnotes in order."""
        return list(self._numbers)


def _cells(matrix: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(_key(c["row"]), _key(c["col"])): c for c in matrix["cells"]}


def _key(value: Any) -> str:
    return spoken_value(value)


def _grid(matrix: Mapping[str, Any], notes: _Notes) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Row name with (state, footnote marks) for each column."""
    cells = _cells(matrix)
    for row in matrix["rows"]["values"]:
        line = []
        for col in matrix["cols"]["values"]:
            cell = cells[_key(row), _key(col)]
            line.append((str(cell["state"]), notes.mark(cell)))
        yield _key(row), line


def _title(matrix: Mapping[str, Any]) -> str:
    return f"{matrix['rows']['name']} by {matrix['cols']['name']}"


def _context(matrix: Mapping[str, Any]) -> str:
    pairs = matrix["context"].items()
    told = [f"{k} {spoken_value(v)}" for k, v in pairs if v is not None and k != "argv"]
    command = " ".join(quote(token) for token in matrix["context"].get("argv", ()))
    return ", ".join(told) + (f"; {command}" if command else "")


def _header(matrix: Mapping[str, Any]) -> list[str]:
    corner = f"{matrix['rows']['name']} \\ {matrix['cols']['name']}"
    return [corner, *(_key(col) for col in matrix["cols"]["values"])]


def _used(matrix: Mapping[str, Any]) -> list[str]:
    states = {cell["state"] for cell in matrix["cells"]}
    return [state for state in LEGEND if state in states]


def matrix_text(matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> str:
    """The matrix for a terminal, with legend and footnotes.

    Args:
        matrix: Its JSON.
        reasons: Message by code, for the footnotes.
    """
    notes = _Notes(reasons or {})
    rows = [
        [name, *(f"{state} {marks}".rstrip() for state, marks in line)]
        for name, line in _grid(matrix, notes)
    ]
    table = text_table(_header(matrix), rows)
    legend = [f"{state:<9} {LEGEND[state]}" for state in _used(matrix)]
    footnotes = [f"{number:>3}. {text}" for number, text in enumerate(notes.lines(), 1)]
    blocks = [f"{_title(matrix)} ({_context(matrix)})", table.rstrip("\n"), "\n".join(legend)]
    return "\n\n".join([*blocks, *(["\n".join(footnotes)] if footnotes else [])]) + "\n"


def matrix_markdown(matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> str:
    """The matrix as Markdown."""
    notes = _Notes(reasons or {})
    rows = [
        [f"`{name}`", *(f"{s} <sup>{m}</sup>" if m else s for s, m in line)]
        for name, line in _grid(matrix, notes)
    ]
    header = _header(matrix)
    table = markdown_table([header[0], *(f"`{name}`" for name in header[1:])], rows)
    legend = "\n".join(f"- **{state}**: {LEGEND[state]}" for state in _used(matrix))
    footnotes = "\n".join(f"{n}. {text}" for n, text in enumerate(notes.lines(), 1))
    blocks = [f"{_title(matrix)} ({_context(matrix)})", table.rstrip("\n"), legend, footnotes]
    return "\n\n".join(block for block in blocks if block) + "\n"


def matrix_csv(matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> str:
    """One line a cell: row, column, state, codes, edits, reasons."""
    known = reasons or {}
    return csv_table(_CSV_COLUMNS, (_csv_row(cell, known) for cell in matrix["cells"]))


def _csv_row(cell: Mapping[str, Any], reasons: Mapping[str, str]) -> list[str]:
    codes: Iterable[str] = cell.get("codes", ())
    edits = "; ".join(edit_in_words(edit) for edit in cell.get("edits", ()))
    texts = " ".join(reasons[code] for code in codes if code in reasons)
    return [_key(cell["row"]), _key(cell["col"]), cell["state"], " ".join(codes), edits, texts]


def matrices_html(
    matrices: Sequence[Mapping[str, Any]], reasons: Mapping[str, str] | None = None
) -> str:
    """Matrices as one page that stands by itself; footnotes are shared."""
    notes = _Notes(reasons or {})
    sections = "\n".join(_html_section(matrix, notes) for matrix in matrices)
    states = [state for state in LEGEND if any(state in _used(matrix) for matrix in matrices)]
    legend = "".join(
        f'<li><span class="{state}">{state}</span>: {escape(LEGEND[state])}</li>'
        for state in states
    )
    footnotes = "".join(
        f'<li id="note-{n}">{escape(text)}</li>' for n, text in enumerate(notes.lines(), 1)
    )
    listed = f'<ol class="notes">{footnotes}</ol>' if footnotes else ""
    title = _title(matrices[0])
    body = f"<h1>{escape(title)}</h1>\n{sections}\n<ul>{legend}</ul>\n{listed}"
    return html_page(f"{title} - kvsolve", body)


def _html_section(matrix: Mapping[str, Any], notes: _Notes) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _header(matrix))
    body = "".join(_html_row(name, line) for name, line in _grid(matrix, notes))
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<p>{escape(_context(matrix))}</p>\n<div class="scroll">{table}</div>'


def _html_row(name: str, line: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f'<td class="{s}">{s}{_html_marks(m)}</td>' for s, m in line)
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>\n'


def _html_marks(marks: str) -> str:
    links = [f'<a href="#note-{number}">{number}</a>' for number in marks.split(",") if number]
    return f" <sup>{', '.join(links)}</sup>" if links else ""
