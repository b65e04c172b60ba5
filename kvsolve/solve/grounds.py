"""Why a node of the circuit has its value: states of flags that suffice, as weak as they get.

The value is first followed down to the atoms, taking of several sufficient operands the one that
reads the fewest flags. Then flags are opened one by one and further states let in, as long as the
value stands in the circuit over sets of states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.solve.circuit import OPEN, Circuit, Follower, Kind, is_broken, is_mark, same
from kvsolve.solve.network import CRASHED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Grounds", "Literals"]

Literals = tuple[tuple[int, int], ...]
"""A reason: pairs of a variable and the mask of the states that it may stand in."""

_EVERYTHING = -1
"""The mask of all states, those included that nobody has typed yet."""


class Grounds:
    """Explains values of a circuit.

    Attributes:
        circuit: The nodes.
        now: The values to explain.
    """

    def __init__(self, circuit: Circuit, now: Follower) -> None:
        self.circuit, self.now = circuit, now
        open_ = [_EVERYTHING] * len(circuit.atoms)
        self._sets = {strict: Follower(circuit, open_, strict=strict) for strict in (False, True)}
        self._classes: dict[tuple[int, ...], list[int]] = {}
        self._told: dict[tuple[int, Literals], Literals] = {}
        self._read_by: dict[int, frozenset[int]] = {}

    def refusal(self, root: int) -> Literals:
        """What suffices for a refusal that stands now."""
        here = self.now.now
        read = self.variables(root)
        key = root, tuple(sorted((v, mask) for v, mask in here.items() if v in read))
        found = self._told.get(key)
        if found is None:
            found = self._widened(root, self._below(root, truth=True), is_broken)
            self._told[key] = found
        return found

    def variables(self, node: int) -> frozenset[int]:
        """The variables that a node depends on."""
        found = self._read_by.get(node)
        if found is None:
            circuit = self.circuit
            found = frozenset(circuit.variable[part] for part in circuit.cone(node))
            self._read_by[node] = found
        return found

    def suffices(self, node: int, masks: Mapping[int, int], holds: Callable[[Any], bool]) -> bool:
        """Whether a node's value is such wherever flags are within masks, typed anew or not."""
        sets = self._sets[self.circuit.unsure[node]].within(node)
        sets.follow(masks)
        return holds(sets.values[node])

    def ordered(self, masks: Mapping[int, int]) -> dict[int, int]:
        """Masks in the order in which they are best done without: first what nobody changed."""
        order = sorted(masks, key=lambda v: (self._state(v) != self._rest(v), -v))
        return {variable: masks[variable] for variable in order}

    def value(self, node: int) -> Literals:
        """What suffices for the value that a node has now, or for a crash of it."""
        if node >= len(self.now.values):
            self.now.grow()
        own = self.now.values[node]
        found = self._below(node, truth=False)
        return self._widened(node, found, lambda value: value is not OPEN and same(value, own))

    def stands_at(self, variable: int, mask: int) -> bool:
        """Whether a mask holds the state that a variable has now."""
        return bool(mask >> self._state(variable) & 1)

    def _state(self, variable: int) -> int:
        mask = self.now.now.get(variable, self.now.base[variable])
        return mask.bit_length() - 1

    def _below(self, node: int, *, truth: bool) -> dict[int, int]:
        """Masks of variables, from the atoms that decided."""
        circuit, values = self.circuit, self.now.values
        strict = circuit.unsure[node]
        masks: dict[int, int] = {}
        stack, seen = [(node, truth)], set()
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            node, truth = item
            variable = circuit.variable[node]
            if variable >= 0:
                mask = circuit.alike(node, self._state(variable), truth)
                masks[variable] = masks.get(variable, _EVERYTHING) & mask
                continue
            args = circuit.args[node]
            kind = circuit.kinds[node]
            if kind in (Kind.AND, Kind.OR):
                stack.extend((a, True) for a in self._deciding(node, args, kind, strict))
            elif kind == Kind.IF:
                stack.append((args[0], True))
                if not is_mark(values[args[0]]):
                    stack.append((args[1 if values[args[0]] else 2], truth))
            elif kind == Kind.NOT:
                stack.append((args[0], True))
            else:
                stack.extend((a, False) for a in self._operands(kind, args))
        return masks

    def _operands(self, kind: int, args: tuple[int, ...]) -> tuple[int, ...]:
        """The operands of an operation up to the first without a value."""
        if kind == Kind.PLAIN:
            for number, arg in enumerate(args, 1):
                if is_mark(self.now.values[arg]):
                    return args[:number]
        return args

    def _deciding(self, node: int, args: tuple[int, ...], kind: int, strict: bool) -> list[int]:
        """The operands that a connective's value rests on."""
        circuit, values = self.circuit, self.now.values
        own, decisive = values[node], kind == Kind.OR
        if own is CRASHED:
            crash = next(n for n, a in enumerate(args, 1) if values[a] is CRASHED)
            return list(args[:crash])
        if is_mark(own) or bool(own) is not decisive:
            return list(args)
        best: tuple[int, list[int]] | None = None
        before: list[int] = []
        behind = 0
        for arg in args:
            value = values[arg]
            if not is_mark(value) and bool(value) is decisive:
                weight = behind + circuit.weight[arg]
                if best is None or weight < best[0]:
                    best = weight, [*before, arg]
            if strict and circuit.risky[arg]:
                before.append(arg)
                behind += circuit.weight[arg]
        assert best is not None
        return best[1]

    def _widened(
        self, node: int, masks: Mapping[int, int], holds: Callable[[Any], bool]
    ) -> Literals:
        """The masks with flags left out and states let in, as far as the value stands."""
        sets = self._sets[self.circuit.unsure[node]].within(node)
        sets.follow(masks)
        left = dict(masks)
        if holds(sets.values[node]):
            for variable in self.ordered(left):
                if len(left) > 1:
                    sets.put(variable, _EVERYTHING)
                    if holds(sets.values[node]):
                        del left[variable]
                    else:
                        sets.put(variable, left[variable])
            for variable in sorted(left):
                left[variable] = self._let_in(sets, node, variable, left[variable], holds)
        return tuple(sorted(left.items()))

    def _rest(self, variable: int) -> int:
        return self.circuit.universe.rest[variable]

    def _let_in(
        self,
        sets: Follower,
        node: int,
        variable: int,
        mask: int,
        holds: Callable[[Any], bool],
    ) -> int:
        """A variable's mask with every class of states for which the value stands too."""
        found = mask
        for group in self._alike(node, variable):
            if group & ~found:
                sets.put(variable, group)
                if holds(sets.values[node]):
                    found |= group
        sets.put(variable, found)
        return found

    def _alike(self, node: int, variable: int) -> list[int]:
        """The states of a flag in classes that no atom below a node tells apart."""
        circuit = self.circuit
        cone = circuit.cone(node)
        atoms = tuple(atom for atom in circuit.atoms[variable] if atom in cone)
        found = self._classes.get(atoms)
        if found is None:
            groups: dict[tuple[str, ...], int] = {}
            for state in range(circuit.universe.full[variable].bit_length()):
                values = [circuit.at(atom, state) for atom in atoms]
                signs = tuple([f"{type(v).__name__} {v!r}" for v in values])
                groups[signs] = groups.get(signs, 0) | 1 << state
            found = self._classes[atoms] = list(groups.values())
        return found
