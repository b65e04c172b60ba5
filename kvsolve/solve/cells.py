"""Cells of a matrix: whether values go together in a context, and why not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kvsolve.model.context import Config
from kvsolve.solve.check import not_modelled, same_value
from kvsolve.solve.completion import Completions, fixed_flags
from kvsolve.solve.domains import State, default_of, domain_of
from kvsolve.solve.judge import broken_steps, reports_of
from kvsolve.solve.lowering.lower import free_flags, lower
from kvsolve.solve.network import UNKNOWN, Network
from kvsolve.solve.search import Search
from kvsolve.solve.space import spelling
from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.edit import Edit
    from kvsolve.packs.evaluate import Failure, Trace
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.grounds import Literals
    from kvsolve.solve.search import Found

__all__ = ["CellJudge", "CellState", "Ruling"]


_SHORT = 150
"""Effort of a search after which it is first asked whether there is anything to find."""


_MOST_UNDECIDED = 10
"""Completions of which it is not known whether upstream takes them, before giving up."""


class CellState(StrEnum):
    """What a cell says."""

    YES = "yes"
    WITH = "with"
    NO = "no"
    REPORTED = "reported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is known of some values together.

    Attributes:
        state: What is known.
        codes: The entries that refuse it, or the reports on it.
        edits: What must be changed beside the values.
        lacks: Facts that are missing and flags that are not modelled, for ``unknown``.
    """

    state: CellState
    codes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    lacks: tuple[str, ...] = ()


