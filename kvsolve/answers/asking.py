"""Reading what is asked, and what every answer says of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.finding import Severity
from kvsolve.outputs.redact import Redactor
from kvsolve.session import Question, Request, Session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.flag import FlagTable

__all__ = [
    "Command",
    "dest_of",
    "facts_of",
    "hider",
    "must_be_readable",
    "reasons_of",
    "request",
    "seconds",
    "session",
]

Command = str | Sequence[str]
"""A launch command: its text, or its tokens; with or without the program in front."""


@lru_cache(maxsize=1)
def session() -> Session:
    """The session that every call shares, so that a context is prepared once."""
    return Session()


def request(command: Command, **context: Any) -> Request:
    """A command and its context as a request.

    Args:
        command: Text or tokens.
        **context: Attributes of :class:`kvsolve.session.Request`.
    """
    if isinstance(command, str):
        import shlex

        try:
            command = shlex.split(command.replace("\\\n", " "))
        except ValueError as error:
            raise KvsolveError(f"the command is no shell text: {error}") from None
    config = context.pop("model_config", None)
    env = context.pop("env", None) or {}
    try:
        return Request(command, model_config=config and str(config), env=dict(env), **context)
    except TypeError as error:
        raise TypeError(str(error).replace("Request.__init__()", "the context")) from None


def hider(question: Question) -> Redactor:
    """Hides the secrets of a command."""
    env = question.prepared[0].context.env if question.prepared else {}
    return Redactor(question.request.command, env)


def must_be_readable(question: Question) -> None:
    """Refuse a command of which the release's parser refuses something.

    Raises:
        KvsolveError: It does; what else is said of the command would answer another question.
    """
    for problem in question.problems:
        if problem.severity is Severity.ERROR:
            raise KvsolveError(hider(question).text(problem.message.rstrip(".")))


def facts_of(question: Question) -> dict[str, Any]:
    """For what a question is answered: the keys of a result that say so."""
    contexts = [prepared.context for prepared in question.prepared]
    names = {name: {getattr(c, name) for c in contexts} for name in ("gpu", "model", "model_from")}
    single = {name: next(iter(found)) if len(found) == 1 else None for name, found in names.items()}
    return {
        "sglang": question.pack.release,
        "sglang_from": question.sglang_from,
        "pack": {"status": question.pack.status},
        "facts": {
            "gpu": single["gpu"],
            "gpus": question.request.gpus,
            "model": hider(question).value(single["model"]),
            "model_from": single["model_from"],
        },
        "judged_to": question.prepared[0].stage,
    }


def reasons_of(question: Question, codes: Iterable[str]) -> dict[str, str]:
    """Message by code."""
    entries = ((code, question.pack.catalog.by_code(code)) for code in sorted(codes))
    return {code: entry.message for code, entry in entries if entry is not None}


def seconds(limit_s: float | None) -> float | None:
    """A time limit that can be kept.

    Raises:
        KvsolveError: It is no number of seconds.
    """
    if limit_s is None or limit_s >= 0:
        return limit_s
    raise KvsolveError(f"--limit-s is a number of seconds from 0 on, not {limit_s}")


def dest_of(flags: FlagTable, name: str) -> str:
    """The dest that a user means by a flag's spelling, name or unambiguous abbreviation.

    Raises:
        KvsolveError: No flag is called so; names the nearest.
    """
    spelled = name if name.startswith("-") else "--" + name.replace("_", "-")
    if spelled in flags:
        return flags.by_spelling(spelled).dest
    if flags.by_dest(name):
        return name
    meant = {flags.by_spelling(s).dest for s in flags.beginning_with(spelled)} if name else set()
    if len(meant) == 1:  # as upstream's parser takes abbreviations, `tp` for --tp-size
        return meant.pop()
    from kvsolve.inputs.spelling import nearest

    near = nearest(spelled, tuple(flags.spellings))
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise KvsolveError(f"SGLang {flags.release} has no flag {name or '(nothing)'}{hint}")
