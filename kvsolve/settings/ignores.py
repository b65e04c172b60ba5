"""Suppressions written where the command stands: comments, and annotations of Kubernetes objects.

They are found in the text of the file by themselves, whatever reads its commands::

    # kvsolve: ignore[KV1042] the cluster patches this in
    kvsolve.dev/ignore: "KV1042 the cluster patches this in"
    kvsolve.dev/ignore.KV1042: the cluster patches this in
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Ignore", "ignores_in"]

ANNOTATION = "kvsolve.dev/ignore"
_COMMENT = re.compile(
    r"(?:#|//|<!--|--\s)\s*kvsolve:\s*ignore\b(?:\[([^\]]*)\])?[ \t:,-]*(.*?)\s*(?:-->)?\s*$"
)
_ONLY_COMMENT = re.compile(r"\s*(?:#|//|<!--)")
_ANNOTATED = re.compile(r"""(\s*)["']?kvsolve\.dev/ignore(?:\.([\w.-]+))?["']?\s*:\s*(.*?)\s*$""")
_CODES = re.compile(r"((?:[A-Za-z][\w-]*)(?:\s*,\s*[A-Za-z][\w-]*)*)[\s:]*(.*)$")
_SCALAR = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^"'#\s].*?))\s*(?:\s#.*)?$""")
_DOCUMENT = re.compile(r"---(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Ignore:
    """One suppression in a file.

    Attributes:
        by: ``comment`` or ``annotation``.
        codes: Codes or slugs; none where it names none, which is a mistake.
        reason: Why; "" where it gives none, which is a mistake.
        line: Where it stands, from 1.
        column: The same.
        first: First line that it holds for.
        last: Last line that it holds for.
    """

    by: str
    codes: tuple[str, ...]
    reason: str
    line: int
    column: int
    first: int
    last: int

    @property
    def mistake(self) -> str:
        """What is wrong with it; "" where nothing is."""
        if not self.codes:
            return "a suppression names its codes: kvsolve: ignore[KV1042] reason"
        if not self.reason:
            return f"the suppression of {', '.join(self.codes)} gives no reason"
        return ""


def ignores_in(text: str) -> tuple[Ignore, ...]:
    """The suppressions in the text of a file, in order."""
    if "kvsolve" not in text:
        return ()
    lines = text.split("\n")
    return (*_comments(lines), *_annotations(lines))


def _comments(lines: Sequence[str]) -> Iterator[Ignore]:
    for number, line in enumerate(lines, 1):
        found = _COMMENT.search(line) if "kvsolve:" in line else None
        if found:
            codes = tuple(code.strip() for code in (found[1] or "").split(",") if code.strip())
            alone = not line[: found.start()].strip()
            last = _next_line(lines, number) if alone else number
            yield Ignore("comment", codes, found[2], number, found.start() + 1, number, last)


def _next_line(lines: Sequence[str], number: int) -> int:
    """The first line after a comment that is more than a comment."""
    for at in range(number, len(lines)):
        if lines[at].strip() and not _ONLY_COMMENT.match(lines[at]):
            return at + 1
    return number


def _annotations(lines: Sequence[str]) -> Iterator[Ignore]:
    for number, line in enumerate(lines, 1):
        found = _ANNOTATED.match(line) if ANNOTATION in line else None
        if not found:
            continue
        first, last = _document(lines, number)
        column = len(found[1]) + 1
        values = list(_values(lines, number, len(found[1]), found[3]))
        for value in values if found[2] is None else [f"{found[2]} {' '.join(values)}"]:
            told = _CODES.match(value.strip())
            codes = tuple(re.split(r"\s*,\s*", told[1])) if told else ()
            reason = told[2] if told else ""
            yield Ignore("annotation", codes, reason, number, column, first, last)


def _values(lines: Sequence[str], number: int, indent: int, value: str) -> Iterator[str]:
    """The lines of an annotation's value: a plain or quoted one, or those of a block."""
    if value[:1] not in ("|", ">"):
        scalar = _SCALAR.match(value)
        yield next(part for part in scalar.groups("") if part) if scalar else value
        return
    for line in lines[number:]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return
        if line.strip():
            yield line


def _document(lines: Sequence[str], number: int) -> tuple[int, int]:
    """First and last line of the YAML document that a line stands in."""
    first = next((at + 2 for at in range(number - 1, -1, -1) if _DOCUMENT.match(lines[at])), 1)
    last = (at for at in range(number, len(lines)) if _DOCUMENT.match(lines[at]))
    return first, next(last, len(lines))
