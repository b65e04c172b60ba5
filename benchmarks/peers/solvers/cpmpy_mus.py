"""CPMpy: ``mus`` of its explanation tools, pins and entries soft, everything else hard; with PySAT
below, one of the solvers with assumptions that its documentation advises for this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cpmpy
from cpmpy.tools.explain import mus

from benchmarks.peers.solvers.peer import Peer, pin_literals

if TYPE_CHECKING:
    from benchmarks.peers.problem import Query

__all__ = ["CpmPy"]


class CpmPy(Peer):
    """CPMpy."""

    distributions = ("cpmpy",)
    how = "tools.explain.mus over PySAT, which builds its solver anew for each call"

    def build(self) -> None:
        switched = self.problem.switched
        self.bools = cpmpy.boolvar(shape=switched.top + 1)
        self.hard = [cpmpy.any([self._literal(lit) for lit in c]) for c in switched.clauses]

    def _literal(self, number: int) -> Any:
        return self.bools[number] if number > 0 else ~self.bools[-number]

    def conflict(self, query: Query) -> tuple[int, int]:
        pins = pin_literals(self.problem.refusing, query)
        numbers = [*pins, *self.problem.switched.switches]
        soft = [self._literal(number) for number in numbers]
        core = {str(part) for part in mus(soft, self.hard, solver="pysat")}
        inside = [number for number, part in zip(numbers, soft, strict=True) if str(part) in core]
        switches = set(self.problem.switched.switches)
        return sum(n not in switches for n in inside), sum(n in switches for n in inside)
