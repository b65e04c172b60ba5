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
    """A text and where in the file each of its characters is written.

    Attributes:
        text: The characters as they are meant, escapes and indentation gone.
        at: For each of them, the offset of where its writing starts.
        to: For each of them, the offset after its writing.
        mapped: False where the places are only roughly known, so that nothing may be edited.
    """

    __slots__ = ("at", "mapped", "text", "to")

    def __init__(
        self, text: str, at: Sequence[int], to: Sequence[int] | None = None, *, mapped: bool = True
    ) -> None:
        self.text, self.at, self.mapped = text, at, mapped
        if to is None:
            if isinstance(at, range):
                to = range(at.start + 1, at.stop + 1)
            else:
                to = [place + 1 for place in at]
        self.to = to

    def __repr__(self) -> str:
        return f"Strand({shown(self.text)!r})"

    def __len__(self) -> int:
        return len(self.text)

    def part(self, start: int, end: int) -> Strand:
        """The characters from ``start`` to before ``end``."""
        cut = slice(start, end)
        return Strand(self.text[cut], self.at[cut], self.to[cut], mapped=self.mapped)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """File offsets of the writing of these characters, the second one after the last."""
        at, to = self.at, self.to
        end = min(end, len(at))
        if start >= len(at):
            last = to[-1] if len(to) else 0
            return last, last
        return (at[start], to[end - 1]) if end > start else (at[start], at[start])


def whole(text: str) -> Strand:
    """A file's text as a strand."""
    return Strand(text, range(len(text)))


def joined(parts: Iterable[Strand]) -> Strand:
    """Strands one after the other."""
    parts = [part for part in parts if part.text]
    if len(parts) == 1:
        return parts[0]
    at = [place for part in parts for place in part.at]
    to = [place for part in parts for place in part.to]
    mapped = all(part.mapped for part in parts)
    return Strand("".join(part.text for part in parts), at, to, mapped=mapped)
