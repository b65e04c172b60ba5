"""list and count: the valid configurations over some flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, hider, request, session
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.answers.asking import Command
    from kvsolve.session import Question

__all__ = ["Listed", "Vary", "configs_of", "count", "count_of", "iter_configs"]


@dataclass(frozen=True, slots=True)
class Listed:
    """One valid configuration.

    Attributes:
        argv: Its tokens.
        assignment: The flags that vary, with their values.
    """

    argv: tuple[str, ...]
    assignment: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a configuration."""
        return {"argv": list(self.argv), "assignment": dict(self.assignment)}


Vary = Mapping[str, Sequence[Any] | None] | Iterable[str]
"""Flags with the values that they may take, None for all; or just flags."""


def iter_configs(
    command: Command, vary: Vary = (), *, project: Iterable[str] = (), **context: Any
) -> Iterator[Listed]:
    """Every valid configuration over some flags, in declared order, one by one.

    Args:
        command: Text or tokens; what it does not vary stays as it is.
        vary: Flags that vary.
        project: Flags whose combinations are wanted, whatever the others must then be.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    question = session().ask(request(command, **context))
    return configs_of(question, *_scope(question, vary, project))


def configs_of(
    question: Question, vary: Mapping[str, Sequence[Any] | None], project: Sequence[str]
) -> Iterator[Listed]:
    """The configurations of a question that was read; flags by dest."""
    from kvsolve.solve.enumerate import iter_configs as search
    from kvsolve.solve.repair import command_tokens

    hide, flags = hider(question), question.pack.flags
    told = project or list(vary)
    for config in search(
        question.context, question.config, vary, project=project, held=question.held
    ):
        assignment = {dest: hide.value(config.values[dest], dest) for dest in told}
        yield Listed(hide.argv(command_tokens(config, flags)), assignment)


def count(command: Command, vary: Vary = (), *, project: Iterable[str] = (), **context: Any) -> int:
    """The exact number of configurations that :func:`iter_configs` gives.

    Raises:
        KvsolveError: Something in it cannot be used, or the flags hang together too widely.
    """
    question = session().ask(request(command, **context))
    return count_of(question, *_scope(question, vary, project))


def count_of(
    question: Question,
    vary: Mapping[str, Sequence[Any] | None],
    project: Sequence[str],
    limit_s: float | None = None,
) -> int:
    """The count of a question that was read; flags by dest; given up after so many seconds."""
    from kvsolve.solve.count import count as search

    return search(
        question.context,
        question.config,
        vary,
        project=project,
        held=question.held,
        time_limit=limit_s,
    )


def _scope(
    question: Question, vary: Vary, project: Iterable[str]
) -> tuple[dict[str, Sequence[Any] | None], list[str]]:
    flags = question.pack.flags
    pairs = vary.items() if isinstance(vary, Mapping) else ((name, None) for name in vary)
    return (
        {dest_of(flags, name): values for name, values in pairs},
        [dest_of(flags, name) for name in project],
    )
