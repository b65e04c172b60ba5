"""Marks around words while a file is put together, so that it is known where each word stands."""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

__all__ = ["Marked", "as_json", "as_shell", "as_yaml", "mark", "unmarked"]

_OPEN, _CLOSE, _COMMAND, _WORD = 0xE000, 0xE001, 0xE100, 0xE200


class Marked(NamedTuple):
    """A text without marks, and where each word of each command stands: line and column from 1."""

    text: str
    places: dict[tuple[int, int], tuple[int, int]]


def mark(written: str, command: int, word: int) -> str:
    """A word as it is written, between marks."""
    return f"{chr(_OPEN)}{chr(_COMMAND + command)}{chr(_WORD + word)}{written}{chr(_CLOSE)}"


def unmarked(text: str) -> Marked:
    """Take the marks out and note where they were."""
    places: dict[tuple[int, int], tuple[int, int]] = {}
    kept: list[str] = []
    line = column = 1
    characters = iter(text)
    for character in characters:
        if ord(character) == _OPEN:
            command = ord(next(characters)) - _COMMAND
            places[command, ord(next(characters)) - _WORD] = (line, column)
        elif ord(character) != _CLOSE:
            kept.append(character)
            line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return Marked("".join(kept), places)


def as_shell(word: str) -> str:
    """A word for a shell."""
    return shlex.quote(word)


def as_json(word: str) -> str:
    """A word as JSON."""
    return json.dumps(word, ensure_ascii=False)


def as_yaml(word: str) -> str:
    """A word as an item of a YAML sequence: quoted where YAML would take it for something else."""
    plain = word.replace("-", "a").replace("/", "a").replace(".", "a").replace("_", "a")
    if plain.isalnum() and not word[0].isdigit() and word not in ("true", "null"):
        return word
    return json.dumps(word, ensure_ascii=False)
