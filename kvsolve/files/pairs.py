"""Edits of options that a Python program gives by name: in a dictionary, or in a call.

An option is the whole pair of its name and its value. It goes with the comma or the lines that are
its own, and a new one is set out as the one before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.writing_words import CannotEditError, python_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.files.found import Token

__all__ = ["beside_pair", "pair_at", "pair_text", "without_pair"]

_REST = re.compile(r"[ \t]*(,?)[ \t]*(?:#[^\n]*?)?\r?")
_COMMA_BEFORE = re.compile(r",\s*\Z")
_COMMA_AFTER = re.compile(r"\s*,[ \t]*")


def pair_at(tokens: Sequence[Token], at: int) -> Token:
    """The option, name and value, that the word at a position belongs to."""
    word = tokens[at]
    for token in reversed(tokens[: at + 1]):
        if token.text.startswith("--") and token.start <= word.start and word.end <= token.reach:
            return token
    raise CannotEditError(f"{word.text} is left alone: its option is written elsewhere")


def without_pair(text: str, pair: Token) -> tuple[int, int]:
    """What goes with an option: the offset of its start, and the one after it."""
    first, last = _lines(text, pair)
    if not text[first : pair.start].strip() and _REST.fullmatch(text, pair.reach, last):
        return first, min(last + 1, len(text))
    before = _COMMA_BEFORE.search(text, max(pair.start - 200, 0), pair.start)
    if before:
        return before.start(), pair.reach
    after = _COMMA_AFTER.match(text, pair.reach)
    return pair.start, after.end() if after else pair.reach


def beside_pair(text: str, pair: Token, words: Sequence[str], newline: str) -> tuple[int, int, str]:
    """A new option behind another one, as what takes the place of a part of the text.

    Args:
        text: The file.
        pair: The option that it stands behind.
        words: The new option and its values.
        newline: The file's line end.
    """
    new = pair_text(pair, words)
    first, last = _lines(text, pair)
    indent = text[first : pair.start]
    rest = _REST.fullmatch(text, pair.reach, last)
    if indent.strip() or rest is None:
        return pair.reach, pair.reach, f", {new}"
    last -= text[last - 1 : last] == "\r"
    if rest[1]:
        return last, last, f"{newline}{indent}{new},"
    return pair.reach, last, f",{text[pair.reach : last]}{newline}{indent}{new}"


def _lines(text: str, pair: Token) -> tuple[int, int]:
    """Where the first line of an option begins, and where its last line ends."""
    last = text.find("\n", pair.reach)
    return text.rfind("\n", 0, pair.start) + 1, len(text) if last < 0 else last


def pair_text(like: Token, words: Sequence[str]) -> str:
    """An option, name and values, as it is written where another one stands.

    Args:
        like: The other one.
        words: The option and its values.
    """
    name = words[0].removeprefix("--")
    if "-" not in like.layout.keys:
        name = name.replace("-", "_")
    values = [python_literal(word) for word in words[1:]]
    value = "True" if not values else values[0] if len(values) == 1 else f"[{', '.join(values)}]"
    if "=" in like.layout.keys:
        return f"{name}={value}"
    return f"{like.quote}{name}{like.quote}: {value}"
