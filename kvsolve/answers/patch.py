"""A repair as edits of the file that the command stands in, tried before it is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.answers.translation import span_of, translations
from kvsolve.files.editing import (
    CannotEditError,
    Delete,
    Insert,
    Operation,
    Replace,
    carried_out,
    text_edits,
)
from kvsolve.files.found import Document, FileError
from kvsolve.files.read import read_document
from kvsolve.files.storing import applied
from kvsolve.inputs.argv import parse_argv
from kvsolve.inputs.command import split_command
from kvsolve.model.noun import dataclass
from kvsolve.outputs.effective import tokens_of
from kvsolve.outputs.redact import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.files.editing import TextEdit
    from kvsolve.files.found import FoundCommand
    from kvsolve.inputs.tokens import Occurrence
    from kvsolve.model.edit import Edit, Repair
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
    operations = tuple(_operations(question, repair, found))
    edits = text_edits(document, found, operations)
    text = applied(document.text, edits)
    before = read_document(document, told or {}, sure=sure)
    after = read_document(Document(document.path, text), told or {}, sure=sure)
    _same_elsewhere(before, after, found)
    place = [item for item in before if not isinstance(item, FileError)].index(found)
    made = [item for item in after if not isinstance(item, FileError)][place]
    _means(question, operations, made, found)
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
    operations: Sequence[Operation],
    made: FoundCommand,
    found: FoundCommand,
) -> None:
    """Make sure that the edited command has the options that the operations give it."""
    wanted = _reading(question, carried_out(found.words, operations))
    got = _reading(question, made.words)
    if got != wanted:
        raise CannotEditError("the edited file would not read as the repaired command")


def _reading(question: Question, words: Sequence[str]) -> tuple[object, object]:
    launch = split_command(words)
    parsed = parse_argv(launch.argv, question.pack.flags)
    return parsed.values, {(p.kind, p.spelling, p.values) for p in parsed.problems}


def _operations(question: Question, repair: Repair, found: FoundCommand) -> Iterator[Operation]:
    """What a repair does to the words of the request's command."""
    origin = question.origin
    used: set[int] = set()
    for edit in repair.edits:
        if edit.value == HIDDEN:
            raise CannotEditError("it would write a secret")
        if edit.becomes:
            yield from _translated(question, edit, used)
        elif not edit.dest:
            yield _without_problem(question, edit, used)
        elif edit.op == "add":
            place = _anchor(question, repair, found)
            words = _words(question, edit)
            if found.tokens[place].layout.kind == "pairs":
                words = (_name_of(question, edit), *words[1:])
            yield Insert(place, words)
        else:
            places = [o for o in question.parsed.occurrences if o.flag.dest == edit.dest]
            if not places:
                raise CannotEditError(f"{edit.flag} is not in the file itself")
            if edit.op == "remove":
                yield from (_delete(origin, o.place, o.end - o.place) for o in places)
            else:
                yield from _set(question, edit, places[-1])


def _delete(origin: Sequence[int], place: int, count: int) -> Delete:
    at = origin[place]
    if at < 0:
        raise CannotEditError("a part that is to go is not in the file itself")
    return Delete(at, count)


def _without_problem(question: Question, edit: Edit, used: set[int]) -> Delete:
    """Take out what the parser refuses."""
    for problem in question.parsed.problems:
        if problem.spelling != edit.flag or problem.index in used or problem.index < 0:
            continue
        used.add(problem.index)
        count = len(span_of(question, problem))
        return _delete(question.origin, problem.index, count)
    raise CannotEditError(f"{edit.flag} is not in the file itself")


def _translated(question: Question, edit: Edit, used: set[int]) -> Iterator[Operation]:
    """Write the name that the release has for an option in the place of the one it has not."""
    for item in translations(question):
        if item.problem.spelling != edit.flag or item.start in used:
            continue
        used.add(item.start)
        at, count = question.origin[item.start], item.stop - item.start
        tokens, typed = item.tokens, question.request.command[at]
        if "=" in typed and len(tokens) == 2:
            tokens = ("=".join(tokens),)
        yield from (Replace(at + n, token) for n, token in enumerate(tokens[:count]))
        if len(tokens) < count:
            yield Delete(at + len(tokens), count - len(tokens))
        elif len(tokens) > count:
            yield Insert(at + count - 1, tokens[count:])
        return
    raise CannotEditError(f"{edit.flag} is not in the file itself")


def _words(question: Question, edit: Edit) -> tuple[str, ...]:
    words = tokens_of(question.pack.flags, edit.dest, edit.value)
    if not words:
        raise CannotEditError(f"no option of the command line gives {edit.flag} this value")
    return words


def _name_of(question: Question, edit: Edit) -> str:
    """The spelling of an option that a program too knows it by: that of its field."""
    name = "--" + edit.dest.replace("_", "-")
    flags = question.pack.flags
    if name not in flags or flags.by_spelling(name).dest != edit.dest:
        raise CannotEditError(f"{edit.flag} may have another name in a program")
    return name


def _set(question: Question, edit: Edit, option: Occurrence) -> Iterator[Operation]:
    words = _words(question, edit)
    at = question.origin[option.place]
    if at < 0 or question.argv[option.place] != question.request.command[at]:
        raise CannotEditError(f"{edit.flag} is not in the file itself")
    values = words[1:]
    if not option.flag.takes_value or not values:
        yield Replace(at, words[0])
        if option.end - option.place > 1:
            yield Delete(at + 1, option.end - option.place - 1)
    elif option.attached:
        name = question.argv[option.place].partition("=")[0]
        yield Replace(at, f"{name}={values[0]}")
    else:
        had = len(option.values)
        for number, value in enumerate(values[:had]):
            yield Replace(at + 1 + number, value)
        if len(values) < had:
            yield Delete(at + 1 + len(values), had - len(values))
        elif len(values) > had:
            yield Insert(at + had, values[had:])


def _anchor(question: Question, repair: Repair, found: FoundCommand) -> int:
    """The word behind which a new option stands: the last one of an option that stays."""
    gone = {edit.dest for edit in repair.edits if edit.op == "remove"}
    options = (*question.parsed.occurrences, *question.parsed.open)
    ends = [question.origin[o.end - 1] for o in options if o.flag.dest not in gone]
    places = sorted((place for place in ends if place >= 0), reverse=True)
    tokens = found.tokens
    beside = [place for place in places if not tokens[place].layout.alone]
    free = [place for place in beside if not tokens[place].locked]
    # A word that is not known still stands at a place of its own, unless it comes from elsewhere.
    free += [place for place in beside if tokens[place].locked == tokens[place].unknown]
    if free:
        return free[0]
    program = len(tokens) - len(question.argv) - 1
    if places or program < 0 or tokens[program].locked:
        raise CannotEditError("there is no place in the command where an option could be added")
    return program
