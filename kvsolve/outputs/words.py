"""How values, flags and commands are written for a person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "command_lines",
    "count_of",
    "edit_in_words",
    "quote",
    "short_value",
    "spoken_value",
    "wrap",
]

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./*-]+\Z")
_LONGEST = 40


def quote(token: str) -> str:
    """A token as a POSIX shell wants it."""
    # `*` is safe only in HIDDEN and would be expanded elsewhere.
    if _SAFE.match(token) and ("*" not in token or token == "***"):
        return token
    return "'" + token.replace("'", "'\"'\"'") + "'"


def spoken_value(value: Any) -> str:
    """A flag's value: ``unset``, ``true``, ``64``, ``fa3`` or JSON."""
    if value is None:
        return "unset"
    if isinstance(value, str):
        return value or '""'
    import json

    return json.dumps(value, ensure_ascii=False)


def short_value(value: Any) -> str:
    """The same, cut to a width that fits a table or a line."""
    text = spoken_value(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def count_of(number: int, noun: str) -> str:
    """``1 refusal``, ``3 refusals``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def command_lines(argv: Sequence[str]) -> Iterator[str]:
    """A command one flag a line, without line continuations; the program's words come first."""
    line: list[str] = []
    for token in argv:
        if token.startswith("-") and not _is_number(token) and line and not _takes_more(line):
            yield " ".join(line)
            line = []
        line.append(quote(token))
    if line:
        yield " ".join(line)


def _takes_more(line: list[str]) -> bool:
    # `python -m sglang.launch_server` stays together.
    return line[-1] == "-m" or (len(line) == 1 and line[0].startswith("python"))


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def edit_in_words(edit: Mapping[str, Any]) -> str:
    """The JSON of an edit in a few words: ``--page-size 64``, ``drop --enable-x``."""
    if edit["op"] == "remove":
        return f"drop {edit['flag']}"
    value = "" if isinstance(edit["value"], bool) else f" {short_value(edit['value'])}"
    return f"{edit['flag']}{value}"


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> str:
    """A text broken at blanks, every line behind ``indent``, the first behind ``first``."""
    lines: list[str] = []
    line = indent if first is None else first
    empty = True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > width:
            lines.append(line)
            line, empty = indent, True
        line = f"{line}{'' if empty else ' '}{word}"
        empty = False
    lines.append(line)
    return "\n".join(lines)
