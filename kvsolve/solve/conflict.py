"""conflict: a minimal set of pins, facts and entries that cannot hold together.

Deletion-based, see Marques-Silva, "Minimal unsatisfiability: models, algorithms and applications"
(2010): take one member away at a time and keep it only if the rest allows something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.edit import Conflict
from kvsolve.solve.completion import Completions
from kvsolve.solve.derivation import derivation, refutation
from kvsolve.solve.needed_facts import needed_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

__all__ = ["conflict"]


def conflict(
    prepared: Prepared,
    config: Config,
    *,
    pins: Iterable[str] | None = None,
    held: Iterable[str] = (),
    deadline: float | None = None,
) -> Conflict | None:
    """Why nothing valid agrees with the pins.

    Args:
        prepared: Pack, context and stage.
        config: The configuration that the pins are read from.
        pins: Dests to hold at their values; all that are given where None.
        held: Dests that are no matter of choice.
        deadline: Clock reading (``time.monotonic``) after which to give up.

    Returns:
        None where something valid agrees with the pins.

    Raises:
        TimeoutError: The deadline has passed, and neither is known.
    """
    wanted = frozenset(config.given if pins is None else pins)
    shared = Completions(prepared, config, free=config.given, held=held, deadline=deadline)
    masks: dict[int, int] = {}
    for dest in sorted(wanted):
        variable = shared.space.variable(dest)
        if variable is not None:
            masks[variable] = 1 << shared.space.start[variable]
    left = shared.leaves_something(masks)
    if left:
        return None
    steps = None if left is None else shared.conflicting(masks)
    if steps is None:
        raise TimeoutError
    steps = shared.needed(masks, steps)
    for variable in sorted(masks, reverse=True):
        fewer = {v: mask for v, mask in masks.items() if v != variable}
        if shared.excludes(fewer, steps):
            masks = fewer
    return _told(shared, masks, shared.needed(masks, steps))


def _told(shared: Completions, masks: Mapping[int, int], steps: frozenset[int]) -> Conflict:
    space, config = shared.space, shared.config
    clauses = refutation(shared, masks, steps)
    return Conflict(
        pins=tuple((space.dests[v], config.values[space.dests[v]]) for v in sorted(masks)),
        facts=needed_facts(shared, masks, steps, clauses),
        codes=tuple(dict.fromkeys(map(shared.code, sorted(steps)))),
        chain=derivation(shared, masks, clauses),
    )
