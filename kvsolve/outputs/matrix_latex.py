"""A support matrix as LaTeX that needs no package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.matrix_notes import (
    LEGEND,
    Notes,
    context_of,
    grid_of,
    header_of,
    title_of,
    used_states,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["latex_text", "matrix_latex"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def latex_text(text: str) -> str:
    """Text with what LaTeX would read as commands written out; two hyphens stay two."""
    escaped = "".join(_SPECIAL.get(letter, letter) for letter in text)
    return escaped.replace("--", "-{}-")


def matrix_latex(matrix: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> str:
    """The matrix as a ``table`` with its legend and footnotes."""
    notes = Notes(reasons or {})
    rows = [
        [_typed(name), *(_cell(state, marks) for state, marks in line)]
        for name, line in grid_of(matrix, notes)
    ]
    header = header_of(matrix)
    caption = f"{title_of(matrix)} ({context_of(matrix)})"
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\begin{{tabular}}{{l{'c' * (len(header) - 1)}}}",
        r"\hline",
        _line([latex_text(header[0]), *map(_typed, header[1:])]),
        r"\hline",
        *map(_line, rows),
        r"\hline",
        r"\end{tabular}",
        *_list("description", (f"[{s}] {latex_text(LEGEND[s])}" for s in used_states([matrix]))),
        *_list("enumerate", (f"{{}} {latex_text(text)}" for text in notes.lines())),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _typed(text: str) -> str:
    return rf"\texttt{{{latex_text(text)}}}"


def _cell(state: str, marks: Sequence[int]) -> str:
    numbers = ",".join(map(str, marks))
    return rf"{state}\textsuperscript{{{numbers}}}" if numbers else state


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _list(kind: str, items: Iterable[str]) -> list[str]:
    lines = [rf"\item{item}" for item in items]
    return [rf"\begin{{{kind}}}", *lines, rf"\end{{{kind}}}"] if lines else []
