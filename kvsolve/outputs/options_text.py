"""What flags may still be, for a person and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.paint import PLAIN, Paint
from kvsolve.outputs.words import edit_in_words, short_value, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["options_table", "options_text"]

Row = dict[str, Any]
_COLUMNS = ("flag", "value", "state", "needs", "codes", "why")


def options_text(
    flags: Sequence[Row], reasons: Mapping[str, str], paint: Paint = PLAIN, width: int = 100
) -> str:
    """Each flag with the values that are open, those that need more, and those excluded.

    Args:
        flags: The JSON of the flags' options.
        reasons: Message by code.
        paint: Styles.
        width: Columns.
    """
    return "\n".join("\n".join(_flag(row, reasons, paint, width)) + "\n" for row in flags)


def _flag(row: Row, reasons: Mapping[str, str], paint: Paint, width: int) -> Iterator[str]:
    given = "" if row["given"] is None else f" (given: {short_value(row['given'])})"
    yield paint("bold", row["flag"]) + given
    open_ = [v for v in row["values"] if v["ok"] and not v["edits"]]
    if open_:
        text = "  ".join(short_value(v["value"]) for v in open_)
        yield wrap(text, width, "        ", f"  {paint('green', 'yes')}   ")
    for value in row["values"]:
        if value["ok"] and value["edits"]:
            needs = ", ".join(edit_in_words(edit) for edit in value["edits"])
            yield f"  {paint('yellow', 'with')}  {short_value(value['value'])}: {needs}"
    excluded: dict[tuple[str, ...], list[str]] = {}
    for value in row["values"]:
        if value["ok"] is False:
            excluded.setdefault(tuple(value["codes"]), []).append(short_value(value["value"]))
        elif value["ok"] is None:
            yield f"  {paint('yellow', '?')}     {short_value(value['value'])}: not told in time"
    for codes, values in excluded.items():
        yield wrap("  ".join(values), width, "        ", f"  {paint('red', 'no')}    ")
        for code in codes:
            reason = reasons.get(code, "")
            yield paint("dim", wrap(reason, width, "          ", f"        [{code}] "))


def options_table(flags: Sequence[Row], reasons: Mapping[str, str], style: str) -> str:
    """One line a value, as ``csv`` or ``markdown``."""
    from kvsolve.outputs.tables import csv_table, markdown_table

    make = csv_table if style == "csv" else markdown_table
    return make(_COLUMNS, _rows(flags, reasons))


def _rows(flags: Sequence[Row], reasons: Mapping[str, str]) -> Iterator[list[str]]:
    for row in flags:
        for value in row["values"]:
            state = {True: "yes", False: "no", None: "unknown"}[value["ok"]]
            state = "with" if value["ok"] and value["edits"] else state
            needs = "; ".join(edit_in_words(edit) for edit in value["edits"])
            why = " ".join(reasons[c] for c in value["codes"] if c in reasons)
            shown = short_value(value["value"])
            yield [row["flag"], shown, state, needs, " ".join(value["codes"]), why]
