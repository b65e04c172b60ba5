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
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

from kvsolve.model.context import Config
from kvsolve.model.edit import Repair
from kvsolve.solve.completion import fixed_flags
from kvsolve.solve.domains import bare
from kvsolve.solve.judge import ProgramJudge, broken_steps, reports_of, rewritten_flags
from kvsolve.solve.network import network_of
from kvsolve.solve.search import Clause, Found, Search
from kvsolve.solve.space import Space, edits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.model.flag import FlagTable
    from kvsolve.solve.check import Prepared

__all__ = ["Repairs", "command_tokens", "repair"]

_MOST_ALSO = 12
_MOST_EFFORT = 600
"""Effort for further alternatives once the best repair is known."""

_MOST_TRIES = 20
_GRACE = 0.5
"""Part of the time limit spent on finding some repair once proving the best had to stop."""

_PATIENCE = 30
"""Members judged after an alternative before its set of flags is left for good."""

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
        reach: How much dearer than the best an alternative may be. Unless None, the effort for
            alternatives is bounded as well, so that a list may be shorter than it could be.
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
        self.trace = prepared.trace(config)
        self.broken = broken_steps(prepared, self.trace)
        self.space = Space(
            self.network,
            prepared.pack.flags,
            config,
            held=pins | fixed_flags(prepared, held),
            weights=weights,
            chosen=self._chosen,
        )
        self.time_limit = time_limit
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.searches: list[Search] = []
        self._lower = 0
        self.bound: int | None = 0
        self.complete = False
        self.exact = True
        self.runs = 1

    def _chosen(self, dest: str) -> Any:
        """What upstream makes of a flag that is not given, everything else as it is."""
        if dest not in self.config.given:
            return self.trace.values.get(dest, self.config.values.get(dest))
        given = {d: s for d, s in self.config.given.items() if d != dest}
        default = self.prepared.pack.flags.fields.get(dest)
        self.runs += 1
        trace = self.prepared.trace(Config({**self.config.values, dest: default}, given))
        return trace.values.get(dest, default)

    def _search(
        self, *, intact: bool, first: Iterable[Clause] = (), greedy: bool = False
    ) -> tuple[Search, ProgramJudge]:
        """A search for members, pins literally kept or not."""
        pins = self.pins if intact else frozenset()
        judge = ProgramJudge(self.prepared, self.network, self.space, intact=pins)
        search = Search(
            self.space, judge, deadline=self.deadline, patience=_PATIENCE, greedy=greedy
        )
        for clause in first:
            search.learn(clause)
        self.searches.append(search)
        return search, judge

    def _members(self, made: tuple[Search, ProgramJudge]) -> Iterator[Found]:
        """What a search finds; its state is kept whenever it stops."""
        search, judge = made
        for found in search.run():
            self._note(search, judge)
            yield found
        self._note(search, judge)

    def _note(self, search: Search, judge: ProgramJudge) -> None:
        self.exact &= judge.exact
        self.runs += judge.runs
        judge.runs = 0
        self.bound, self.complete = search.bound, search.complete

    def alternatives(self, k: int, reach: int | None) -> list[Found]:
        """The best members, one for each set of changed flags.

        With pins there are two rounds: first the members whose pins arrive as typed, then all.
        """
        out: dict[frozenset[int], Found] = {}
        rounds = (True, False) if self.pins & set(self.config.given) else (False,)
        for intact in rounds:
            search, judge = self._search(intact=intact)
            for found in self._members((search, judge)):
                flags = frozenset(found.changes)
                if flags not in out and not _extends(found, out.values()):
                    out[flags] = found
                if reach is not None and search.most_cost is None:
                    search.most_cost = next(iter(out.values())).key[0] + reach
                    search.most_effort = search.effort + _MOST_EFFORT
                if len(out) >= k or not flags:
                    return list(out.values())
        return list(out.values())

    def with_the_other_way(self, found: list[Found], k: int) -> list[Found]:
        """Replace the last alternative where all take a switch away, or none does."""
        switches = self._switches()
        ways = {self._takes_away(f, switches) for f in found}
        if len(ways) != 1 or not found[0].changes or not switches or self.complete:
            return found
        if ways == {True}:
            wanted = [Clause(((v, off),)) for v, off in switches.items()]
        else:
            full = self.space.full
            wanted = [Clause(tuple((v, full[v] & ~off) for v, off in switches.items()))]
        other = self._minimal_member(wanted, found[-1].key[0] + _FARTHEST)
        if other is None:
            return found
        return [*found[: k - 1], replace(other, proven=False)]

    def _minimal_member(self, wanted: list[Clause], most: int) -> Found | None:
        """The best member that meets the clauses wanted and has no valid part."""
        search, _ = self._search(intact=bool(self.pins), first=wanted)
        search.most_cost, search.most_effort = most, _MOST_EFFORT
        for _, found in zip(range(_MOST_TRIES), search.run(), strict=False):
            part = self._valid_part(found)
            if part is None:
                return found
            search.learn(Clause(tuple(sorted((v, 1 << s) for v, s in part.items()))))
        return None

    def _valid_part(self, found: Found) -> dict[int, int] | None:
        """Fewer of a member's changes that would do, if any."""
        items = sorted(found.changes.items())
        for size in range(len(items)):
            for part in combinations(items, size):
                if self._does(dict(part)):
                    return dict(part)
        return None

    def _switches(self) -> dict[int, int]:
        """Variables of the typed switches in the broken entries, with the masks of being off."""
        constraints = self.network.constraints
        cones = [constraints[s].cone for s in self.broken if s in constraints]
        dests = {bare(slot) for cone in cones for slot in cone}
        found = {}
        for dest in sorted(dests & set(self.config.given)):
            variable = self.space.variable(dest)
            if variable is not None and self.config.values[dest] is True:
                states = enumerate(self.space.domains[variable].states)
                found[variable] = sum(1 << at for at, s in states if s.value is not True)
        return {v: off for v, off in found.items() if off}

    def _takes_away(self, found: Found, switches: Mapping[int, int]) -> bool:
        return any(switches.get(v, 0) >> s & 1 for v, s in found.changes.items())

    def answer(self, found: list[Found]) -> Repairs:
        """Turn members into repairs, checked once more by the whole program."""
        self._lower = self._answer_bound(found) or 0
        repairs = tuple(self._repair(f) for f in found or self._anything())
        feasible = True if repairs else (False if self.complete and self.exact else None)
        return Repairs(repairs, feasible, self._answer_bound(found), self.complete, self.runs)

    def _answer_bound(self, found: list[Found]) -> int | None:
        return found[0].key[0] if found else self.bound

    def _anything(self) -> list[Found]:
        """Some repair, where the time was too short to find the best."""
        if self.complete or self.time_limit is None:
            return []
        self.deadline = time.monotonic() + _GRACE * self.time_limit
        bound = self.bound
        made = self._search(intact=False, greedy=True)
        found = list(islice(self._members(made), 1))
        self.bound, self.complete = bound, False
        return found

    def _repair(self, found: Found) -> Repair:
        config = self.space.changed(found.changes)
        trace = self.prepared.trace(config)
        left = broken_steps(self.prepared, trace)
        assert not left, f"the repaired command is still refused at {left}"
        edits = edits_of(self.space, found.changes, config, lambda v: self._also(v, found))
        values = {**config.values, **trace.values}
        code = self.prepared.pack.catalog.entry
        return Repair(
            cost=found.key[0],
            edits=edits,
            argv=command_tokens(config, self.prepared.pack.flags),
            removes=tuple(dict.fromkeys(code(s).code for s in self.broken)),
            optimal=self.exact and found.proven,
            bound=found.key[0] if found.proven else self._lower,
            rewritten=tuple(d for d in rewritten_flags(config, trace) if d in self.config.given),
            reports=tuple(r.code for r in reports_of(self.prepared, values)),
        )

    def _also(self, variable: int, found: Found) -> tuple[Any, ...]:
        """Other values of the same cost that would do, everything else as found, best first."""
        space, at = self.space, found.changes[variable]
        price = space.price[variable]
        states = [s for s in range(len(price)) if s != at and price[s].cost == price[at].cost]
        states.sort(key=price.__getitem__)
        kept = []
        for state in states:
            value = space.domains[variable].states[state]
            if value.typed and self._does({**found.changes, variable: state}):
                kept.append(value.value)
                if len(kept) >= _MOST_ALSO:
                    break
        return tuple(kept)

    def _does(self, changes: dict[int, int]) -> bool:
        """Whether nothing refuses a member."""
        if any(search.excludes(changes) for search in self.searches):
            return False
        self.runs += 1
        return not self.prepared.broken(self.space.changed(changes))


def _extends(found: Found, others: Iterable[Found]) -> bool:
    """Whether a member repeats all changes of another."""
    items = found.changes.items()
    return any(other.changes.items() <= items for other in others)


def command_tokens(config: Config, flags: FlagTable) -> tuple[str, ...]:
    """A configuration as the tokens of a command line, in the order of what is given."""
    out: list[str] = []
    for dest, spelled in config.given.items():
        out.append(spelled)
        flag = flags.by_spelling(spelled) if spelled in flags else flags.flag(dest)
        value = config.values.get(dest)
        if not flag.takes_value or (flag.nargs == "?" and value == flag.const):
            continue
        if flag.nargs not in (None, "?") and isinstance(value, (list, tuple)):
            out.extend(_text(v) for v in value)
        else:
            out.append(_text(value))
    return tuple(out)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
