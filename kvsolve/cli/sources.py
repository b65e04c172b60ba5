"""Where the commands to judge stand: behind ``--``, in files and folders, on stdin."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.files.found import Document, FileError, FoundCommand
    from kvsolve.model.finding import Location

__all__ = ["Source", "SourceError", "environment", "read_sources", "sources_in"]


class SourceError(KvsolveError):
    """A file holds no command that can be read; the text names file and line.

    Args:
        reason: What is wrong.
        file: The file, "" where there is none.
        line: Its line, where known.
    """

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        place = f"{file}, line {line}: " if line else f"{file}: " if file else ""
        super().__init__(place + reason)
        self.file, self.line = file, line


@dataclass(frozen=True, slots=True)
class Source:
    """One launch command.

    Attributes:
        tokens: Its words, the program in front included.
        env: Environment that the file gives it.
        location: Where it stands in a file, None for a command line.
        found: The command with the place of each word, None for a command line.
        document: The file, None for a command line.
    """

    tokens: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    location: Location | None = None
    found: FoundCommand | None = None
    document: Document | None = None


def environment(pairs: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` words as a mapping.

    Raises:
        KvsolveError: One has no ``=`` or no name.
    """
    env = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise KvsolveError(f"--env takes NAME=VALUE, not {pair!r}")
        env[name] = value
    return env


def read_sources(
    command: Sequence[str] | None,
    files: Sequence[str],
    env: Mapping[str, str],
    *,
    sure: bool = True,
) -> Iterator[Source | SourceError]:
    """Every command to judge, or what is wrong with a file, in order.

    Args:
        command: Tokens behind ``--``.
        files: Files and folders; ``-`` is stdin.
        env: Values of ``--env``, for the variables of scripts.
        sure: A file that is named holds a command; otherwise one without is passed over.

    Raises:
        SourceError: There is nothing to judge at all.
    """
    if command:
        yield Source(tuple(command))
    elif not files:
        raise SourceError("nothing to judge: give a file, `-` for stdin, or a command behind `--`")
    if not files:
        return
    from kvsolve.files.found import FileError, SkippedError
    from kvsolve.files.walk import documents, piped_document

    for file in files:
        if file == "-":
            piped = piped_document(sys.stdin.buffer)
            if isinstance(piped, FileError):
                yield _problem(piped)
            else:
                yield from sources_in(piped, env, sure=sure)
            continue
        for met in documents([file]):
            if isinstance(met, SkippedError):
                print(f"kvsolve: skipped: {met}", file=sys.stderr)
            elif isinstance(met, FileError):
                yield _problem(met)
            else:
                yield from sources_in(met.document, env, sure=met.sure and sure)


def sources_in(
    document: Document, env: Mapping[str, str], *, sure: bool = True
) -> Iterator[Source | SourceError]:
    """The launch commands of a file, or what is wrong with it.

    Args:
        document: The file.
        env: Values for variables that the file does not set.
        sure: The user named it, so that no command in it is worth a line.
    """
    from kvsolve.files.found import FileError
    from kvsolve.files.read import read_document

    found = read_document(document, env, sure=sure)
    for item in found:
        if isinstance(item, FileError):
            yield _problem(item)
        else:
            yield Source(item.words, item.env, item.location, item, document)
    if not found and sure:
        yield SourceError("no SGLang launch command in it", document.path)


def _problem(error: FileError) -> SourceError:
    return SourceError(error.reason, error.file, error.line)
