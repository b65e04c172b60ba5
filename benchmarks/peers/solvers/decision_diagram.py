"""dd: a reduced ordered decision diagram (CUDD) of the first scope, with sifting."""

from __future__ import annotations

from typing import Any

from dd.cudd import BDD

from benchmarks.peers.solvers.peer import Peer, clauses_of

__all__ = ["DecisionDiagram", "diagram"]


class DecisionDiagram(Peer):
    """dd with CUDD."""

    distributions = ("dd",)
    how = "conjunction of the exported clauses in CUDD, reordering on"

    def count(self) -> int:
        top, clauses = clauses_of(self.problem.scope.texts["dimacs"])
        return diagram(top, clauses)


def diagram(top: int, clauses: list[list[int]]) -> int:
    """How many models clauses have: clauses that share variables are put together first."""
    bdd: Any = BDD()
    bdd.configure(reordering=True)
    bdd.declare(*(f"v{n}" for n in range(1, top + 1)))
    names = {n: bdd.var(f"v{n}") for n in range(1, top + 1)}
    whole = bdd.true
    for clause in sorted(clauses, key=lambda c: max(map(abs, c))):
        part = bdd.false
        for literal in clause:
            part |= names[literal] if literal > 0 else ~names[-literal]
        whole &= part
    return int(whole.count(nvars=top))
