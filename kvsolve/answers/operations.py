"""What a repair does to the words of the command as it was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.answers.translation import span_of, translations, with_words
from kvsolve.files.editing import (
    CannotEditError,
    Delete,
    Insert,
    Operation,
    Replace,
    Rewrite,
    moved,
)
from kvsolve.outputs.effective import tokens_of
from kvsolve.outputs.redact import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.files.found import FoundCommand
    from kvsolve.inputs.tokens import Occurrence
    from kvsolve.model.edit import Edit, Repair
    from kvsolve.session import Question, Request

__all__ = ["edited_request", "operations"]


def operations(
    question: Question, repair: Repair, found: FoundCommand | None = None
) -> Iterator[Operation]:
    """What a repair does to the words of the request's command.

    Args:
        question: The command.
        repair: What to do to it.
        found: The same command with the place of each word, None for one that was typed.

    Raises:
        CannotEditError: The command's words do not hold what is to be changed, or it is a secret.
    """
    used: set[int] = set()
    for edit in repair.edits:
        if edit.becomes:
            yield from _translated(question, edit, used, found)
        elif not edit.dest:
            yield _without_problem(question, edit, used)
        elif edit.op == "add":
            yield _added(question, edit, repair, found)
        else:
            places = [o for o in question.parsed.occurrences if o.flag.dest == edit.dest]
            if not places:
                raise CannotEditError(_elsewhere(question, edit))
            if edit.op == "remove":
                yield from (_delete(question, edit, o.place, o.end - o.place) for o in places)
            else:
                yield from _set(question, edit, places[-1])


def edited_request(question: Question, repair: Repair) -> Request:
    """The request with the edits of a repair carried out on its command.

    Raises:
        CannotEditError: The command's words do not hold what is to be changed.
    """
    request = question.request
    return with_words(request, moved(request.command, [*operations(question, repair)]))


def _added(question: Question, edit: Edit, repair: Repair, found: FoundCommand | None) -> Operation:
    words = _words(question, edit)
    if found is None:
        last = max((place for place in question.origin), default=-1)
        return Insert(last if last >= 0 else len(question.request.command) - 1, words)
    place = _anchor(question, repair, found)
    if found.tokens[place].layout.kind == "pairs":
        words = (_name_of(question, edit), *words[1:])
    return Insert(place, words)


def _elsewhere(question: Question, edit: Edit) -> str:
    """Why the words of a command do not hold an option that it has."""
    if "--config" in question.request.command:
        return f"{edit.flag} is in the file of --config, not in this one"
    return f"{edit.flag} is not in the file itself"


def _delete(question: Question, edit: Edit, place: int, count: int) -> Delete:
    at = question.origin[place]
    if at < 0:
        raise CannotEditError(_elsewhere(question, edit))
    return Delete(at, count)


def _without_problem(question: Question, edit: Edit, used: set[int]) -> Delete:
    """Take out what the parser refuses."""
    for problem in question.parsed.problems:
        if problem.spelling != edit.flag or problem.index in used or problem.index < 0:
            continue
        used.add(problem.index)
        count = len(span_of(question, problem))
        removal = _delete(question, edit, problem.index, count)
        _must_belong(question, edit, removal)
        return removal
    raise CannotEditError(_elsewhere(question, edit))


def _must_belong(question: Question, edit: Edit, removal: Delete) -> None:
    """See that nothing goes with an option that the release does not have but a value of its own.

    Of what is not known, one word right behind it is taken to be that; any more may be options.
    """
    request, first = question.request, removal.at + 1
    behind = range(first, removal.at + removal.width)
    if any(at in request.loose or (at > first and at in request.unknown) for at in behind):
        raise CannotEditError(f"what stands behind {edit.flag} is not known, and may not be its")


def _translated(
    question: Question, edit: Edit, used: set[int], found: FoundCommand | None
) -> Iterator[Operation]:
    """Write the name that the release has for an option in the place of the one it has not."""
    for item in translations(question):
        if item.problem.spelling != edit.flag or item.start in used:
            continue
        used.add(item.start)
        at, count = question.origin[item.start], item.stop - item.start
        if at < 0:
            raise CannotEditError(_elsewhere(question, edit))
        tokens, typed = item.tokens, question.request.command[at]
        if found and found.tokens[at].layout.kind in ("map", "pairs") and len(tokens) != count:
            yield Rewrite(at, count, tokens)
            return
        if "=" in typed and len(tokens) == 2:
            tokens = ("=".join(tokens),)
        yield from (Replace(at + n, token) for n, token in enumerate(tokens[:count]))
        if len(tokens) < count:
            yield Delete(at + len(tokens), count - len(tokens))
        elif len(tokens) > count:
            yield Insert(at + count - 1, tokens[count:])
        return
    raise CannotEditError(_elsewhere(question, edit))


def _words(question: Question, edit: Edit) -> tuple[str, ...]:
    if edit.value == HIDDEN:
        raise CannotEditError("it would write a secret")
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
        raise CannotEditError(_elsewhere(question, edit))
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
