"""What all searches in one context share: the circuit, where it stands, and what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, raw
from kvsolve.solve.circuit import Circuit, Follower
from kvsolve.solve.grounds import Grounds
from kvsolve.solve.nogoods import Clause, NoGoods
from kvsolve.solve.places import Places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.solve.feasible import Feasibility
    from kvsolve.solve.grounds import Literals
    from kvsolve.solve.network import Network
    from kvsolve.solve.proofs import Proofs
    from kvsolve.solve.universe import Universe

__all__ = ["Board"]

_MANY = 20
"""Effective values that a mode of deployment decides at least."""


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

    def __init__(
        self, network: Network, universe: Universe, circuit: Circuit | None = None
    ) -> None:
        self.network, self.universe = network, universe
        self.circuit = Circuit(network, universe) if circuit is None else circuit
        self.follower = Follower(self.circuit, [1 << state for state in universe.rest])
        self.grounds = Grounds(self.circuit, self.follower)
        self.learned = NoGoods(universe)
        self._effective: dict[str, int] = {}
        self._feasibility: Feasibility | None = None
        self._proofs: Proofs | None = None
        self._swayed: frozenset[str] | None = None
        self._places: dict[int, Places] = {}

    @property
    def feasibility(self) -> Feasibility:
        """Tells whether anything is left, made at first use."""
        if self._feasibility is None:
            from kvsolve.solve.feasible import Feasibility

            self._feasibility = Feasibility(self.learned)
        return self._feasibility

    def explain(self, step: int) -> Clause:
        """Why an entry refuses where the circuit stands.

        Where the same check is done in several places, what suffices for one of them to refuse; the
        clause is of no entry by itself then.
        """
        literals = self.proofs.refusal(step)
        weaker = self._places_of(step).weaker(literals)
        return Clause(literals, step) if weaker is None else Clause(weaker)

    def explain_alone(self, step: int) -> Clause:
        """Why an entry refuses where the circuit stands, whatever other entries do."""
        return Clause(self.proofs.refusal(step), step)

    @property
    def proofs(self) -> Proofs:
        """Weakens what is met often, made at first use."""
        if self._proofs is None:
            from kvsolve.solve.proofs import Proofs

            self._proofs = Proofs(self.network, self.universe, self.grounds)
        return self._proofs

    def _places_of(self, step: int) -> Places:
        found = self._places.get(step)
        if found is None:
            steps = self.network.alike(step)
            found = Places(self.grounds, [self.circuit.roots[other] for other in steps])
            self._places.update(dict.fromkeys(steps, found))
        return found

    def sways(self, dest: str) -> bool:
        """Whether what many other flags come to depends on a flag, as on a mode of deployment."""
        if self._swayed is None:
            network, count = self.network, dict[str, int]()
            for slot in network.effective.keys() & self.universe.index.keys():
                term = network.effective[slot]
                read = network.support(term) if isinstance(term, Expr) else 0
                for other in self.universe.dests:
                    if read & network.bit(other):
                        count[other] = count.get(other, 0) + 1
            self._swayed = frozenset(d for d, n in count.items() if n >= _MANY)
        return dest in self._swayed

    def explain_value(self, dest: str) -> Literals:
        """Why a slot has its effective value where the circuit stands."""
        node = self.effective(dest)
        return self.proofs.value(dest, node, self.circuit.terms[node])

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

    def unset(self, dest: str) -> Any:
        """The effective value of a slot if its flag were not given, all else as it stands here."""
        circuit, variable = self.circuit, self.universe.index[dest]
        node = self.effective(dest)
        if node >= len(self.follower.values):
            self.follower.grow()
        values = self.follower.values.copy()
        for atom in circuit.atoms[variable]:
            values[atom] = circuit.at(atom, self.universe.rest[variable])
        for above in circuit.between(variable, node):
            values[above] = circuit.value(above, values, strict=False)
        return values[node]

    def value(self, dest: str) -> Any:
        """The effective value of a slot where the circuit stands, or the mark of its lack."""
        node = self.effective(dest)
        if node >= len(self.follower.values):
            self.follower.grow()
        return self.follower.values[node]
