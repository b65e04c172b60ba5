"""count: how many valid configurations there are, exactly or between proven bounds."""

from __future__ import annotations

import time
from math import prod
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.solve.domains import domain_of
from kvsolve.solve.lowering.counting import Counting
from kvsolve.solve.lowering.feasible import Feasible
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.lowering.projection import projection
from kvsolve.solve.network import network_of
from kvsolve.solve.varying import states_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.grid import Vary

__all__ = ["Count", "TooSlowError", "bounds", "count"]


class TooSlowError(KvsolveError):
    """There was not the time to count exactly."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are.

    Attributes:
        lower: At least so many.
        upper: At most so many.
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper


def bounds(
    prepared: Prepared,
    config: Config,
    vary: Vary = (),
    *,
    project: Iterable[str] = (),
    held: Iterable[str] = (),
    time_limit: float | None = None,
) -> Count:
    """The number of configurations that ``iter_configs`` gives, as closely as the time allows.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that are held.
        vary: Flags that vary; with ``project`` those that may help.
        project: Flags whose combinations are wanted.
        held: Dests that are no matter of choice.
        time_limit: Seconds after which the bounds reached are given.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    wanted = tuple(project)
    if wanted:
        lowered = helped(prepared, config, wanted, vary, held)
        good, bad = projection(lowered, [lowered.position[d] for d in wanted], deadline)
        total = 1
        for dest in wanted:
            total *= len(lowered.states[lowered.position[dest]])
        return Count(good.bit_count(), total - bad.bit_count())
    lowered = lower(prepared, config, vary=states_of(vary, prepared.pack.flags))
    counting = Counting(lowered, deadline)
    lower_bound = counting.lower
    if not counting.exact and not lower_bound:
        lower_bound = _of_one(lowered, deadline)
    return Count(lower_bound, counting.upper)


def _of_one(lowered: Lowered, deadline: float | None) -> int:
    """How many configurations are as valid as one that is found: those with values alike."""
    with Feasible(lowered) as feasible:
        # Mostly the time is up by now; this one question is worth asking all the same.
        chosen = feasible.settled(())
        if chosen is None:
            try:
                chosen = feasible.find((), deadline)
            except TimeoutError:
                return 0
        if chosen is None:
            return 0
        own = zip(lowered.classes, chosen, strict=True)
        # Of a class, a pending entry vouches for no more than was asked.
        return 1 if lowered.pending else prod(one[n].bit_count() for one, n in own)


def helped(
    prepared: Prepared, config: Config, project: Iterable[str], vary: Vary, held: Iterable[str]
) -> Lowered:
    """The context over projected flags and those that may help them."""
    flags, network = prepared.pack.flags, network_of(prepared)
    helping = set(vary) or {d for d in network.dests if d not in config.given}
    fixed = set(held) | {flags.by_spelling(s).dest for s in flags.required}
    chosen = {
        dest: domain_of(dest, config, flags, network.literals).states
        for dest in flags.fields
        if dest in helping and dest not in fixed and flags.by_dest(dest)
    }
    return lower(prepared, config, vary={**chosen, **dict.fromkeys(project)})


def count(
    prepared: Prepared,
    config: Config,
    vary: Vary = (),
    *,
    project: Iterable[str] = (),
    held: Iterable[str] = (),
    time_limit: float | None = None,
) -> int:
    """The exact number; arguments as for :func:`bounds`.

    Raises:
        TooSlowError: There was not the time.
    """
    found = bounds(prepared, config, vary, project=project, held=held, time_limit=time_limit)
    if not found.exact:
        raise TooSlowError(
            f"not counted exactly in time: between {found.lower} and {found.upper}; vary fewer "
            "flags, name fewer values, or allow more time with --limit-s"
        )
    return found.lower
