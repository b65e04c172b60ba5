"""enumerate: every valid configuration over some flags, lazily, in declared order."""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING

from kvsolve.model.context import Config
from kvsolve.solve.completion import Completions
from kvsolve.solve.count import helped
from kvsolve.solve.grid import Vary, grid_of, values_of
from kvsolve.solve.lowering.configurations import Configurations
from kvsolve.solve.lowering.feasible import Feasible, look_at_clock
from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.lowering.tables import assignments
from kvsolve.solve.network import network_of
from kvsolve.solve.residual import assignments as residual
from kvsolve.solve.space import spelling
from kvsolve.solve.varying import states_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import State

__all__ = ["iter_configs", "iter_projected"]


def iter_configs(
    prepared: Prepared,
    config: Config,
    vary: Vary = (),
    *,
    project: Iterable[str] = (),
    held: Iterable[str] = (),
    time_limit: float | None = None,
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
        time_limit: Seconds after which it is given up.

    Raises:
        KvsolveError: A flag is not an option of the release.
        TimeoutError: The time was up; there may be more.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    wanted = tuple(project)
    if wanted:
        found = iter_projected(prepared, config, wanted, vary=vary, held=held, deadline=deadline)
        yield from found
        return
    lowered = lower(prepared, config, vary=states_of(vary, prepared.pack.flags))
    if not lowered.pending:
        yield from map(Configurations(lowered).at, assignments(lowered, deadline))
        return
    grid = grid_of(prepared, config, vary)
    look_at_clock(deadline)
    for at in residual(grid):
        look_at_clock(deadline)
        one = grid.config_at(at)
        if not is_unknown(prepared, one):
            yield one


def is_unknown(prepared: Prepared, config: Config) -> bool:
    """Whether a fact is missing that a step needs at which upstream may stop."""
    return any(
        f.reason == "unknown" and prepared.judges(f.step) and prepared.decides(f.step)
        for f in prepared.trace(config).failures
    )


def iter_projected(
    prepared: Prepared,
    config: Config,
    project: Iterable[str],
    *,
    vary: Vary = (),
    held: Iterable[str] = (),
    deadline: float | None = None,
) -> Iterator[Config]:
    """For each combination of some flags that can be made valid, its cheapest configuration.

    Raises:
        TimeoutError: The deadline, a reading of ``time.monotonic``, has passed.
    """
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
        look_at_clock(deadline)
        shared.set_deadline(deadline)
        found = shared.cheapest(fixed)
        look_at_clock(deadline)  # a search that was cut short has shown nothing
        if found is None:
            continue
        best: Config | None = shared.space.changed(found.changes)
        if is_unknown(prepared, shared.space.changed(found.changes)):
            # The cheapest that nothing refuses is in doubt; another one may not be.
            states = dict(zip(dests, combination, strict=True))
            best = _surely(prepared, config, states, vary, held, deadline)
        if best is not None:
            yield _typed(best, prepared)


def _surely(
    prepared: Prepared,
    config: Config,
    fixed: Mapping[str, State],
    vary: Vary,
    held: Iterable[str],
    deadline: float | None,
) -> Config | None:
    """Some valid configuration with flags in these states, of which nothing is unknown."""
    lowered = helped(prepared, config, fixed, vary, held)
    lowered = lower(
        prepared,
        config,
        vary={
            dest: (fixed[dest],) if dest in fixed else states
            for dest, states in zip(lowered.dests, lowered.states, strict=True)
        },
    )
    with Feasible(lowered) as feasible:
        chosen = feasible.find((), deadline)
        return None if chosen is None else lowered.config_at(feasible.clauses.first_states(chosen))


def _typed(config: Config, prepared: Prepared) -> Config:
    """The same configuration with every given flag spelled so that it says its value."""
    flags = prepared.pack.flags
    given = {d: spelling(flags, d, config.values[d], s) for d, s in config.given.items()}
    return Config(config.values, given)
