"""Cheapest valid completions: fixed flags stay fixed, the others may be added to.

One search serves many questions about a configuration, and what is learned serves the whole
context; neither has a say in what is answered.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kvsolve.solve.feasible import TooManyRoundsError
from kvsolve.solve.judge import CircuitJudge
from kvsolve.solve.network import network_of
from kvsolve.solve.search import Found, Search
from kvsolve.solve.space import Space, edits_of
from kvsolve.solve.whole import Whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.model.edit import Edit
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import Domain
    from kvsolve.solve.network import Network

__all__ = ["Completions", "fixed_flags"]

_PATIENCE = 300
"""Effort of looking for the cheapest completion before asking whether there is any."""


def fixed_flags(prepared: Prepared, held: Iterable[str] = ()) -> frozenset[str]:
    """Dests that are no matter of choice: the required flags and those named."""
    flags = prepared.pack.flags
    return frozenset(flags.by_spelling(s).dest for s in flags.required) | frozenset(held)


_ROUNDS = 100
"""Members to look at before all entries are made clauses."""
_WHOLE_S = 30.0
"""Seconds that there must be for that."""


class Completions:
    """Answers about one configuration in one context.

    Attributes:
        space: Variables of the flags that may change.
        given: The flags that every completion keeps, as masks.
        proven: Whether the last answer of ``cheapest`` was reached in time.
    """

    def __init__(
        self,
        prepared: Prepared,
        config: Config,
        *,
        free: Iterable[str] = (),
        held: Iterable[str] = (),
        also: Mapping[str, Iterable[Any]] | None = None,
        deadline: float | None = None,
        network: Network | None = None,
    ) -> None:
        self.prepared, self.config, self.deadline = prepared, config, deadline
        self.network = network or network_of(prepared)
        self.space = Space(
            self.network,
            prepared.pack.flags,
            config,
            held=fixed_flags(prepared, held),
            also=also,
        )
        self.learned = self.network.board_of(prepared.pack.flags).learned
        self.given: dict[int, int] = {}
        for dest in sorted(set(config.given) - set(free)):
            variable = self.space.variable(dest)
            if variable is not None:
                self.given[variable] = 1 << self.space.start[variable]
        self.proven = True
        self._whole: Whole | None = None
        self._judge = CircuitJudge(prepared, self.network, self.space)
        self._search = Search(self.space, self._judge, learned=self.learned, deadline=deadline)

    def domain(self, dest: str) -> Domain | None:
        """The values that a flag may take; None where it is fixed."""
        return None if self.space.variable(dest) is None else self.space.domain(dest)

    def masks(self, fixed: Mapping[str, int]) -> dict[int, int]:
        """Fixed states (positions in the flag's domain) and everything given, as masks."""
        masks = dict(self.given)
        for dest, at in fixed.items():
            variable = self.space.variable(dest)
            if variable is not None:
                masks[variable] = 1 << self.space.order(variable)[at]
        return masks

    def cheapest(self, fixed: Mapping[str, int]) -> Found | None:
        """The best completion with some flags in given states.

        Args:
            fixed: Positions in the flags' domains, by dest.

        Returns:
            None where there is none, or where the deadline has passed (see ``proven``).
        """
        return self.cheapest_within(self.masks(fixed))

    def cheapest_within(self, masks: Mapping[int, int]) -> Found | None:
        """As ``cheapest``, of what lies within some masks."""
        self.proven = True
        self._search.most_effort = self._search.effort + _PATIENCE
        found = self._search.first(masks)
        if found is None and not self._search.complete:
            if not self.leaves_something(masks):
                return None
            self._search.most_effort = None
            found = self._search.first(masks)
            self.proven = self._search.complete
        return found

    def leaves_something(self, masks: Mapping[int, int]) -> bool | None:
        """Whether anything valid lies within masks; None where the deadline passes before."""
        single = all(mask & (mask - 1) == 0 for mask in masks.values())
        roomy = self.deadline is None or self.deadline - time.monotonic() > _WHOLE_S
        try:
            return self._has_member(masks, _ROUNDS if single and roomy else None)
        except TooManyRoundsError:
            self._whole = self._whole or Whole(self.prepared, self.space)
            return self._whole.leaves_something(masks)
        except TimeoutError:
            self.proven = False
            return None

    def _has_member(self, masks: Mapping[int, int], most_rounds: int | None) -> bool:
        feasibility = self._judge.board.feasibility
        found = feasibility.member(self.space, self._judge, masks, self.deadline, most_rounds)
        return found is not None

    def set_deadline(self, deadline: float | None) -> None:
        """Answer later questions by this reading of ``time.monotonic``."""
        self.deadline = self._search.deadline = deadline

    def edits(self, found: Found, fixed: Iterable[str] = ()) -> tuple[Edit, ...]:
        """The edits of a completion beside the flags that were fixed."""
        fixed = frozenset(fixed)
        kept = {v: s for v, s in found.changes.items() if self.space.dests[v] not in fixed}
        return edits_of(self.space, kept, self.space.changed(found.changes))

    def refute(self, masks: Mapping[int, int], steps: Collection[int]) -> Search:
        """A search that minds these entries alone; complete where they leave nothing.

        An entry that an earlier crash keeps upstream from reaching counts as if it were reached:
        without the other entry it would be.
        """
        search, _ = self._leftover(masks, steps)
        return search

    def excludes(self, masks: Mapping[int, int], steps: Collection[int]) -> bool:
        """Whether these entries alone leave nothing within the masks."""
        return self.refute(masks, steps).complete

    def _leftover(
        self, masks: Mapping[int, int], steps: Collection[int]
    ) -> tuple[Search, Found | None]:
        """The best member that some entries leave within the masks, and the search for it."""
        steps = frozenset(steps)
        judge = CircuitJudge(self.prepared, self.network, self.space, only=steps)
        search = Search(self.space, judge, learned=self.learned, only=steps, deadline=self.deadline)
        return search, search.first(masks)

    def conflicting(self, masks: Mapping[int, int]) -> frozenset[int] | None:
        """Entries that leave nothing within the masks, None where nothing is to be told.

        They are gathered as upstream would show them: of what the entries so far leave, the best
        is looked at, and the first entry that refuses it is taken in. So the answer depends on
        nothing that was asked before.

        Returns:
            None where something is valid there, or where the deadline has passed.
        """
        steps: set[int] = set()
        whole = CircuitJudge(self.prepared, self.network, self.space)
        while True:
            search, found = self._leftover(masks, steps)
            if found is None:
                return frozenset(steps) if search.complete else None
            broken = whole.broken(found.changes)
            if not broken:
                return None
            steps.add(broken[0])

    def culprits(self, masks: Mapping[int, int]) -> tuple[int, ...]:
        """A minimal set of entries that leaves nothing within the masks, in upstream's order.

        Deletion-based, see Marques-Silva, "Minimal unsatisfiability: models, algorithms and
        applications" (2010). The masks must be known to leave nothing.
        """
        kept = self.conflicting(masks) or frozenset()
        return tuple(sorted(self.needed(masks, kept)))

    def needed(self, masks: Mapping[int, int], steps: frozenset[int]) -> frozenset[int]:
        """A minimal part of some entries that still leaves nothing; later ones go first."""
        for step in sorted(steps, reverse=True):
            if len(steps) > 1 and self.excludes(masks, steps - {step}):
                steps -= {step}
        return steps

    def code(self, step: int) -> str:
        """Code of an entry."""
        entry: Any = self.prepared.pack.catalog.entry(step)
        return str(entry.code)