class CellJudge:
    """Judges values of some flags in one context; what one cell teaches serves the next.

    The network is its own, so that an answer depends on the cells asked about before and on
    nothing else: parts of a matrix judged in other processes come out the same.
    """

    def __init__(
        self,
        prepared: Prepared,
        config: Config,
        values: Mapping[str, Sequence[Any]],
        *,
        held: Iterable[str] = (),
        time_limit: float | None = None,
        switches: Callable[[], Switches] | None = None,
    ) -> None:
        """Make a judge.

        Args:
            prepared: Pack, context and stage.
            config: What everything else starts from.
            values: The values that will be asked about, by dest.
            held: Dests that are no matter of choice.
            time_limit: Seconds for each cell; one that needs longer is ``unknown``.
            switches: Gives the entries of the context over all flags that a completion may have,
                with a solver of which nothing was asked; they are made here where None.
        """
        self.prepared, self.config, self.values = prepared, config, values
        self.held, self.time_limit = frozenset(held), time_limit
        self._completions: _Quick | None = None
        self._made: Switches | None = None
        self._make = switches or self._lowered

    def ruling(self, wanted: Mapping[str, Any]) -> Ruling:
        """What is known of values together, everything else at the start's value where it can."""
        config = self.config
        fixed = fixed_flags(self.prepared, self.held)
        for dest, value in wanted.items():
            if dest not in fixed:
                config = self._placed(config, dest, value)
            elif not same_value(value, config.values.get(dest)):
                return Ruling(CellState.UNKNOWN, lacks=(dest,))
        trace = self.prepared.trace(config)
        if broken_steps(self.prepared, trace):
            return self._completed(wanted)
        alone = self._accepted(config, trace, ())
        return self._completed(wanted, alone) if alone.state is CellState.UNKNOWN else alone

    def _placed(self, config: Config, dest: str, value: Any) -> Config:
        """A configuration with a flag at a value; the flag is not given for its default."""
        flags = self.prepared.pack.flags
        values, given = {**config.values, dest: value}, dict(config.given)
        if same_value(value, default_of(flags, dest)):
            given.pop(dest, None)
        else:
            given[dest] = spelling(flags, dest, value, given.get(dest))
        return Config(values, given)

    def _completed(self, wanted: Mapping[str, Any], alone: Ruling | None = None) -> Ruling:
        """The same where the values alone are refused: the cheapest edits, or the reason.

        Args:
            wanted: The values.
            alone: What is known of them where nothing refuses them but a fact is missing.
        """
        shared = self._shared()
        limit = self.time_limit
        shared.set_deadline(None if limit is None else time.monotonic() + limit)
        fixed = self._states(shared, wanted)
        found, settled = shared.quickly(fixed)
        if alone is not None and found is None:
            return alone
        if not settled:
            excluded = self._excluded(wanted)
            if excluded is not None:
                return excluded
            found = shared.cheapest(fixed)
            if found is None:
                return Ruling(CellState.UNKNOWN)
        if found is None:
            steps = shared.culprits(shared.masks(fixed))
            return Ruling(CellState.NO, tuple(dict.fromkeys(map(shared.code, steps))))
        first = alone or self._member(shared, found, fixed)
        if first.state is not CellState.UNKNOWN:
            return first
        return next(
            (r for r in self._further(shared, found, fixed) if r.state is not CellState.UNKNOWN),
            first,
        )

    def _member(self, shared: _Quick, found: Found, fixed: Mapping[str, int]) -> Ruling:
        """The state of a completion that nothing refuses."""
        config = shared.space.changed(found.changes)
        return self._accepted(config, self.prepared.trace(config), shared.edits(found, fixed))

    def _further(self, shared: _Quick, found: Found, fixed: Mapping[str, int]) -> Iterator[Ruling]:
        """Dearer completions, of which some may be known where the cheapest are not."""
        search, masks = shared.another(), shared.masks(fixed)
        next_: Found | None = found
        for _ in range(_MOST_UNDECIDED):
            if next_ is None:
                return
            trace = self.prepared.trace(shared.space.changed(next_.changes))
            for literals in shared.doubts(next_, trace):
                search.forbid(literals)
            next_ = search.first(masks)
            if next_ is not None:
                yield self._member(shared, next_, fixed)

    def _excluded(self, wanted: Mapping[str, Any]) -> Ruling | None:
        """The reason against values, None where something valid has them.

        The search for the cheapest is long where there is nothing. The SAT solver sees that soon,
        but is not told what anything costs.
        """
        if self._made is None:
            self._made = self._make()
        switches, literals = self._made, []
        lowered = switches.lowered
        for dest, value in wanted.items():
            at = lowered.position.get(dest)
            if at is not None:
                states = enumerate(lowered.states[at])
                state = next(n for n, s in states if same_value(s.value, value))
                literals += switches.clauses.state(at, state)
        steps = switches.needed(switches.of, literals)
        if not steps:
            return None
        code = self.prepared.pack.catalog.entry
        codes = tuple(dict.fromkeys(str(code(max(s, ~s)).code) for s in steps))
        return Ruling(CellState.UNKNOWN if any(s < 0 for s in steps) else CellState.NO, codes)

    def _lowered(self) -> Switches:
        return Switches(lower(self.prepared, self.config, vary=self._varying()))

    def _varying(self) -> dict[str, tuple[State, ...] | None]:
        """The flags that a completion may have, those asked about with just their values.

        A default that is typed is a state of its own: some entries ask whether a flag is given.
        """
        flags, network = self.prepared.pack.flags, self._shared().network
        fixed = fixed_flags(self.prepared, self.held)
        varying: dict[str, tuple[State, ...] | None] = {
            dest: domain_of(dest, self.config, flags, network.literals).states
            for dest in free_flags(self.prepared, network)
            if dest not in fixed and dest not in self.config.given
        }
        for dest, values in self.values.items():
            if dest not in fixed:
                default = default_of(flags, dest)
                varying[dest] = tuple(State(v, not same_value(v, default)) for v in values)
        return varying

    def _accepted(self, config: Config, trace: Trace, edits: tuple[Edit, ...]) -> Ruling:
        """The state of what nothing refuses."""
        missing = dict.fromkeys(_missing(self.prepared, trace))
        missing |= dict.fromkeys(not_modelled(self.prepared.pack, config))
        if missing:
            return Ruling(CellState.UNKNOWN, (), edits, tuple(missing))
        reports = reports_of(self.prepared, {**config.values, **trace.values})
        if reports:
            return Ruling(CellState.REPORTED, tuple(r.code for r in reports), edits)
        return Ruling(CellState.WITH if edits else CellState.YES, (), edits)

    def _shared(self) -> _Quick:
        if self._completions is None:
            prepared = self.prepared
            self._completions = _Quick(
                prepared,
                self.config,
                free=self.values,
                held=self.held,
                also=self.values,
                network=Network(prepared.inlined, prepared.facts, prepared.judges),
            )
        return self._completions

    def _states(self, shared: Completions, wanted: Mapping[str, Any]) -> dict[str, int]:
        """The states that values stand for, the flag not given where that is the same."""
        fixed = {}
        for dest, value in wanted.items():
            domain = shared.domain(dest)
            if domain is not None:
                found = [n for n, s in enumerate(domain.states) if same_value(s.value, value)]
                fixed[dest] = min(found, key=lambda n, d=domain: d.states[n].typed)  # type: ignore[misc]
        return fixed


class _Quick(Completions):
    """Completions that can also be asked for a short while."""

    def quickly(self, fixed: Mapping[str, int]) -> tuple[Found | None, bool]:
        """The best completion, if a short search settles it, and whether it does."""
        search = self._search
        search.most_effort = search.effort + _SHORT
        found = search.first(self.masks(fixed))
        search.most_effort = None
        return found, found is not None or search.complete

    def another(self) -> Search:
        """A search of its own, to forbid things in."""
        return Search(self.space, self._judge, learned=self.learned, deadline=self.deadline)

    def doubts(self, found: Found, trace: Trace) -> Iterator[Literals]:
        """Why it is not known of a completion whether upstream takes it, as clauses."""
        board = self._judge.board
        board.move(self.space.place(found.changes))
        for failure in _unknown(self.prepared, trace):
            node = board.circuit.roots.get(failure.step)
            if node is not None and board.follower.values[node] is UNKNOWN:
                yield board.grounds.value(node)
        start = self.space.start
        yield tuple((v, 1 << found.changes.get(v, at)) for v, at in enumerate(start))


def _missing(prepared: Prepared, trace: Trace) -> Iterator[str]:
    return (failure.detail for failure in _unknown(prepared, trace))


def _unknown(prepared: Prepared, trace: Trace) -> Iterator[Failure]:
    for failure in trace.failures:
        step = failure.step
        if failure.reason == "unknown" and prepared.judges(step) and prepared.decides(step):
            yield failure
