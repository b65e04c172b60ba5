"""conflict: why nothing valid agrees with the flags that are to stay."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, hider, request, seconds, session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.answers.asking import Command
    from kvsolve.model.edit import Conflict
    from kvsolve.session import Question

__all__ = ["conflict", "conflict_of", "pinned_conflict", "shown_conflict"]


def conflict(
    command: Command,
    *,
    keep: Iterable[str] | None = None,
    limit_s: float | None = None,
    **context: Any,
) -> Conflict | None:
    """Why nothing valid agrees with the flags to keep: a minimal conflict.

    Args:
        command: Text or tokens.
        keep: Flags to hold at their values; everything typed where None.
        limit_s: Seconds after which to give up.
        **context: As for :func:`check`.

    Returns:
        None where something valid agrees with the flags to keep.

    Raises:
        TimeoutError: The time was up before that or a conflict was proven.
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    return conflict_of(session().ask(request(command, **context)), keep, limit_s)


def conflict_of(
    question: Question, keep: Iterable[str] | None = None, limit_s: float | None = None
) -> Conflict | None:
    """The conflict of a question that was read; see :func:`conflict`."""
    pins = None if keep is None else [dest_of(question.pack.flags, name) for name in keep]
    return shown_conflict(question, pinned_conflict(question, pins, limit_s))


def shown_conflict(question: Question, found: Conflict | None) -> Conflict | None:
    """A conflict with flags as they are typed and secrets hidden."""
    if found is None:
        return None
    given, flags = question.config.given, question.pack.flags
    pins = tuple((given.get(dest) or flags.flag(dest).name, value) for dest, value in found.pins)
    return replace(hider(question).conflict(found), pins=hider(question).pins(pins))


def pinned_conflict(
    question: Question, pins: Iterable[str] | None, limit_s: float | None
) -> Conflict | None:
    """The conflict with flags named by dest, secrets not yet hidden."""
    from kvsolve.solve.conflict import conflict as search

    limit_s = seconds(limit_s)
    deadline = None if limit_s is None else time.monotonic() + limit_s
    return search(
        question.context, question.config, pins=pins, held=question.held, deadline=deadline
    )
