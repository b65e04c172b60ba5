"""Where each character of a YAML scalar is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.strand import Strand

if TYPE_CHECKING:
    from kvsolve.files.yaml_nodes import Node

__all__ = ["scalar_strand"]

_HEADER = re.compile(r"[|>]([1-9]?[+-]?|[+-][1-9]?)[ \t]*(?:#[^\n]*)?\r?\n")
_HEX = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def scalar_strand(node: Node, source: Strand) -> Strand:
    """The value of a scalar with the place of each character.

    Args:
        node: The scalar, with indices into ``source``.
        source: The text that was parsed.

    Returns:
        Its value. Where the places cannot be told for sure they are the scalar's own start, and
        nothing of it may be edited.
    """
    text = source.text
    raw = text[node.start : node.end]
    if node.style in ("'", '"'):
        made = _quoted(raw, node.start, node.style)
    elif node.style in ("|", ">"):
        made = _block(text, node)
    else:
        made = _folded([(c, i, i + 1) for i, c in enumerate(raw, node.start)])
    value = "".join(char for char, _, _ in made)
    if value[: len(node.value)] == node.value and not value[len(node.value) :].strip("\n"):
        kept = made[: len(node.value)]
        at = [source.at[min(start, len(source) - 1)] for _, start, _ in kept]
        last = len(source) - 1
        to = [source.to[min(end - 1, last)] for _, _, end in kept]
        return Strand(node.value, at, to, mapped=source.mapped)
    first = source.at[node.start] if node.start < len(source) else 0
    return Strand(node.value, [first] * len(node.value), mapped=False)


_Placed = list[tuple[str, int, int]]
"""Characters with the indices of their writing; that of an escape is longer than one."""


def _folded(chars: _Placed) -> _Placed:
    """Line ends of a flow scalar: one becomes a space, of several all but one stay."""
    out: _Placed = []
    at = 0
    while at < len(chars):
        char, start, end = chars[at]
        if char not in "\r\n" or end > start + 1:
            out.append(chars[at])
            at += 1
            continue
        while out and out[-1][0] in " \t" and _bare(out[-1]):
            out.pop()
        ends = 0
        while at < len(chars) and chars[at][0] in " \t\r\n" and _bare(chars[at]):
            ends += chars[at][0] == "\n"
            at += 1
        out += [("\n", start, end)] * (ends - 1) if ends > 1 else [(" ", start, end)]
    return out


def _bare(placed: tuple[str, int, int]) -> bool:
    """Whether a character stands for itself."""
    return placed[2] == placed[1] + 1


def _quoted(raw: str, start: int, mark: str) -> _Placed:
    chars: _Placed = []
    at, end = 1, len(raw) - 1
    while at < end:
        char = raw[at]
        if char == "'" == mark:
            chars.append(("'", start + at, start + at + 2))
            at += 2
        elif char == "\\" and mark == '"':
            made, width = _escape(raw, at)
            chars += [(c, start + at, start + at + width) for c in made]
            at += width
        else:
            chars.append((char, start + at, start + at + 1))
            at += 1
    return _folded(chars) if "\n" in raw else chars


def _escape(raw: str, at: int) -> tuple[str, int]:
    letter = raw[at + 1 : at + 2]
    if letter in _HEX:
        width = _HEX[letter]
        try:
            return chr(int(raw[at + 2 : at + 2 + width], 16)), 2 + width
        except ValueError:
            return "", 2
    if letter in ("\n", "\r"):
        gap = re.compile(r"\\\r?\n[ \t]*").match(raw, at)
        return "", gap.end() - at if gap else 2
    return _ESCAPES.get(letter, ""), 2


def _block(text: str, node: Node) -> _Placed:
    header = _HEADER.match(text, node.start)
    if header is None:
        return []
    lines = _lines(text, header.end(), node.end)
    given = re.search(r"\d", header.group(1))
    indent = _indent(text, lines, node, int(given.group()) if given else None)
    rows = [(start + min(indent, end - start), end) for start, end in lines]
    return _literal(text, rows) if node.style == "|" else _fold_rows(text, rows)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    lines = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        lines.append((start, stop - (text[stop - 1 : stop] == "\r" and stop > start)))
        start = stop + 1
    return lines


def _indent(text: str, lines: list[tuple[int, int]], node: Node, given: int | None) -> int:
    if given is not None:
        line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
        parent = len(line) - len(line.lstrip(" "))
        while line[parent : parent + 2] == "- ":
            parent += 2
        return parent + given
    for start, end in lines:
        row = text[start:end]
        if row.strip(" "):
            return len(row) - len(row.lstrip(" "))
    return 0


def _literal(text: str, rows: list[tuple[int, int]]) -> _Placed:
    out: _Placed = []
    for start, end in rows:
        out += _row(text, start, end)
        out.append(("\n", end, end + 1))
    return out


def _row(text: str, start: int, end: int) -> _Placed:
    return [(text[i], i, i + 1) for i in range(start, end)]


def _fold_rows(text: str, rows: list[tuple[int, int]]) -> _Placed:
    """Lines of a folded block: a single line end between two plain lines becomes a space."""
    out: _Placed = []
    for number, (start, end) in enumerate(rows):
        out += _row(text, start, end)
        following = rows[number + 1] if number + 1 < len(rows) else None
        if following is None or start == end:
            out.append(("\n", end, end + 1))
            continue
        deeper = text[start] in " \t" or text[following[0] : following[0] + 1] in (" ", "\t")
        empty = following[0] == following[1]
        if deeper:
            out.append(("\n", end, end + 1))
        elif not empty:
            out.append((" ", end, end + 1))
        else:  # the line end before empty lines goes, unless what follows them is set in deeper
            after = next((r for r in rows[number + 1 :] if r[0] < r[1]), None)
            if after is None or text[after[0]] in " \t":
                out.append(("\n", end, end + 1))
    return out
