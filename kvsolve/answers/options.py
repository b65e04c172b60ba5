"""options: what flags may still be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, facts_of, hider, request, seconds, session
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.answers.asking import Command
    from kvsolve.outputs.redact import Redactor
    from kvsolve.session import Question
    from kvsolve.solve.options import FlagOptions

__all__ = ["Options", "options", "options_of"]


@dataclass(frozen=True, slots=True)
class Options:
    """What flags may still be.

    Attributes:
        about: For what it is answered: release, facts, stage.
        flags: The flags with their values.
    """

    about: Mapping[str, Any]
    flags: tuple[FlagOptions, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of options."""
        return {**self.about, "flags": [flag.to_dict() for flag in self.flags]}


def options(command: Command, *flags: str, limit_s: float | None = None, **context: Any) -> Options:
    """What flags may still be, given a command; all that some entry reads where none is named.

    Args:
        command: Text or tokens.
        *flags: Flags asked about.
        limit_s: Seconds after which the remaining values are left open.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    return options_of(session().ask(request(command, **context)), flags, limit_s)


def options_of(question: Question, flags: Iterable[str], limit_s: float | None = None) -> Options:
    """The options of a question that was read; see :func:`options`."""
    from kvsolve.solve.options import options as search

    dests = [dest_of(question.pack.flags, name) for name in flags]
    hide = hider(question)
    held = question.held - set(dests)
    found = search(question.context, question.config, dests, held=held, time_limit=seconds(limit_s))
    return Options(facts_of(question), tuple(_shown(flag, hide) for flag in found))


def _shown(flag: FlagOptions, hide: Redactor) -> FlagOptions:
    """A flag's options that show no secret."""
    values = tuple(
        replace(
            option,
            value=hide.value(option.value, flag.dest),
            edits=tuple(hide.edit(edit) for edit in option.edits),
        )
        for option in flag.values
    )
    return replace(flag, given=hide.value(flag.given, flag.dest), values=values)
