"""list and count: the valid configurations over some flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, hider, request, seconds, session
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.answers.asking import Command
    from kvsolve.model.context import Config
    from kvsolve.session import Question
    from kvsolve.solve.count import Count

__all__ = [
    "Covering",
    "Listed",
    "Vary",
    "bounds_of",
    "configs_of",
    "count",
    "count_of",
    "cover",
    "cover_of",
    "iter_configs",
    "sample",
    "sample_of",
]


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
    command: Command,
    vary: Vary = (),
    *,
    project: Iterable[str] = (),
    limit_s: float | None = None,
    **context: Any,
) -> Iterator[Listed]:
    """Every valid configuration over some flags, in declared order, one by one.

    Args:
        command: Text or tokens; what it does not vary stays as it is.
        vary: Flags that vary.
        project: Flags whose combinations are wanted, whatever the others must then be.
        limit_s: Seconds after which it is given up.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
        TimeoutError: The time was up; there may be more.
    """
    question = session().ask(request(command, **context))
    return configs_of(question, *_scope(question, vary, project), seconds(limit_s))


def configs_of(
    question: Question,
    vary: Mapping[str, Sequence[Any] | None],
    project: Sequence[str],
    limit_s: float | None = None,
) -> Iterator[Listed]:
    """The configurations of a question that was read; flags by dest."""
    from kvsolve.solve.enumerate import iter_configs as search

    found = search(
        question.context,
        question.config,
        vary,
        project=project,
        held=question.held,
        time_limit=limit_s,
    )
    yield from _listed(question, found, project or list(vary))


def _listed(question: Question, configs: Iterable[Config], told: Sequence[str]) -> Iterator[Listed]:
    from kvsolve.answers.telling import Telling

    telling = Telling(hider(question), question.pack.flags)
    for config in configs:
        values = config.values
        assignment = {dest: telling.value(dest, values[dest]) for dest in told}
        yield Listed(telling.argv(config), assignment)


def sample(
    command: Command, vary: Vary, number: int, *, seed: int = 0, **context: Any
) -> Iterator[Listed]:
    """Draw valid configurations at random, each as likely as any other, with repetition.

    Args:
        command: Text or tokens; what it does not vary stays as it is.
        vary: Flags that vary.
        number: How many to draw.
        seed: Equal seeds draw the same.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, nothing is valid, or the flags hang together
            too widely to draw fairly.
    """
    question = session().ask(request(command, **context))
    return sample_of(question, _scope(question, vary, ())[0], number, seed)


def sample_of(
    question: Question,
    vary: Mapping[str, Sequence[Any] | None],
    number: int,
    seed: int = 0,
    limit_s: float | None = None,
) -> Iterator[Listed]:
    """The samples of a question that was read; flags by dest."""
    from kvsolve.solve.sample import sample as draw
    from kvsolve.solve.varying import states_of

    found = draw(
        question.context,
        question.config,
        states_of(vary, question.pack.flags),
        number=number,
        seed=seed,
        time_limit=limit_s,
    )
    return _listed(question, found, list(vary))


@dataclass(frozen=True, slots=True)
class Covering:
    """A covering array.

    Attributes:
        rows: Its configurations.
        strength: How many flags a combination is of.
        infeasible: Combinations that nothing valid has.
        complete: Every feasible combination occurs.
        left: Combinations that were not looked at in time.
    """

    rows: tuple[Listed, ...]
    strength: int
    infeasible: tuple[Mapping[str, Any], ...]
    complete: bool
    left: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the answer."""
        return {
            "strength": self.strength,
            "complete": self.complete,
            "left": self.left,
            "rows": [row.to_dict() for row in self.rows],
            "infeasible": [dict(found) for found in self.infeasible],
            "over": "representatives",
        }


def cover(command: Command, vary: Vary = (), *, strength: int = 2, **context: Any) -> Covering:
    """A small set of valid configurations with every feasible combination of values.

    Args:
        command: Text or tokens; what it does not vary stays as it is.
        vary: Flags that vary; all that some entry reads where empty.
        strength: How many flags a combination is of, 2 or 3.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, or there is too much to cover.
    """
    question = session().ask(request(command, **context))
    return cover_of(question, _scope(question, vary, ())[0], strength)


def cover_of(
    question: Question,
    vary: Mapping[str, Sequence[Any] | None],
    strength: int = 2,
    limit_s: float | None = None,
) -> Covering:
    """The covering array of a question that was read; flags by dest."""
    from kvsolve.solve.cover import cover as build
    from kvsolve.solve.varying import states_of

    found = build(
        question.context,
        question.config,
        strength=strength,
        vary=states_of(vary, question.pack.flags) if vary else None,
        held=question.held,
        time_limit=limit_s,
    )
    hide = hider(question)
    infeasible = tuple({d: hide.value(v, d) for d, v in one.items()} for one in found.infeasible)
    rows = tuple(_listed(question, found.rows, found.dests))
    return Covering(rows, strength, infeasible, found.complete, found.left)


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


def bounds_of(
    question: Question,
    vary: Mapping[str, Sequence[Any] | None],
    project: Sequence[str],
    limit_s: float | None = None,
) -> Count:
    """The count of a question that was read, or the bounds reached after so many seconds."""
    from kvsolve.solve.count import bounds as search

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
