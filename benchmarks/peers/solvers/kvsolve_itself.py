"""kvsolve, through the operations that its command line calls.

It answers more than the peers: a repair comes with its place among the equally cheap ones and is
run through the whole program, an option that is left with its edits, one that is not with the
entries that exclude it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.peers.making import Setting, first_scope
from benchmarks.peers.solvers.peer import ALTERNATIVES, MILLION, SAMPLES, Peer
from kvsolve.solve.conflict import conflict
from kvsolve.solve.count import count
from kvsolve.solve.cover import cover
from kvsolve.solve.enumerate import iter_configs
from kvsolve.solve.network import network_of
from kvsolve.solve.options import options
from kvsolve.solve.repair import repair
from kvsolve.solve.sample import sample
from kvsolve.solve.support import Support, support

if TYPE_CHECKING:
    from benchmarks.peers.problem import Model, Query
    from kvsolve.model.context import Config

__all__ = ["Kvsolve"]


class Kvsolve(Peer):
    """kvsolve."""

    distributions = ("kvsolve",)
    how = "the functions behind fix, conflict, options, list, count, sample, cover and matrix"

    def build(self) -> None:
        p = self.problem
        self.setting = Setting(p.release, p.gpu, p.model, p.copies)
        self.prepared, self.held = self.setting.prepared, self.setting.held
        network_of(self.prepared).board_of(self.prepared.pack.flags)

    def warm(self) -> None:
        """What a session makes once its context proves to be used often."""
        self.prepared.expect_many(self.setting.empty)

    def _config(self, query: Query) -> Config:
        return self.setting.config(query.typed)

    def nearest(self, query: Query) -> int | None:
        config = self._config(query)
        found = repair(self.prepared, config, held=self.held, k=1, both_ways=False)
        return found.repairs[0].cost if found.repairs else None

    def alternatives(self, query: Query) -> list[int]:
        config = self._config(query)
        found = repair(
            self.prepared, config, held=self.held, k=ALTERNATIVES, both_ways=False, reach=None
        )
        return [one.cost for one in found.repairs]

    def conflict(self, query: Query) -> tuple[int, int]:
        found = conflict(self.prepared, self._config(query), held=self.held)
        assert found is not None, "the pins hold together"
        return len(found.pins), len(found.codes)

    def options_one(self, query: Query, flag: int) -> list[bool]:
        dest = self.problem.refusing.flags[flag]
        (found,) = options(self.prepared, self._config(query), [dest], held=self.held)
        return [bool(value.ok) for value in found.values]

    def options_all(self, query: Query) -> int:
        found = options(self.prepared, self._config(query), held=self.held)
        return sum(bool(value.ok) for flag in found for value in flag.values)

    def _vary(self, model: Model) -> dict[str, list[object]]:
        whole = first_scope(self.setting)
        return {dest: whole[dest] for dest in model.flags}  # type: ignore[misc]

    def _listed(self, model: Model) -> object:
        vary = dict.fromkeys(model.flags)
        return iter_configs(self.prepared, self.setting.empty, vary, held=self.held)

    def enumerate(self) -> int:
        return sum(1 for _ in self._listed(self.problem.product))  # type: ignore[attr-defined]

    def million(self) -> int:
        found = self._listed(self.problem.wide)
        return sum(1 for _ in islice(found, MILLION))  # type: ignore[call-overload]

    def count(self) -> int:
        vary = dict.fromkeys(self.problem.scope.flags)
        return count(self.prepared, self.setting.empty, vary, held=self.held)

    def sample(self) -> int:
        vary = first_scope(self.setting)
        found = sample(self.prepared, self.setting.empty, vary, number=SAMPLES, seed=1)
        return sum(1 for _ in found)

    def cover_scope(self) -> int:
        vary = first_scope(self.setting)
        found = cover(self.prepared, self.setting.empty, vary=vary, held=self.held)
        assert found.complete
        return len(found.rows)

    def cover(self) -> int:
        found = cover(self.prepared, self.setting.empty, held=self.held)
        assert found.complete
        return len(found.rows)

    def support(self) -> int:
        found = support(self.prepared, self.setting.empty, held=self.held)
        assert found.complete
        classes = [(v, c) for v, own in enumerate(found.lowered.classes) for c in own]
        return sum(
            found.tell(a, _first(own), b, _first(other)) is Support.UNSUPPORTED
            for n, (a, own) in enumerate(classes)
            for b, other in classes[n + 1 :]
            if a != b
        )


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
