"""The repair of a command that stands in a file: the cheapest that can be written there."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.answers.asking import session
from kvsolve.answers.narrowing import narrowed
from kvsolve.answers.patch import CannotEditError, FilePatch, patch_of
from kvsolve.answers.repair import Fix, fix_of
from kvsolve.answers.sparing import left_after, spared, wanting
from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.files.found import Document, FoundCommand
    from kvsolve.model.edit import Repair
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question

__all__ = ["Filed", "Place", "Search", "filed"]

_MORE = 12
"""Repairs looked at where none of those asked for can be written."""
_PATIENCE = 10.0
"""Seconds for these where there is no limit."""


@dataclass(frozen=True, slots=True)
class Search:
    """What repairs to look for.

    Attributes:
        keep: Flags to leave as they are.
        costs: Cost factor of a flag.
        top: How many repairs to tell of.
        limit_s: Seconds after which to answer with what is known.
    """

    keep: Sequence[str] = ()
    costs: Mapping[str, int] | None = None
    top: int = 3
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command stands.

    Attributes:
        found: The command with the place of each word.
        document: The file.
        told: Values for variables, as the file was read with.
        sure: As the file was read with.
    """

    found: FoundCommand
    document: Document
    told: Mapping[str, str]
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Filed:
    """What became of a command in a file.

    Attributes:
        answer: Its findings and its repairs.
        patch: The file with one of the repairs; None where it is left as it was.
        written: Which of the repairs that is, from 0.
        reason: Why the cheapest repair is not written; "" where it is, or where there is none.
    """

    answer: Fix
    patch: FilePatch | None = None
    written: int | None = None
    reason: str = ""


def filed(question: Question, result: CheckResult, place: Place, search: Search) -> Filed:
    """Find the cheapest repair of which the edits can be written in the file without risk.

    Args:
        question: The command.
        result: What a check says of it, suppressed findings marked, secrets hidden.
        place: Where it stands.
        search: What repairs to look for.

    Raises:
        KvsolveError: A flag to keep or to weigh is not known.
    """
    if not wanting(result):
        return Filed(Fix(result, ()))
    single = narrowed(question, session().judge(question))
    missing = _several(single)
    if missing:
        return Filed(Fix(result, ()), reason=missing)
    began, limit = time.monotonic(), search.limit_s
    found = _tried(question, place, _repaired(single, result, search))
    if found.patch or len(found.answer.repairs) < search.top or search.top >= _MORE:
        return found
    left = _PATIENCE if limit is None else limit - (time.monotonic() - began)
    if left <= 0:
        return found
    wider = replace(search, top=_MORE, limit_s=left)
    again = _tried(question, place, _repaired(single, result, wider))
    return found if again.written is None else _shortened(again, search.top)


def _repaired(question: Question, result: CheckResult, search: Search) -> Fix:
    judged = session().judge(question)
    keep, costs = search.keep, search.costs

    def find(excused: frozenset[str]) -> Fix:
        limit = search.limit_s
        return fix_of(question, judged, keep, costs, search.top, limit, excused=excused)

    return spared(question, result, find)


def _shortened(found: Filed, top: int) -> Filed:
    """The same with the repairs asked for, and the one that was written."""
    assert found.written is not None
    repairs = found.answer.repairs
    told = (*repairs[:top], *repairs[max(top, found.written) : found.written + 1])
    number = found.written if found.written < top else len(told) - 1
    return replace(found, answer=replace(found.answer, repairs=told), written=number)


def _tried(question: Question, place: Place, answer: Fix) -> Filed:
    """The first repair that can be written, helping on all GPUs and models that are possible."""
    reason = ""
    for number, repair in enumerate(answer.repairs):
        try:
            _must_help(question, repair, answer.result)
            patch = patch_of(
                question, repair, place.found, place.document, told=place.told, sure=place.sure
            )
        except CannotEditError as error:
            reason = reason or str(error)
            continue
        return Filed(answer, patch, number, reason)
    return Filed(answer, reason=reason)


def _must_help(question: Question, repair: Repair, result: CheckResult) -> None:
    if len(question.prepared) > 1 and left_after(question, repair, result):
        raise CannotEditError("what helps on one GPU does not on all that it may run on")


def _several(question: Question) -> str:
    """What is missing where a question has several contexts; "" where it has one."""
    try:
        question.context  # noqa: B018
    except KvsolveError as error:
        return str(error)
    return ""
