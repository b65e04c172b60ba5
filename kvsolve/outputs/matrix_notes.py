"""What every rendering of a matrix says: states, footnotes, headings.

The renderers take the JSON of a matrix (``to_dict`` of the solver's answer), so that a stored one
prints like a fresh one. Reasons become numbered footnotes, each told once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.words import edit_in_words, quote, spoken_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "LEGEND",
    "SYMBOLS",
    "Notes",
    "context_of",
    "grid_of",
    "header_of",
    "needs_of",
    "title_of",
    "used_states",
]

LEGEND = {
    "yes": "accepted with everything else as it is",
    "with": "accepted after the edits in the footnote",
    "no": "no choice of the other flags is accepted",
    "reported": "accepted, publicly reported to fail",
    "unknown": "not known",
}
SYMBOLS = {"yes": "✓", "with": "+", "no": "✕", "reported": "!", "unknown": "?"}
"""A sign for each state, so that none rests on its colour."""


class Notes:
    """Footnotes, numbered in the order in which they are first needed."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._reasons = reasons
        self._numbers: dict[str, int] = {}

    def marks(self, cell: Mapping[str, Any]) -> tuple[int, ...]:
        """The numbers of a cell's footnotes; empty where there is nothing to say."""
        return tuple(self._numbers.setdefault(t, len(self._numbers) + 1) for t in self.texts(cell))

    def texts(self, cell: Mapping[str, Any]) -> Iterator[str]:
        """What there is to say of a cell beside its state."""
        if cell.get("edits"):
            yield needs_of(cell["edits"])
        if cell["state"] != "with":
            yield from map(self.reason, cell.get("codes", ()))
        if cell["state"] == "unknown" and cell.get("facts"):
            yield f"not known: {', '.join(cell['facts'])}"

    def reason(self, code: str) -> str:
        """A code with its reason where that is known."""
        text = self._reasons.get(code)
        return f"[{code}] {text}" if text else f"[{code}]"

    def lines(self) -> list[str]:
        """The footnotes in order."""
        return list(self._numbers)


def needs_of(edits: Iterable[Mapping[str, Any]]) -> str:
    """Edits in words: ``--page-size 1, drop --x``."""
    return ", ".join(edit_in_words(edit) for edit in edits)


def grid_of(
    matrix: Mapping[str, Any], notes: Notes
) -> Iterator[tuple[str, list[tuple[str, tuple[int, ...]]]]]:
    """Name of each row with (state, numbers of footnotes) for each column."""
    cells = {(spoken_value(c["row"]), spoken_value(c["col"])): c for c in matrix["cells"]}
    columns = [spoken_value(col) for col in matrix["cols"]["values"]]
    for row in map(spoken_value, matrix["rows"]["values"]):
        found = (cells[row, col] for col in columns)
        yield row, [(str(cell["state"]), notes.marks(cell)) for cell in found]


def title_of(matrix: Mapping[str, Any]) -> str:
    """``kv_cache_dtype by gpu``."""
    return f"{matrix['rows']['name']} by {matrix['cols']['name']}"


def context_of(matrix: Mapping[str, Any]) -> str:
    """What is the same for all cells: release, GPU, model, command."""
    pairs = matrix["context"].items()
    told = [f"{k} {spoken_value(v)}" for k, v in pairs if v is not None and k != "argv"]
    command = " ".join(quote(token) for token in matrix["context"].get("argv", ()))
    return ", ".join(told) + (f"; {command}" if command else "")


def header_of(matrix: Mapping[str, Any]) -> list[str]:
    """The corner, then the name of each column."""
    corner = f"{matrix['rows']['name']} \\ {matrix['cols']['name']}"
    return [corner, *map(spoken_value, matrix["cols"]["values"])]


def used_states(matrices: Sequence[Mapping[str, Any]]) -> list[str]:
    """The states that occur, in the order of the legend."""
    states = {cell["state"] for matrix in matrices for cell in matrix["cells"]}
    return [state for state in LEGEND if state in states]
