"""repair: the cheapest edits of a command line that leave nothing to refuse.

A repair is a set of edits; alternatives are the subset-minimal ones, in the order of their price,
one for each set of edited flags (docs/adr/0006-alternatives.md). The search is exact over the
domains of :mod:`kvsolve.solve.domains`; every answer is run through the whole program before it is
given.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from kvsolve.model.edit import Repair
from kvsolve.solve.circuit import is_mark
from kvsolve.solve.completion import fixed_flags
from kvsolve.solve.domains import bare
from kvsolve.solve.judge import CircuitJudge, broken_steps, reports_of, rewritten_flags
from kvsolve.solve.network import network_of
from kvsolve.solve.search import Found, Search
from kvsolve.solve.space import Space, edits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.model.flag import FlagTable
    from kvsolve.solve.check import Prepared

__all__ = ["Repairs", "command_tokens", "repair"]

_MOST_ALSO = 12
_GRACE = 0.5
"""Part of the time limit spent on finding some repair once proving the best had to stop."""

_FARTHEST = 6
"""How much dearer than the best, or than the last where it goes the other way, one may be."""


@dataclass(frozen=True, slots=True)
class Repairs:
    """The answer of a repair.

    Attributes:
        repairs: Best first; the empty repair where nothing was wrong.
        feasible: False where it is proven that the pins allow none; None where not known.
        bound: Proven lower bound of the cost of any repair; None where there is none.
        complete: There are no further alternatives than these.
        runs: How often the program was run, for measurements.
    """

    repairs: tuple[Repair, ...]
    feasible: bool | None
    bound: int | None
    complete: bool
    runs: int


def repair(
    prepared: Prepared,
    config: Config,
    *,
    pins: Iterable[str] = (),
    held: Iterable[str] = (),
    weights: Mapping[str, int] | None = None,
    k: int = 3,
    time_limit: float | None = None,
    both_ways: bool = True,
    reach: int | None = _FARTHEST,
) -> Repairs:
    """Find the cheapest edits that make a configuration valid.

    Args:
        prepared: Pack, context and stage.
        config: What to repair.
        pins: Dests to leave as they are; repairs that make upstream rewrite one rank last.
        held: Dests that are no matter of choice, such as the model; required flags are always held.
        weights: Cost factor of a dest, a positive integer; 1 where absent.
        k: How many alternatives.
        time_limit: Seconds after which to answer with what is known.
        both_ways: See that both a repair that takes a switch away and one that keeps all switches
            are among the ``k`` where there are both.
        reach: How much dearer than the best an alternative may be; None for no limit.
    """
    task = _Task(
        prepared, config, frozenset(pins), frozenset(held), dict(weights or {}), time_limit
    )
    found = task.alternatives(k, reach)
    if both_ways and k > 1:
        found = task.with_the_other_way(found, k)
    return task.answer(found)


class _Task:
    """One repair at work."""

    def __init__(
        self,
        prepared: Prepared,
        config: Config,
        pins: frozenset[str],
        held: frozenset[str],
        weights: Mapping[str, int],
        time_limit: float | None,
    ) -> None:
        self.prepared, self.config, self.pins = prepared, config, pins
        self.network = network_of(prepared)
        self.board = self.network.board_of(prepared.pack.flags)
        self.trace = prepared.trace(config)
        self.broken = broken_steps(prepared, self.trace)
        entry = prepared.pack.catalog.entry
        self.space = Space(
            self.network,
            prepared.pack.flags,
            config,
            held=pins | fixed_flags(prepared, held),
            weights=weights,
            chosen=self._chosen,
            native=frozenset(
                dest
                for step in self.broken
                for dest in entry(step).flags
                if dest in config.given or not self.board.sways(dest)
            ),
        )
        self.judge = CircuitJudge(prepared, self.network, self.space, proof=True)
        self.time_limit = time_limit
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self._lower = 0
        self._unset: dict[str, Any] | None = None
        self.bound: int | None = 0
        self.complete = False

    def _chosen(self, dest: str) -> Any:
        """What upstream makes of a flag that is not given, everything else as it is."""
        default = self.prepared.pack.flags.fields.get(dest)
        if dest not in self.config.given:
            return self.trace.values.get(dest, self.config.values.get(dest, default))
        if dest not in self.network.effective or dest not in self.space.universe.index:
            return default
        if self._unset is None:
            self.board.move(self.space.away)
            written = self.network.effective.keys() & self.space.universe.index.keys()
            self._unset = {d: self.board.unset(d) for d in self.config.given if d in written}
        value = self._unset[dest]
        return default if is_mark(value) else value

    def _search(self, *, intact: bool, greedy: bool = False) -> Search:
        """A search for members, pins literally kept or not."""
        return Search(
            self.space,
            self.judge,
            learned=self.board.learned,
            intact=self.pins if intact else (),
            deadline=self.deadline,
            greedy=greedy,
        )

    def alternatives(self, k: int, reach: int | None) -> list[Found]:
        """The best members, one for each minimal set of changed flags.

        With pins there are two rounds: first the members whose pins arrive as typed, then all.
        """
        out: list[Found] = []
        rounds = (True, False) if self.pins & set(self.config.given) else (False,)
        for intact in rounds:
            search = self._search(intact=intact)
            for found in out:
                search.leave(found.changes)
            if out and reach is not None:
                search.most_cost = out[0].cost + reach
            for found in search.run():
                out.append(found)
                if reach is not None and search.most_cost is None:
                    search.most_cost = found.cost + reach
                if len(out) >= k or not found.changes:
                    break
            self.bound, self.complete = search.bound, search.complete
            if len(out) >= k or not all(found.changes for found in out):
                break
        return out

    def with_the_other_way(self, found: list[Found], k: int) -> list[Found]:
        """Replace the last alternative where all take a switch away, or none does."""
        switches = self._switches()
        ways = {self._takes_away(f, switches) for f in found}
        if len(ways) != 1 or not found[0].changes or not switches or self.complete:
            return found
        if ways == {True}:
            full = self.space.full
            parts = [{v: full[v] & ~off for v, off in switches.items()}]
        else:
            parts = [{v: off} for v, off in switches.items()]
        others = [self._minimal_member(part, found[-1].cost + _FARTHEST) for part in parts]
        best = min((f for f in others if f is not None), key=self._rank, default=None)
        if best is None:
            return found
        return [*found[: k - 1], replace(best, proven=False)]

    def _rank(self, found: Found) -> tuple[int, list[tuple[int, int]]]:
        price = self.space.price
        return found.worth, sorted((v, price(v, s).place) for v, s in found.changes.items())

    def _minimal_member(self, within: Mapping[int, int], most: int) -> Found | None:
        """The best member of a part, unless fewer flags than it changes would do."""
        search = self._search(intact=bool(self.pins))
        search.most_cost = most
        found = search.first(within)
        if found is None:
            return None
        start = self.space.start
        as_is = {v: 1 << at for v, at in enumerate(start) if v not in found.changes}
        for variable in found.changes:
            search = self._search(intact=bool(self.pins))
            if search.first({**as_is, variable: 1 << start[variable]}) is not None:
                return None
        return found

    def _switches(self) -> dict[int, int]:
        """Variables of the typed switches in the broken entries, with the masks of being off."""
        constraints = self.network.constraints
        cones = [constraints[s].cone for s in self.broken if s in constraints]
        dests = {bare(slot) for cone in cones for slot in cone}
        found = {}
        for dest in sorted(dests & set(self.config.given)):
            variable = self.space.variable(dest)
            if variable is not None and self.config.values[dest] is True:
                states = self.space.universe.states[variable]
                order = self.space.order(variable)
                found[variable] = sum(1 << at for at in order if states[at].value is not True)
        return {v: off for v, off in found.items() if off}

    def _takes_away(self, found: Found, switches: Mapping[int, int]) -> bool:
        return any(switches.get(v, 0) >> s & 1 for v, s in found.changes.items())

    def answer(self, found: list[Found]) -> Repairs:
        """Turn members into repairs, checked once more by the whole program."""
        self._lower = self._answer_bound(found) or 0
        repairs = tuple(self._repair(f) for f in found or self._anything())
        exact = self.judge.exact
        feasible = True if repairs else (False if self.complete and exact else None)
        runs = 1 + self.judge.runs
        return Repairs(repairs, feasible, self._answer_bound(found), self.complete, runs)

    def _answer_bound(self, found: list[Found]) -> int | None:
        return found[0].cost if found else self.bound

    def _anything(self) -> list[Found]:
        """Some repair, where the time was too short to find the best."""
        if self.complete or self.time_limit is None:
            return []
        self.deadline = time.monotonic() + _GRACE * self.time_limit
        return list(islice(self._search(intact=False, greedy=True).run(), 1))

    def _repair(self, found: Found) -> Repair:
        config, trace = self.judge.run(found.changes)
        left = broken_steps(self.prepared, trace)
        assert not left, f"the repaired command is still refused at {left}"
        edits = edits_of(self.space, found.changes, config, lambda v: self._also(v, found))
        values = {**config.values, **trace.values}
        code = self.prepared.pack.catalog.entry
        return Repair(
            cost=found.cost,
            edits=edits,
            argv=command_tokens(config, self.prepared.pack.flags),
            removes=tuple(dict.fromkeys(code(s).code for s in self.broken)),
            optimal=self.judge.exact and found.proven,
            bound=found.cost if found.proven else self._lower,
            rewritten=tuple(d for d in rewritten_flags(config, trace) if d in self.config.given),
            reports=tuple(r.code for r in reports_of(self.prepared, values)),
        )

    def _also(self, variable: int, found: Found) -> tuple[Any, ...]:
        """Other values of the same cost that would do, everything else as found, best first."""
        space, at = self.space, found.changes[variable]
        cost = space.price(variable, at).cost
        states = [s for s in space.order(variable) if s not in (at, space.start[variable])]
        states = [s for s in states if space.price(variable, s).cost == cost]
        states.sort(key=lambda state: space.price(variable, state))
        kept = []
        for state in states:
            value = space.universe.states[variable][state]
            if value.typed and self._does({**found.changes, variable: state}):
                kept.append(value.value)
                if len(kept) >= _MOST_ALSO:
                    break
        return tuple(kept)

    def _does(self, changes: dict[int, int]) -> bool:
        """Whether nothing refuses a member."""
        learned = self.board.learned
        if learned.broken(self.space.place(changes)) & learned.hard:
            return False
        return not self.judge.broken(changes)


def command_tokens(config: Config, flags: FlagTable) -> tuple[str, ...]:
    """A configuration as the tokens of a command line, in the order of what is given."""
    values = config.values
    told = (flag_tokens(d, s, values.get(d), flags) for d, s in config.given.items())
    return tuple(chain.from_iterable(told))


def flag_tokens(dest: str, spelled: str, value: Any, flags: FlagTable) -> tuple[str, ...]:
    """One flag of a command line as tokens."""
    flag = flags.by_spelling(spelled) if spelled in flags else flags.flag(dest)
    if not flag.takes_value or (flag.nargs == "?" and value == flag.const):
        return (spelled,)
    if flag.nargs not in (None, "?") and isinstance(value, (list, tuple)):
        return (spelled, *map(_text, value))
    return (spelled, _text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
