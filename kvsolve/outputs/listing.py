"""Lists of what is known, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.words import short_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["LIST_FORMATS", "fit", "listing"]

_WIDEST = 48
_LEAST = 24
LIST_FORMATS = ("text", "json", "jsonl", "markdown", "csv")


def listing(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    style: str,
    about: Mapping[str, Any] | None = None,
    width: int = 120,
) -> str:
    """Rows as text, JSON, JSON lines, Markdown or CSV.

    Args:
        name: Key of the list in JSON.
        rows: The whole of what is known of each.
        columns: Keys that a table shows.
        style: One of :data:`LIST_FORMATS`.
        about: Further keys of the JSON.
        width: Columns of a text table; its last column is cut to fit.
    """
    items = list(rows)
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        if style == "jsonl":
            return "".join(json_line(item) for item in items)
        return json_text({**head(), **(about or {}), name: items})
    from kvsolve.outputs import tables

    make = {"text": tables.text_table, "markdown": tables.markdown_table, "csv": tables.csv_table}
    cells = [[_cell(item.get(column)) for column in columns] for item in items]
    if style == "text" and len(items) > 1:
        fit(columns, cells, width)
    return make[style](columns, cells)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(short_value(item) for item in value)
    return value if isinstance(value, str) else short_value(value)


def fit(columns: Sequence[str], cells: list[list[str]], width: int) -> None:
    """Shorten cells of a long list: inner ones that are far too long, last ones to the width."""
    for row in cells:
        row[:-1] = [_short(cell, _WIDEST) for cell in row[:-1]]
    columns_of = list(zip(columns, *cells, strict=True))
    taken = sum(max(map(len, column)) + 2 for column in columns_of[:-1])
    for row in cells:
        row[-1] = _short(row[-1], max(width - taken, _LEAST))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
