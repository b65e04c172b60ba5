"""Repairs without what only suppressed findings ask for, or only a value that is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kvsolve.answers.asking import hider, session
from kvsolve.answers.operations import edited_request
from kvsolve.answers.translation import written_out
from kvsolve.errors import KvsolveError
from kvsolve.files.editing import CannotEditError
from kvsolve.model.finding import Kind
from kvsolve.outputs.report import subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kvsolve.answers.repair import Fix
    from kvsolve.model.edit import Repair
    from kvsolve.model.finding import CheckResult, Finding
    from kvsolve.session import Question

__all__ = ["left_after", "spared", "wanting"]

Name = tuple[str, ...]
Finder: TypeAlias = "Callable[[frozenset[str]], Fix]"


def wanting(result: CheckResult) -> bool:
    """Whether something is refused that nobody suppressed."""
    return any(not finding.suppressed for finding in result.errors)


def spared(question: Question, result: CheckResult, find: Finder) -> Fix:
    """The repairs that leave alone what is suppressed.

    The search leaves out the refusals that are suppressed, so that what it proves is proven of the
    rest. A suppressed option of which the parser knows nothing is taken out of a repair
    afterwards, and so is what only a value asks for that nobody knows; of what is left then nothing
    is proven.

    Args:
        question: The command.
        result: What a check says of it, suppressed findings marked.
        find: Finds repairs that may leave refusals with some codes.
    """
    kept = {_name(finding) for finding in result.errors if finding.suppressed}
    excused = frozenset(f.code for f in result.errors if f.suppressed and f.kind is Kind.VIOLATION)
    answer = replace(find(excused), result=result)
    if not answer.repairs or not (kept or question.parsed.open):
        return answer
    plain = session().ask(written_out(question))  # edits are of options wherever they stand
    if excused and not all(_helps(plain, repair, kept) for repair in answer.repairs):
        # What is excused may also break in another way, which nobody suppressed.
        excused, answer = frozenset(), replace(find(frozenset()), result=result)
    proven = kept == {(code,) for code in excused}
    refused = {finding.code for finding in result.errors}
    found = {r.argv: r for r in _pruned(plain, answer.repairs, kept, refused, proven)}
    repairs = sorted(found.values(), key=lambda repair: repair.cost)
    return replace(answer, repairs=tuple(repairs), bound=repairs[0].bound if repairs else None)


def _helps(question: Question, repair: Repair, kept: set[Name]) -> bool:
    try:
        return _is_enough(question, repair, kept)
    except CannotEditError:
        return True


def left_after(question: Question, repair: Repair, result: CheckResult) -> tuple[str, ...]:
    """Codes of what is refused after a repair and is not suppressed before it.

    Args:
        question: The command, for all GPUs and models that it may run with.
        repair: What to do to it.
        result: What a check says of the command as it is.

    Raises:
        CannotEditError: The command's words do not hold what is to be changed.
    """
    kept = {_name(finding) for finding in result.errors if finding.suppressed}
    after = session().judge(_edited(question, repair))
    return tuple(f.code for f in after.errors if _name(f) not in kept)


def _name(finding: Finding) -> Name:
    return finding.code, *subject_of(finding)


def _edited(question: Question, repair: Repair) -> Question:
    return session().ask(edited_request(question, repair))


def _pruned(
    question: Question,
    repairs: Iterable[Repair],
    kept: set[Name],
    refused: set[str],
    proven: bool,
) -> Iterator[Repair]:
    for repair in repairs:
        try:
            best = _without_needless(question, repair, kept, proven)
            removes = tuple(code for code in best.removes if code in refused)
            yield replace(best, removes=removes)
        except CannotEditError:  # an edit is none of the command's own words
            yield replace(repair, optimal=False, bound=1)


def _without_needless(question: Question, repair: Repair, kept: set[Name], proven: bool) -> Repair:
    """The repair without each edit, one after the other, that only what is kept asks for."""
    best = repair if proven else replace(repair, bound=1, optimal=False)
    for edit in repair.edits:
        edits = tuple(other for other in best.edits if other is not edit)
        cost = sum(other.cost for other in edits)
        fewer = replace(best, edits=edits, cost=cost, bound=1, optimal=False)
        if edits and _is_enough(question, fewer, kept):
            best = fewer
    made = _edited(question, best)
    left = {finding.code for finding in session().judge(made).errors}
    removes = tuple(code for code in best.removes if code not in left)
    return replace(best, argv=hider(made).argv(made.argv), removes=removes)


def _is_enough(question: Question, repair: Repair, kept: set[Name]) -> bool:
    try:
        made = _edited(question, repair)
    except KvsolveError:
        return False
    return kept.issuperset(_name(finding) for finding in session().judge(made).errors)
