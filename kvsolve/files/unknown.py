"""Parts of a command that a file alone does not tell.

While a file is read, such a part is one private character in the text, so that it survives quoting,
splitting and nesting like any other. The characters mean something only within one reading.
"""

from __future__ import annotations

import re

__all__ = ["Unknowns", "has_unknown", "shown"]

_FIRST, _LAST = 0xF0000, 0xFFFFD
_MARKS = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")


class Unknowns:
    """The parts that are not known, of one file."""

    __slots__ = ("_marks", "_parts")

    def __init__(self) -> None:
        self._parts: list[tuple[str, str]] = []
        self._marks: dict[tuple[str, str], str] = {}

    def mark(self, written: str, reason: str) -> str:
        """A character for a part of which only the writing is known.

        Args:
            written: As in the file.
            reason: Why it is not known.
        """
        part = (written, reason)
        if part not in self._marks:
            if len(self._parts) > _LAST - _FIRST:
                return chr(_LAST)
            self._marks[part] = chr(_FIRST + len(self._parts))
            self._parts.append(part)
        return self._marks[part]

    def written(self, text: str) -> str:
        """The text with every such part as it is written."""
        return _MARKS.sub(lambda m: self._part(m.group())[0], text)

    def reasons(self, text: str) -> tuple[str, ...]:
        """Why parts of a text are not known, without repetition."""
        return tuple(dict.fromkeys(self._part(mark)[1] for mark in _MARKS.findall(text)))

    def _part(self, mark: str) -> tuple[str, str]:
        place = ord(mark) - _FIRST
        return self._parts[place] if place < len(self._parts) else ("?", "it is not known")


def has_unknown(text: str) -> bool:
    """Whether a part of the text is not known."""
    return _MARKS.search(text) is not None


def shown(text: str) -> str:
    """The text with a question mark for every part that is not known."""
    return _MARKS.sub("?", text)
