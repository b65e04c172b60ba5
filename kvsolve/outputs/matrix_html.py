"""Support matrices as an HTML page, or as a part of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.matrix_notes import (
    LEGEND,
    SYMBOLS,
    Notes,
    context_of,
    grid_of,
    header_of,
    title_of,
    used_states,
)
from kvsolve.outputs.page import STYLE, escape, html_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["legend_html", "matrices_html", "matrix_fragment", "state_html"]


def matrices_html(
    matrices: Sequence[Mapping[str, Any]], reasons: Mapping[str, str] | None = None
) -> str:
    """Matrices as one page that stands by itself; footnotes are shared."""
    title = title_of(matrices[0])
    body = f"<h1>{escape(title)}</h1>\n{_sections(matrices, reasons or {}, 'note')}"
    return html_page(f"{title} - kvsolve", body)


def matrix_fragment(
    matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None, name: str = "note"
) -> str:
    """A matrix with its style, to be shown inside another page, such as a notebook.

    Args:
        matrix: Its JSON.
        reasons: Message by code.
        name: Begins the names of its footnotes, so that several fit one page.
    """
    scoped = "\n".join(line for line in STYLE.splitlines() if not line.startswith("body"))
    scoped = scoped.replace("  padding: 0 1rem; background: var(--back); }\n", "")
    return f"<style>\n{scoped}\n</style>\n{_sections([matrix], reasons or {}, name)}"


def _sections(matrices: Sequence[Mapping[str, Any]], reasons: Mapping[str, str], name: str) -> str:
    notes = Notes(reasons)
    sections = "\n".join(_section(matrix, notes, name) for matrix in matrices)
    footnotes = "".join(
        f'<li id="{name}-{n}">{escape(text)}</li>' for n, text in enumerate(notes.lines(), 1)
    )
    listed = f'\n<ol class="notes">{footnotes}</ol>' if footnotes else ""
    return f"{sections}\n{legend_html(used_states(matrices))}{listed}"


def legend_html(states: Iterable[str], legend: Mapping[str, str] = LEGEND) -> str:
    """The states with what they mean."""
    items = "".join(
        f'<li><span class="key {state}">{state_html(state)}</span> {escape(legend[state])}</li>'
        for state in states
    )
    return f'<ul class="legend">{items}</ul>'


def state_html(state: str) -> str:
    """A state as a sign and a word."""
    return f'<span class="sign" aria-hidden="true">{SYMBOLS[state]}</span> {state}'


def _section(matrix: Mapping[str, Any], notes: Notes, name: str) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in header_of(matrix))
    body = "".join(_row(text, line, name) for text, line in grid_of(matrix, notes))
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    about = f'<p class="about">{escape(context_of(matrix))}</p>'
    return f'{about}\n<div class="scroll">{table}</div>'


def _row(text: str, line: Sequence[tuple[str, tuple[int, ...]]], name: str) -> str:
    cells = "".join(
        f'<td class="{state}">{state_html(state)}{_links(marks, name)}</td>'
        for state, marks in line
    )
    return f'<tr><th scope="row">{escape(text)}</th>{cells}</tr>\n'


def _links(marks: Sequence[int], name: str) -> str:
    links = ", ".join(f'<a href="#{name}-{number}">{number}</a>' for number in marks)
    return f" <sup>{links}</sup>" if links else ""
