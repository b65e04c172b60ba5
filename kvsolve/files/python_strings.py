"""Where each character of a Python string literal is written."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from kvsolve.files.strand import Strand, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.files.unknown import Unknowns

__all__ = ["literal_strand"]

_LITERAL = re.compile(r"([rRuUbBfF]{0,2})('''|\"\"\"|'|\")")
_GAP = re.compile(r"(?:\s|\\\n|#[^\n]*)+")
_ESCAPE = re.compile(
    r"\\(?:\r?\n|N\{[^}]*\}|U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)",
    re.DOTALL,
)


def literal_strand(source: Strand, start: int, end: int, unknowns: Unknowns) -> Strand | None:
    """A string literal, perhaps of several parts, with the place of each character.

    Args:
        source: The program.
        start: Index of the literal.
        end: Index after it.
        unknowns: Keeps the fields of f-strings.

    Returns:
        None where there is something else at that place.
    """
    parts: list[Strand] = []
    at = start
    while at < end:
        gap = _GAP.match(source.text, at, end)
        at = gap.end() if gap else at
        if at >= end:
            break
        literal = _LITERAL.match(source.text, at, end)
        if not literal:
            return None
        prefix, mark = literal[1].lower(), literal[2]
        close = _closing(source.text, literal.end(), mark, "r" in prefix)
        parts += _pieces(source, literal.end(), close, prefix, unknowns)
        at = close + len(mark)
    return joined(parts) if parts else Strand("", ())


def _closing(text: str, at: int, mark: str, raw: bool) -> int:
    del raw  # a backslash keeps a quote from closing in raw strings too
    while at < len(text) and not text.startswith(mark, at):
        at += 2 if text[at] == "\\" else 1
    return at


def _pieces(
    source: Strand, start: int, end: int, prefix: str, unknowns: Unknowns
) -> Iterator[Strand]:
    text, at = source.text, start
    while at < end:
        char = text[at]
        if char == "\\" and "r" not in prefix:
            escape = _ESCAPE.match(text, at, end)
            if escape:
                made = _unescaped(escape.group())
                first, last = source.span(at, escape.end())
                size = len(made)
                yield Strand(made, [first] * size, [last] * size, mapped=source.mapped)
                at = escape.end()
                continue
        if char in "{}" and "f" in prefix:
            width, piece = _braces(source, at, end, unknowns)
            yield piece
            at += width
            continue
        run = at + 1
        while run < end and text[run] not in "\\{}":
            run += 1
        yield source.part(at, run)
        at = run


def _unescaped(text: str) -> str:
    if text[1:] in ("\n", "\r\n"):
        return ""
    try:
        return str(ast.literal_eval(f"'{text}'"))
    except (SyntaxError, ValueError):
        return text


def _braces(source: Strand, at: int, end: int, unknowns: Unknowns) -> tuple[int, Strand]:
    """A field of an f-string as a mark, or a doubled brace."""
    text = source.text
    if text[at : at + 2] in ("{{", "}}"):
        first, last = source.span(at, at + 2)
        return 2, Strand(text[at], [first], [last])
    depth, to = 0, at
    while to < end:
        depth += {"{": 1, "}": -1}.get(text[to], 0)
        to += 1
        if not depth:
            break
    mark = unknowns.mark(text[at:to], "the program computes it")
    first, last = source.span(at, to)
    return max(to - at, 1), Strand(mark, [first], [last])
