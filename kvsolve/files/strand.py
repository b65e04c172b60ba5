"""Text that remembers where in the file each of its characters is written.

A shell script inside a YAML block scalar inside a Helm chart is read by readers that know nothing
of each other. Each takes a strand and gives strands, so whatever is found in the innermost one has
a place in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.files.unknown import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Strand", "joined", "whole"]


class Strand:
    """A text and the file offset of each of its characters.

    Attributes:
        text: The characters as they are meant, escapes and indentation gone.
        at: For each of them, the offset of where its writing starts.
        mapped: False where the places are only roughly known, so that nothing may be edited.
    """

    __slots__ = ("at", "mapped", "text")

    def __init__(self, text: str, at: Sequence[int], mapped: bool = True) -> None:
        self.text, self.at, self.mapped = text, at, mapped

    def __repr__(self) -> str:
        return f"Strand({shown(self.text)!r})"

    def __len__(self) -> int:
        return len(self.text)

    def part(self, start: int, end: int) -> Strand:
        """The characters from ``start`` to before ``end``."""
        return Strand(self.text[start:end], self.at[start:end], self.mapped)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """File offsets of the writing of these characters, the second one after the last."""
        at = self.at
        end = min(end, len(at))
        if start >= len(at):
            last = at[-1] + 1 if len(at) else 0
            return last, last
        if end <= start:
            return at[start], at[start]
        last = at[end - 1] + 1
        # The last character may be written with an escape; what follows it tells where that ends.
        following = at[end] if end < len(at) else last
        return at[start], following if last < following <= last + 9 and self._close(end) else last

    def _close(self, end: int) -> bool:
        """Whether the characters around ``end`` stand in one line, so that nothing is between."""
        return self.text[end - 1] in "\\'\"$`/" or ord(self.text[end - 1]) > 126


def whole(text: str) -> Strand:
    """A file's text as a strand."""
    return Strand(text, range(len(text)))


def joined(parts: Iterable[Strand]) -> Strand:
    """Strands one after the other."""
    parts = [part for part in parts if part.text]
    if len(parts) == 1:
        return parts[0]
    at = [place for part in parts for place in part.at]
    return Strand("".join(part.text for part in parts), at, all(part.mapped for part in parts))
