"""Cheapest valid completions: fixed flags stay fixed, the others may be added to.

One search serves many questions about a context: what it learns in one answers the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.solve.judge import ConstraintJudge, ProgramJudge
from kvsolve.solve.network import network_of
from kvsolve.solve.reasons import Reasoner
from kvsolve.solve.search import Clause, Found, Search
from kvsolve.solve.space import Space, edits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.model.edit import Edit
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import Domain
    from kvsolve.solve.network import Network

__all__ = ["Completions", "fixed_flags"]


def fixed_flags(prepared: Prepared, held: Iterable[str] = ()) -> frozenset[str]:
    """Dests that are no matter of choice: the required flags and those named."""
    flags = prepared.pack.flags
    return frozenset(flags.by_spelling(s).dest for s in flags.required) | frozenset(held)


class Completions:
    """Answers about one configuration in one context.

    Attributes:
        space: Variables of the flags that may change.
        given: The flags that every completion keeps, as masks.
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
        self.given: dict[int, int] = {}
        for dest in sorted(set(config.given) - set(free)):
            variable = self.space.variable(dest)
            if variable is not None:
                self.given[variable] = 1 << self.space.start[variable]
        judge = ProgramJudge(self.prepared, self.network, self.space)
        self._search = Search(self.space, judge, deadline=deadline)

    def domain(self, dest: str) -> Domain | None:
        """The values that a flag may take; None where it is fixed."""
        variable = self.space.variable(dest)
        return None if variable is None else self.space.domains[variable]

    def masks(self, fixed: Mapping[str, int]) -> dict[int, int]:
        """Fixed states by dest, and everything given, as masks."""
        masks = dict(self.given)
        for dest, at in fixed.items():
            variable = self.space.variable(dest)
            if variable is not None:
                masks[variable] = 1 << at
        return masks

    def cheapest(self, fixed: Mapping[str, int]) -> Found | None:
        """The best completion with some flags in given states.

        Returns:
            None where there is none, or where the deadline has passed (see ``proven``).
        """
        return self._search.first(self.masks(fixed))

    def set_deadline(self, deadline: float | None) -> None:
        """Answer later questions by this reading of ``time.monotonic``."""
        self.deadline = self._search.deadline = deadline

    @property
    def proven(self) -> bool:
        """Whether the last answer of ``cheapest`` was reached in time."""
        return self._search.complete

    def edits(self, found: Found, fixed: Iterable[str] = ()) -> tuple[Edit, ...]:
        """The edits of a completion beside the flags that were fixed."""
        fixed = frozenset(fixed)
        kept = {v: s for v, s in found.changes.items() if self.space.dests[v] not in fixed}
        return edits_of(self.space, kept, self.space.changed(found.changes))

    def excludes(self, masks: Mapping[int, int], steps: frozenset[int]) -> bool:
        """Whether these entries alone leave nothing within the masks."""
        return self.refute(masks, steps).complete

    def refute(self, masks: Mapping[int, int], steps: frozenset[int]) -> Search:
        """A search that minds these entries alone; complete where they leave nothing.

        An entry that an earlier crash keeps upstream from reaching counts as if it were reached:
        without the other entry it would be.
        """
        known = self.network.constraints
        constraints = tuple(known[step] for step in sorted(steps) if step in known)
        judge = ConstraintJudge(constraints, Reasoner(self.network, self.space))
        search = Search(self.space, judge, deadline=self.deadline)
        for clause in self._search.clauses:
            if clause.source in steps:
                search.learn(clause)
        search.first(masks)
        for clause in search.clauses:
            if clause.soft is None:
                self._search.learn(clause)
        return search

    def culprits(self, masks: Mapping[int, int]) -> tuple[int, ...]:
        """A minimal set of entries that leaves nothing within the masks, in upstream's order.

        Deletion-based, see Marques-Silva, "Minimal unsatisfiability: models, algorithms and
        applications" (2010). The masks must be known to leave nothing.
        """
        kept = self._suspects(masks)
        for step in sorted(kept, reverse=True):
            if self.excludes(masks, kept - {step}):
                kept -= {step}
        return tuple(sorted(kept))

    def _suspects(self, masks: Mapping[int, int]) -> frozenset[int]:
        """Entries whose clauses were needed to see that nothing is left."""
        sources = frozenset(c.source for c in self._search.clauses if c.source is not None)
        near = self._touched(masks, sources)
        return near if self.excludes(masks, near) else sources

    def _touched(self, masks: Mapping[int, int], sources: frozenset[int]) -> frozenset[int]:
        """Entries with a clause that the masks leave few ways to keep."""
        found: set[int] = set()
        for clause in self._search.clauses:
            if clause.source is not None and self._tight(clause, masks):
                found.add(clause.source)
        return frozenset(found) & sources

    def _tight(self, clause: Clause, masks: Mapping[int, int]) -> bool:
        full = self.space.full
        open_ = [v for v, mask in clause.literals if masks.get(v, full[v]) & ~mask]
        return len(open_) < len(clause.literals)

    def code(self, step: int) -> str:
        """Code of an entry."""
        entry: Any = self.prepared.pack.catalog.entry(step)
        return str(entry.code)
