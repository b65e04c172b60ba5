"""A repair as edits of the file that the command stands in, tried before it is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.answers.operations import operations
from kvsolve.files.editing import CannotEditError, carried_out, text_edits
from kvsolve.files.found import Document, FileError
from kvsolve.files.read import read_document
from kvsolve.files.storing import applied
from kvsolve.inputs.argv import parse_argv
from kvsolve.inputs.command import split_command
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.files.editing import Operation, TextEdit
    from kvsolve.files.found import FoundCommand
    from kvsolve.model.edit import Repair
    from kvsolve.session import Question

__all__ = ["CannotEditError", "FilePatch", "patch_of"]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """Edits of a file that carry out a repair.

    Attributes:
        edits: From first to last.
        text: The file after them.
    """

    edits: tuple[TextEdit, ...]
    text: str


def patch_of(
    question: Question,
    repair: Repair,
    found: FoundCommand,
    document: Document,
    *,
    told: Mapping[str, str] | None = None,
    sure: bool = True,
) -> FilePatch:
    """The edits of the file that make its command the repaired one.

    The edited file is read again before it is offered: its other commands have to be as they were,
    and this one has to mean just what the repair says.

    Args:
        question: The command.
        repair: What to do to it.
        found: The same command with the place of each word.
        document: The file.
        told: Values for variables, as the file was read with.
        sure: As the file was read with.

    Raises:
        CannotEditError: The file cannot be edited without risk.
    """
    planned = tuple(operations(question, repair, found))
    edits = text_edits(document, found, planned)
    text = applied(document.text, edits)
    before = read_document(document, told or {}, sure=sure)
    after = read_document(Document(document.path, text), told or {}, sure=sure)
    _same_elsewhere(before, after, found)
    place = [item for item in before if not isinstance(item, FileError)].index(found)
    made = [item for item in after if not isinstance(item, FileError)][place]
    _means(question, planned, made, found)
    return FilePatch(edits, text)


def _same_elsewhere(
    before: Sequence[FoundCommand | FileError],
    after: Sequence[FoundCommand | FileError],
    found: FoundCommand,
) -> None:
    """Make sure that the edited file holds the same commands, but for this one."""
    words = [None if isinstance(i, FileError) or i == found else i.words for i in before]
    again = [None if isinstance(i, FileError) else i.words for i in after]
    if len(words) != len(again):
        raise CannotEditError("the edited file would not hold the same commands")
    for old, new in zip(words, again, strict=True):
        if old is not None and old != new:
            raise CannotEditError("another command of the file would change as well")


def _means(
    question: Question,
    planned: Sequence[Operation],
    made: FoundCommand,
    found: FoundCommand,
) -> None:
    """Make sure that the edited command has the options that the operations give it."""
    wanted = _reading(question, carried_out(found.words, planned))
    got = _reading(question, made.words)
    if got != wanted:
        raise CannotEditError("the edited file would not read as the repaired command")


def _reading(question: Question, words: Sequence[str]) -> tuple[object, object]:
    launch = split_command(words)
    parsed = parse_argv(launch.argv, question.pack.flags)
    return parsed.values, {(p.kind, p.spelling, p.values) for p in parsed.problems}
