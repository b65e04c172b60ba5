"""allpairspy and covertable: pairwise covering arrays under constraints given as functions.

Both are told the entries over the flags of the first scope; the flags with most values come first,
as both advise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.peers.solvers.peer import Peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.peers.problem import Model, Rule

__all__ = ["AllPairs", "CoverTable"]


class AllPairs(Peer):
    """allpairspy."""

    distributions = ("allpairspy",)
    how = "filter_func: the entries whose flags are all set in the row so far"

    def cover_scope(self) -> int:
        from allpairspy import AllPairs as Array

        model = self.problem.scope
        order = _order(model)
        place = {v: at for at, v in enumerate(order)}
        # An entry is looked at as soon as the last of its flags is set.
        due: list[list[tuple[list[int], Any]]] = [[] for _ in order]
        for rule in model.rules:
            places = [place[v] for v in rule.scope]
            due[max(places)].append((places, rule.compiled()))

        def allows(row: Sequence[int]) -> bool:
            tests = (test for part in due[: len(row)] for test in part)
            return all(test(*(row[p] for p in places)) for places, test in tests)

        return sum(1 for _ in Array([range(model.sizes[v]) for v in order], filter_func=allows))


class CoverTable(Peer):
    """covertable."""

    distributions = ("covertable",)
    how = "constraints: a fn condition per entry, greedy criterion"

    def cover_scope(self) -> int:
        from covertable import make

        model = self.problem.scope
        factors = {f"x{v}": list(range(model.sizes[v])) for v in _order(model)}
        constraints = [_condition(rule) for rule in model.rules]
        return len(make(factors, constraints=constraints))


def _condition(rule: Rule) -> dict[str, Any]:
    names, allows = [f"x{v}" for v in rule.scope], rule.compiled()

    def evaluate(row: Any) -> bool:
        return bool(allows(*(row[name] for name in names)))

    return {"operator": "fn", "requires": names, "evaluate": evaluate}


def _order(model: Model) -> list[int]:
    return sorted(range(len(model.flags)), key=lambda v: -model.sizes[v])
