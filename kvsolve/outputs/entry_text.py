"""One entry in full, for a person and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.paint import PLAIN, Paint
from kvsolve.outputs.words import wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["entry_markdown", "entry_text"]

_KINDS = {
    "refuse": "refusal",
    "set": "silent rewrite",
    "crash": "unmeant break",
    "report": "public report",
}


def entry_text(
    entry: Mapping[str, Any], paint: Paint = PLAIN, width: int = 100, conditions: bool = False
) -> str:
    """All about an entry.

    Args:
        entry: The JSON of an explanation.
        paint: Styles.
        width: Columns.
        conditions: Show the guards as the pack reads them.
    """
    lines = [
        f"{paint('bold', entry['code'])} {entry['slug']}  {paint('dim', _kind(entry))}",
        wrap(entry["message"], width, "  "),
    ]
    if entry["remedy"]:
        hint = wrap(entry["remedy"], width, "        ", "  hint: ")
        lines.append(hint.replace("hint:", paint("cyan", "hint:"), 1))
    lines += [wrap(text, width, " " * 12, f"  {name:<9} ") for name, text in _facts(entry)]
    if conditions:
        for condition in entry["conditions"]:
            lines.append(wrap(condition, width, " " * 12, "  when      "))
    return "\n".join(lines) + "\n"


def _kind(entry: Mapping[str, Any]) -> str:
    raised = f", {entry['raises']}" if entry["raises"] else ""
    return f"({_KINDS.get(entry['kind'], entry['kind'])}, stage {entry['stage']}{raised})"


def _facts(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    ground = entry["ground"]
    if entry["flags"]:
        yield "reads", ", ".join(entry["flags"])
    line = f":{ground['line']}" if ground["line"] else ""
    yield (
        "where",
        f"sglang/srt/{ground['file']}{line} {ground['symbol']} (SGLang {entry['sglang']})",
    )
    yield "releases", ground["sglang"]
    ran = ground["checked"] == "validator"
    yield "checked", "with the real validator" if ran else "by reading the source only"
    if entry["unmet"]:
        yield "not met", entry["unmet"]


def entry_markdown(entry: Mapping[str, Any], conditions: bool = False) -> str:
    """The same as Markdown."""
    lines = [f"### {entry['code']} {entry['slug']}", "", f"{entry['message']} {_kind(entry)}", ""]
    if entry["remedy"]:
        lines += [f"Hint: {entry['remedy']}", ""]
    lines += [f"- {name}: {text}" for name, text in _facts(entry)]
    if conditions:
        lines += [f"- when: `{condition}`" for condition in entry["conditions"]]
    return "\n".join(lines) + "\n"
