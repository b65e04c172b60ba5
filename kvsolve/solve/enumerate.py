"""enumerate: every valid configuration over some flags, lazily, in declared order."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from kvsolve.model.context import Config
from kvsolve.solve.completion import Completions
from kvsolve.solve.engines.python_constraint import solutions
from kvsolve.solve.grid import Grid, Vary, grid_of, values_of
from kvsolve.solve.network import network_of
from kvsolve.solve.space import spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvsolve.solve.check import Prepared

__all__ = ["iter_configs", "iter_projected"]

_BATCH = 20_000
"""Combinations solved at once; a batch is sorted before it is given out."""


def iter_configs(
    prepared: Prepared,
    config: Config,
    vary: Vary = (),
    *,
    project: Iterable[str] = (),
    held: Iterable[str] = (),
) -> Iterator[Config]:
    """Valid configurations, in declared order of flags and values.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that do not vary.
        vary: Flags that take all their values, or those named. With ``project``: the flags that
            may help; all that are not given where empty.
        project: Flags whose combinations are wanted; one configuration is given for each
            combination that some values of the others make valid.
        held: Dests that are no matter of choice.

    Raises:
        KvsolveError: A flag is not an option of the release.
    """
    wanted = tuple(project)
    if wanted:
        yield from iter_projected(prepared, config, wanted, vary=vary, held=held)
        return
    grid = grid_of(prepared, config, vary)
    for at in assignments(grid):
        yield grid.config_at(at)


def assignments(grid: Grid) -> Iterator[tuple[int, ...]]:
    """The states of all valid combinations, in order."""
    if grid.dead:
        return
    sizes = [len(s) for s in grid.states]
    split = _split(sizes)
    rules = [(c.scope, c.allows) for c in grid.constraints]
    early = [(s, f) for s, f in rules if all(p < split for p in s)]
    late = [(s, f) for s, f in rules if any(p >= split for p in s)]
    for head in product(*(range(n) for n in sizes[:split])):
        if all(f(*(head[p] for p in scope)) for scope, f in early):
            domains = [*([value] for value in head), *(range(n) for n in sizes[split:])]
            yield from sorted(solutions(domains, late))


def _split(sizes: list[int]) -> int:
    """How many leading flags to walk through, so that what is left is a batch."""
    split = 0
    while split < len(sizes) and prod(sizes[split:]) > _BATCH:
        split += 1
    return split


def iter_projected(
    prepared: Prepared,
    config: Config,
    project: Iterable[str],
    *,
    vary: Vary = (),
    held: Iterable[str] = (),
) -> Iterator[Config]:
    """For each combination of some flags that can be made valid, its cheapest configuration."""
    flags, network = prepared.pack.flags, network_of(prepared)
    dests = grid_of(prepared, config, project).dests
    helping = set(vary) or set(flags.fields) - set(config.given)
    shared = Completions(
        prepared,
        config,
        free=[*dests, *helping],
        held=(set(flags.fields) - helping - set(dests)) | set(held),
    )
    for combination in product(*(values_of(d, config, flags, network) for d in dests)):
        fixed = {}
        for dest, state in zip(dests, combination, strict=True):
            domain = shared.domain(dest)
            if domain is not None:
                fixed[dest] = domain.states.index(state)
        found = shared.cheapest(fixed)
        if found is not None:
            yield _typed(shared.space.changed(found.changes), prepared)


def _typed(config: Config, prepared: Prepared) -> Config:
    """The same configuration with every given flag spelled so that it says its value."""
    flags = prepared.pack.flags
    given = {d: spelling(flags, d, config.values[d], s) for d, s in config.given.items()}
    return Config(config.values, given)
