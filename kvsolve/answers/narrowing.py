"""From a command with several contexts to one of them, for work that needs a single one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.answers.asking import session

if TYPE_CHECKING:
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question

__all__ = ["narrowed"]


def narrowed(question: Question, result: CheckResult) -> Question:
    """The question for the first GPU and model that refuse only what all of them refuse.

    What helps there may still fail elsewhere, so the repaired command has to be judged for all.

    Args:
        question: The command.
        result: What a check says of it.

    Returns:
        The question itself where it has one context, or where each refuses more.
    """
    if len(question.prepared) == 1 or not result.errors:
        return question
    common = {finding.code for finding in result.errors}
    alike = (profile for profile in result.profiles if common.issuperset(profile.codes))
    chosen = next(alike, None)
    if chosen is None:
        return question
    request = replace(question.request, gpu=chosen.gpu)
    if len({profile.model for profile in result.profiles}) > 1:
        request = replace(request, family=chosen.model)
    return session().ask(request)
