"""What a reader finds in a file: launch commands, each word with its place."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.errors import KvsolveError
from kvsolve.model.finding import Location
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "COMPOSED",
    "Document",
    "FileError",
    "FoundCommand",
    "Layout",
    "SkippedError",
    "Token",
    "Unresolved",
]


class FileError(KvsolveError):
    """A file, or one command in it, cannot be read.

    Args:
        reason: What is wrong.
        file: The file.
        line: Its line, where known.
    """

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        place = f"{file}, line {line}: " if line else f"{file}: " if file else ""
        super().__init__(place + reason)
        self.file, self.line, self.reason = file, line, reason


class SkippedError(FileError):
    """Something that was left out without loss; worth a line, no failure."""


class Document:
    """A file's name and its text.

    Attributes:
        path: As the user gave it, or as the walk found it.
        text: Its characters, line ends as they are.
    """

    __slots__ = ("_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self._starts: list[int] | None = None

    def location(self, offset: int) -> Location:
        """Line and column of an offset, both from 1."""
        if self._starts is None:
            self._starts = [0]
            at = self.text.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        line = bisect_right(self._starts, offset)
        return Location(self.path, line, offset - self._starts[line - 1] + 1)


COMPOSED = "it is put together from variables"
"""Why a word must not be edited that may still go as a whole."""


class Layout(NamedTuple):
    """How the words of a command are set out where a word is written.

    Attributes:
        kind: ``shell`` (words of shell text), ``block`` (items of a YAML block sequence),
            ``flow`` (items in brackets: YAML flow, JSON, Python), ``map`` (a mapping of options),
            ``pairs`` (names and values of a Python program).
        group: Offset of what holds the words; words of one group stand side by side.
        column: Of the dash of a block item or of the key of a mapping, from 0.
        nested: Shell text that stands in another quotation, so that quotes cannot be added.
        python: The items are Python's.
        keys: For a mapping: ``-`` or ``_``, what the words of its keys are joined with; for pairs
            with ``:`` or ``=`` behind it, what stands between name and value.
        alone: The word is the whole value of something, so that no other can stand beside it.
    """

    kind: str
    group: int
    column: int = 0
    nested: bool = False
    python: bool = False
    keys: str = "-"
    alone: bool = False


class Token(NamedTuple):
    """One word of a command.

    Attributes:
        text: What the program gets; a part that is not known as it is written.
        start: Offset in the file of its writing, quotes included.
        end: Offset after it.
        layout: How the words around it are set out.
        quote: The quotation mark around it, ``""`` for none, ``"?"`` for a mixture.
        unknown: Why it is not fully known, "" where it is.
        locked: Why it must not be edited, "" where it may be.
        splits: It may stand for several words or for none.
        reach: For a name of pairs, the offset after its value; 0 elsewhere.
    """

    text: str
    start: int
    end: int
    layout: Layout
    quote: str = ""
    unknown: str = ""
    locked: str = ""
    splits: bool = False
    reach: int = 0


class Unresolved(NamedTuple):
    """A part of a command or of its surroundings that the file does not tell.

    Attributes:
        text: As it is written.
        reason: Why it is not known.
        start: Offset in the file.
    """

    text: str
    reason: str
    start: int


@dataclass(frozen=True, slots=True)
class FoundCommand:
    """One launch of a server in a file.

    Attributes:
        tokens: Its words, program and wrappers included.
        form: ``shell``, ``argv``, ``container``, ``compose``, ``options`` (a mapping of options),
            ``dockerfile`` or ``python``.
        location: Where it starts.
        env: Environment that the file gives it.
        unknown_env: Variables that it sets to something that is not known, with the reason.
        image: The container image, None where the file names none.
        gpu: GPU profile that the file asks for, None where it names none that is known.
        gpus: GPUs that the file gives the server, None where it does not say.
        name: A name that the file gives it, such as a container's.
        notes: Further parts that are not known.
    """

    tokens: tuple[Token, ...]
    form: str
    location: Location
    env: Mapping[str, str] = field(default_factory=dict)
    unknown_env: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    gpu: str | None = None
    gpus: int | None = None
    name: str = ""
    notes: tuple[Unresolved, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The command as tokens."""
        return tuple(token.text for token in self.tokens)

    @property
    def unresolved(self) -> tuple[Unresolved, ...]:
        """Everything about it that is not known."""
        words = (Unresolved(t.text, t.unknown, t.start) for t in self.tokens if t.unknown)
        return (*words, *self.notes)
