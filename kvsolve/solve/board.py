"""What all searches in one context share: the circuit, where it stands, and what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import raw
from kvsolve.solve.circuit import Circuit, Follower
from kvsolve.solve.grounds import Grounds
from kvsolve.solve.nogoods import NoGoods

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.solve.network import Network
    from kvsolve.solve.universe import Universe

__all__ = ["Board"]


class Board:
    """The moving parts of a context.

    Nothing here changes what is answered, only how soon: clauses hold in the context whoever
    learned them, and the circuit goes wherever it is asked to.

    Attributes:
        universe: The states of all flags.
        circuit: The constraints.
        follower: The values of the circuit's nodes at the configuration last looked at.
        grounds: Explains those.
        learned: The clauses met so far.
    """

    def __init__(self, network: Network, universe: Universe) -> None:
        self.network, self.universe = network, universe
        self.circuit = Circuit(network, universe)
        self.follower = Follower(self.circuit, [1 << state for state in universe.rest])
        self.grounds = Grounds(self.circuit, self.follower)
        self.learned = NoGoods(universe)
        self._effective: dict[str, int] = {}

    def effective(self, dest: str) -> int:
        """The node of a flag's effective value."""
        found = self._effective.get(dest)
        if found is None:
            term: Any = self.network.effective.get(dest, raw("ref", dest, 0))
            found = self._effective[dest] = self.circuit.add(term)
        return found

    def move(self, at: Mapping[int, int]) -> None:
        """Go to a configuration: the state of each variable not as in an empty command."""
        self.follower.follow({variable: 1 << state for variable, state in at.items()})

    def value(self, dest: str) -> Any:
        """The effective value of a slot where the circuit stands, or the mark of its lack."""
        node = self.effective(dest)
        if node >= len(self.follower.values):
            self.follower.grow()
        return self.follower.values[node]
