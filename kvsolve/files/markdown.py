"""Fenced blocks of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.strand import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.files.strand import Strand

__all__ = ["Fence", "fences"]

_OPENING = re.compile(r"([ \t>]*)(`{3,}|~{3,})[ \t]*([\w+.#-]*)[^\n`]*\n?")


class Fence(NamedTuple):
    """A fenced block: its language in lower case and its text without the indentation."""

    language: str
    strand: Strand


def fences(strand: Strand) -> Iterator[Fence]:
    """The fenced blocks of a text in order; one that is never closed goes to the end."""
    text, at = strand.text, 0
    while at < len(text):
        opening = _OPENING.match(text, at)
        if not opening:
            at = _next_line(text, at)
            continue
        rows, at = _rows(strand, opening)
        yield Fence(opening[3].lower(), joined(rows) if rows else strand.part(at, at))


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _rows(strand: Strand, opening: re.Match[str]) -> tuple[list[Strand], int]:
    text, at = strand.text, opening.end()
    prefix, mark = opening[1], opening[2]
    rows: list[Strand] = []
    while at < len(text):
        end = _next_line(text, at)
        line = text[at:end]
        bare = line.strip(" \t>\r\n")
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return rows, end
        cut = len(prefix) if line.startswith(prefix) else len(line) - len(line.lstrip(" \t"))
        rows.append(strand.part(at + min(cut, len(line)), end))
        at = end
    return rows, at
