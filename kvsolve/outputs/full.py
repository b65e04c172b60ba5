"""The full matrix as text, Markdown and CSV; all take the JSON of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.listing import fit
from kvsolve.outputs.matrix_notes import needs_of
from kvsolve.outputs.tables import csv_table, markdown_table, text_table
from kvsolve.outputs.words import short_value, spoken_value, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["full_csv", "full_markdown", "full_text", "listed_values", "sections", "summary"]

_CSV = ("row", "row_value", "col", "col_value", "state", "codes", "edits")
_MOST_VALUES = 8


def summary(full: Mapping[str, Any]) -> list[str]:
    """What the page is about and how much there is of everything, a sentence a line."""
    counts, about = full["counts"], full["context"]
    values = sum(len(flag["values"]) for flag in full["flags"])
    pairs = sum(counts.values())
    told = [
        f"SGLang {about['release']}, {about['gpus']} x {about['gpu']}, model {about['model']}, "
        f"judged up to {about['stage']}.",
        f"{len(full['flags'])} flags with {values} values make {pairs} pairs: "
        f"{counts['supported']} go together, {counts['unsupported']} do not, {counts['dead']} "
        "have a value that never works here"
        + (f", {counts['unknown']} are not decided." if counts["unknown"] else "."),
        "Numbers stand for ranges: a value is one that entries compare with, one beside it or a "
        "customary one.",
    ]
    if not full["complete"]:
        told.append("The time was up before every pair was decided.")
    return told


def sections(full: Mapping[str, Any]) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Heading -> columns and rows: values by what there is to say of them, pairs that clash."""
    flags = {flag["dest"]: flag["flag"] for flag in full["flags"]}
    by_state: dict[str, list[Mapping[str, Any]]] = {}
    for value in full["values"]:
        by_state.setdefault(value["state"], []).append(value)
    heads = {
        "no": ("Values that no launch has", "because of"),
        "reported": ("Values that are accepted and reported to fail", "reports"),
        "unknown": ("Values that are not decided", "not known"),
        "with": ("Values that need something else", "with"),
    }
    found = {
        heading: (
            ["flag", "value", column],
            [
                [flags[dest], values, why]
                for (dest, why), values in _alike(by_state.get(state, ())).items()
            ],
        )
        for state, (heading, column) in heads.items()
    }
    found |= {
        heading: _pairs(full, flags, state)
        for state, heading in (
            ("no", "Pairs that do not go together"),
            ("unknown", "Pairs that are not decided"),
        )
    }
    return {heading: table for heading, table in found.items() if table[1]}


def _pairs(
    full: Mapping[str, Any], flags: Mapping[str, str], state: str
) -> tuple[list[str], list[list[str]]]:
    return (
        ["flag", "values", "with flag", "values", "because of"],
        [
            [
                flags[pair["row"]["dest"]],
                listed_values(pair["row"]["values"]),
                flags[pair["col"]["dest"]],
                listed_values(pair["col"]["values"]),
                " ".join(pair["codes"]),
            ]
            for pair in full["pairs"]
            if pair["state"] == state
        ],
    )


def _alike(values: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Values of a flag that have the same to say of them, as one row."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for value in values:
        why = needs_of(value["edits"]) or " ".join(value["codes"]) or ", ".join(value["facts"])
        groups.setdefault((value["dest"], why), []).append(value["value"])
    return {key: listed_values(found) for key, found in groups.items()}


def listed_values(values: Sequence[Any]) -> str:
    """Values with commas between, a long list cut."""
    shown = [short_value(value) for value in values[:_MOST_VALUES]]
    more = len(values) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def full_text(full: Mapping[str, Any], width: int = 100) -> str:
    """The full matrix for a terminal: what does not work, and why."""
    blocks = [wrap(" ".join(summary(full)), width)]
    for heading, (columns, rows) in sections(full).items():
        cells = [list(row) for row in rows]
        fit(columns, cells, width)
        blocks.append(f"{heading} ({len(rows)})\n\n{text_table(columns, cells).rstrip()}")
    if full["reasons"]:
        reasons = (wrap(text, width, "    ", f"{code}: ") for code, text in full["reasons"].items())
        blocks.append("\n".join(reasons))
    return "\n\n".join(blocks) + "\n"


def full_markdown(full: Mapping[str, Any]) -> str:
    """The same as Markdown."""
    blocks = ["# Every pair of values", "\n".join(summary(full))]
    for heading, (columns, rows) in sections(full).items():
        blocks.append(f"## {heading} ({len(rows)})\n\n{markdown_table(columns, rows).rstrip()}")
    if full["reasons"]:
        listed = "\n".join(f"- **{code}**: {text}" for code, text in full["reasons"].items())
        blocks.append(f"## Reasons\n\n{listed}")
    return "\n\n".join(blocks) + "\n"


def full_csv(full: Mapping[str, Any], *, every: bool = False) -> str:
    """A line for each value and for each pair that does not go together.

    Args:
        full: Its JSON.
        every: Also a line for each pair that does.
    """
    return csv_table(_CSV, _csv_rows(full, every))


def _csv_rows(full: Mapping[str, Any], every: bool) -> Iterator[list[str]]:
    dead = set()
    for value in full["values"]:
        spoken = spoken_value(value["value"])
        if value["state"] in ("no", "unknown"):
            dead.add((value["dest"], spoken))
        codes, edits = " ".join(value["codes"]), needs_of(value["edits"])
        yield [value["dest"], spoken, "", "", value["state"], codes, edits]
    clashing = set()
    for pair in full["pairs"]:
        row, col, codes = pair["row"], pair["col"], " ".join(pair["codes"])
        for a in map(spoken_value, row["values"]):
            for b in map(spoken_value, col["values"]):
                clashing.add((row["dest"], a, col["dest"], b))
                yield [row["dest"], a, col["dest"], b, pair["state"], codes, ""]
    if every:
        yield from _supported(full, dead, clashing)


def _supported(
    full: Mapping[str, Any], dead: set[tuple[str, str]], clashing: set[tuple[str, str, str, str]]
) -> Iterator[list[str]]:
    flags = [
        (
            flag["dest"],
            [v for v in map(spoken_value, flag["values"]) if (flag["dest"], v) not in dead],
        )
        for flag in full["flags"]
    ]
    for at, (row, rows) in enumerate(flags):
        for col, cols in flags[at + 1 :]:
            for a in rows:
                for b in cols:
                    if (row, a, col, b) not in clashing:
                        yield [row, a, col, b, "supported", "", ""]
