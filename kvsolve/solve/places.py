"""One refusal in several places: what suffices for *some* of them to stand.

A program that does the same check from several callers, each only where no earlier one did, refuses
whatever fails the check; but which place refuses depends on flags that have nothing to do with it,
and so does the reason of each. A solver over the truth of the nodes below all places shows what
suffices for one of them. Nodes that are no connectives are left free, so that what it shows holds
whatever they come to. A node that breaks stops upstream all the same; one that may be unknown must
have a value in all that the reason allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, walk
from kvsolve.solve.circuit import Kind, is_mark
from kvsolve.solve.network import CRASHED, MANY, UNKNOWN
from kvsolve.solve.nogoods import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.solve.grounds import Grounds, Literals

__all__ = ["Places"]

_PATIENCE = 3
"""Reasons of single places before what they have in common is looked for."""
_MOST_FAILURES = 8
_POSITIVE = {"ne": "eq", "not_in": "in", "is_not": "is"}


class Places:
    """The roots of one refusal.

    Args:
        grounds: Explains the circuit that they are nodes of.
        roots: In upstream's order.
    """

    def __init__(self, grounds: Grounds, roots: Sequence[int]) -> None:
        self.grounds, self.roots = grounds, roots
        self.asked = self.failed = self.found = 0
        self._proof: _Proof | None = None

    def weaker(self, literals: Literals) -> Literals | None:
        """A part of a reason of one place that suffices for some place, its masks widened.

        Returns:
            None where none was found, or it is too soon to look for one.
        """
        self.asked += 1
        if len(self.roots) < 2 or self.asked <= _PATIENCE:
            return None
        if self.failed > self.found + _MOST_FAILURES:
            return None
        if self._proof is None:
            self._proof = _Proof(self.grounds, self.roots)
        found = self._proof.part(literals)
        if found is None:
            self.failed += 1
        else:
            self.found += 1
        return found


class _Proof:
    """Clauses that say that no place refuses."""

    def __init__(self, grounds: Grounds, roots: Iterable[int]) -> None:
        from kvsolve.solve.engines.python_sat import Solver

        self.grounds, self.circuit = grounds, grounds.circuit
        self.clauses: list[list[int]] = [[1]]
        self.known: dict[int, int] = {}
        self.free: dict[Any, int] = {}
        self.top = 1
        for root in roots:
            self.clauses.append([-self.truth(root)])
        self.atoms: dict[int, list[int]] = {}
        self.unsure: list[int] = []
        self.doubts: dict[int, bool] = {}
        for node in self.known:
            variable, kind = self.circuit.variable[node], self.circuit.kinds[node]
            if variable >= 0:
                self.atoms.setdefault(variable, []).append(node)
            if kind in (Kind.PLAIN, Kind.LAZY, Kind.LEAF) and self._may_be_unknown(node):
                self.unsure.append(node)
        self.settled: dict[int, list[tuple[bool | None, Literals]]] = {
            node: [] for node in self.unsure
        }
        self.truths: dict[tuple[int, int], bool | None] = {}
        self.solver = Solver(self.clauses)

    def _may_be_unknown(self, node: int) -> bool:
        """Whether a fact may be missing for a node, as one that depends on arguments may always."""
        circuit = self.circuit
        found = self.doubts.get(node)
        if found is None:
            table, term = circuit.tables[node], circuit.terms[node]
            values = [circuit.constants[node]] if table is None else table
            found = circuit.unsure[node] or any(value is UNKNOWN for value in values)
            found = found or self._asks(term)
            found = found or any(map(self._may_be_unknown, circuit.args[node]))
            self.doubts[node] = found
        return found

    def _asks(self, term: Any) -> bool:
        """Whether an operation, or one below an atom's, may find that a fact is missing."""
        if not isinstance(term, Expr):
            return False
        if self.circuit.network.owner(term) == MANY:
            return term.op == "helper"
        return any(part.op == "helper" for part in walk(term))

    def part(self, literals: Literals) -> Literals | None:
        """The masks of a reason without which some configuration might be refused nowhere."""
        masks = dict(literals)
        needed: dict[int, int] = {}
        settled: list[int] = []
        for node in self.unsure:
            found = self._settled(node)
            if found is None:
                return None
            truth, rests_on = found
            if truth is not None:
                settled.append(self.known[node] if truth else -self.known[node])
            for variable, mask in rests_on:
                needed[variable] = needed.get(variable, masks.get(variable, -1)) & mask
        masks |= needed
        told = {v: self._told(v, mask) for v, mask in masks.items()}
        if not self._clash(told, settled):
            return None
        for variable in sorted(told, reverse=True):
            fewer = {v: atoms for v, atoms in told.items() if v != variable}
            if self._clash(fewer, settled):
                told = fewer
        core = (
            {abs(literal) for literal in self.solver.core} if self._clash(told, settled) else set()
        )
        weaker = {}
        for variable, atoms in told.items():
            deciding = {number: true for number, true in atoms.items() if number in core}
            weaker[variable] = masks[variable] | self._alike(variable, deciding)
        return tuple(sorted((weaker | needed).items()))

    def _settled(self, node: int) -> tuple[bool | None, Literals] | None:
        """The truth that a node has now, and what suffices for it; None where it has none.

        Of an atom only what it takes to be known is told.
        """
        if (variable := self.circuit.variable[node]) >= 0:
            states = range(len(self.circuit.universe.states[variable]))
            known = sum(1 << s for s in states if self.circuit.at(node, s) is not UNKNOWN)
            here = self.grounds.stands_at(variable, known)
            return (None, ((variable, known),)) if here else None
        for truth, rests_on in self.settled[node]:
            if all(self.grounds.stands_at(v, mask) for v, mask in rests_on):
                return truth, rests_on
        value = self.grounds.now.values[node]
        if value is UNKNOWN:
            return None
        found = None if value is CRASHED else bool(value), self.grounds.value(node)
        self.settled[node].append(found)
        return found

    def _told(self, variable: int, mask: int) -> dict[int, bool]:
        """The truth of atoms over a variable that a mask decides, by the atoms' numbers here.

        A state in which an atom breaks counts as either: wherever it is looked at upstream stops.
        """
        found = {}
        for atom in self.atoms.get(variable, ()):
            truth = self._truth(atom, mask)
            if truth is not None:
                number = self.known[atom]
                found[abs(number)] = truth is (number > 0)
        return found

    def _truth(self, atom: int, mask: int) -> bool | None:
        """The truth of an atom in all states of a mask, None where it differs."""
        if (atom, mask) not in self.truths:
            values = [self.circuit.at(atom, state) for state in numbers(mask)]
            told = {None if is_mark(v) else bool(v) for v in values if v is not CRASHED}
            self.truths[atom, mask] = told.pop() if len(told) == 1 else None
        return self.truths[atom, mask]

    def _clash(self, told: Mapping[int, Mapping[int, bool]], settled: Sequence[int]) -> bool:
        """Whether some place must refuse where atoms are as told and some nodes are settled."""
        atoms = [n if true else -n for found in told.values() for n, true in found.items()]
        return not self.solver.solve([*settled, *atoms])

    def _alike(self, variable: int, told: dict[int, bool]) -> int:
        """The states of a flag in which atoms are as told."""
        found = 0
        for state in range(self.circuit.universe.full[variable].bit_length()):
            here = self._told(variable, 1 << state)
            if all(here.get(number) is true for number, true in told.items()):
                found |= 1 << state
        return found

    def truth(self, node: int) -> int:
        """The literal for a node being true, its clauses added."""
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._literal(node)
        return found

    def _literal(self, node: int) -> int:
        circuit = self.circuit
        kind, args = circuit.kinds[node], circuit.args[node]
        if kind == Kind.NOT:
            return -self.truth(args[0])
        if kind in (Kind.AND, Kind.OR):
            sign = 1 if kind == Kind.AND else -1
            return sign * self._all([sign * self.truth(arg) for arg in args])
        if kind == Kind.IF:
            return self._choice(*(self.truth(arg) for arg in args))
        constant = circuit.constants[node]
        if kind == Kind.LEAF and circuit.variable[node] < 0 and not is_mark(constant):
            return 1 if constant else -1
        return self._free(node)

    def _new(self) -> int:
        self.top += 1
        return self.top

    def _all(self, parts: list[int]) -> int:
        made = self._new()
        self.clauses += [[-made, part] for part in parts]
        self.clauses.append([made, *(-part for part in parts)])
        return made

    def _choice(self, test: int, then: int, other: int) -> int:
        made = self._new()
        self.clauses += [[-test, -then, made], [-test, then, -made]]
        self.clauses += [[test, -other, made], [test, other, -made]]
        return made

    def _free(self, node: int) -> int:
        """A comparison has the number of its negation, with the other sign."""
        term = self.circuit.terms[node]
        if not isinstance(term, Expr):
            return self._new()
        positive = _POSITIVE.get(term.op)
        key = (positive or term.op, *term.key[1:])
        if key not in self.free:
            self.free[key] = self._new()
        return -self.free[key] if positive else self.free[key]
