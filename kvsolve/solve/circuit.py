"""The constraints of a context as a circuit that follows changes of flags.

A node is a term over several flags; the leaves, *atoms*, are the largest terms over a single flag,
tabulated by its states. A change of a flag is passed on from node to node as far as values differ,
so that a neighbouring configuration costs a few dozen steps rather than a run of the program.

The same circuit runs on sets of states: an atom whose value is not the same for all states of a set
stands for several values, or is *open* where nothing is known of it, as in ternary simulation of
hardware (Een, Mishchenko and Brayton, "Efficient implementation of property directed reachability",
2011). A refusal that stands although atoms are open stands for every value of them.
"""

from __future__ import annotations

from heapq import heappop, heappush
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.arithmetic import ARITHMETIC, COMPARISONS
from kvsolve.model.expression import Crash, Expr, Unknown, can_crash, children
from kvsolve.packs.evaluate import Interpreter
from kvsolve.packs.operations import OPERATIONS, call_function, call_method
from kvsolve.solve.network import CRASHED, MANY, UNKNOWN, Mark, outcome, parts_of
from kvsolve.solve.several import (
    OPEN,
    Several,
    Span,
    applied,
    gathered,
    is_wide,
    joined,
    truth_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kvsolve.model.expression import Operand
    from kvsolve.solve.network import Network
    from kvsolve.solve.universe import Universe

__all__ = ["OPEN", "Circuit", "Follower", "Kind", "Made", "is_broken", "is_mark", "same"]


class Kind:
    """How a node gets its value."""

    AND, OR, NOT, IF, PLAIN, LAZY, LEAF = range(7)


def is_mark(value: Any) -> bool:
    """Whether a value stands for the lack of one."""
    return value is CRASHED or value is UNKNOWN or value is OPEN


class Made(NamedTuple):
    """The nodes of a circuit, each list by node; see :class:`Circuit` for what they are."""

    terms: list[Operand]
    kinds: list[int]
    args: list[tuple[int, ...]]
    parents: list[list[int]]
    variable: list[int]
    tables: list[list[Any] | None]
    constants: list[Any]
    risky: list[bool]
    unsure: list[bool]
    weight: list[int]


class Circuit:
    """Nodes in an order in which operands come first.

    Attributes:
        kinds: How a node gets its value.
        args: Operands of each node.
        parents: Nodes that each is an operand of.
        terms: The term of each node.
        tables: For an atom, its value by state; None for other nodes.
        variable: The variable that an atom reads, -1 for other nodes.
        atoms: By variable, the atoms over it.
        roots: The node of each constraint, by step.
        risky: Whether a node may be without a value.
        unsure: Whether a missing fact may be the reason.
        weight: How many flags a node reads.
    """

    def __init__(self, network: Network, universe: Universe, made: Made | None = None) -> None:
        """Make a circuit.

        Args:
            network: The constraints.
            universe: The states of all flags.
            made: Its nodes, where they were made before.
        """
        self.network, self.universe = network, universe
        self.kinds: list[int] = []
        self.args: list[tuple[int, ...]] = []
        self.parents: list[list[int]] = []
        self.terms: list[Operand] = []
        self.tables: list[list[Any] | None] = []
        self.variable: list[int] = []
        self.constants: list[Any] = []
        self.risky: list[bool] = []
        self.unsure: list[bool] = []
        self.weight: list[int] = []
        self.atoms: list[list[int]] = [[] for _ in self.universe.dests]
        self._node: dict[Any, int] = {}
        self._functions: list[Callable[..., Any] | None] = []
        self._common: dict[tuple[int, int], Any] = {}
        self._alike: dict[tuple[int, int, bool], int] = {}
        self._bound: dict[Expr, bool] = {}
        self._loops: dict[int, dict[str, Any]] = {}
        self._cones: dict[int, frozenset[int]] = {}
        self._between: dict[tuple[int, int], list[int]] = {}
        self._parents_below: dict[int, dict[int, list[int]]] = {}
        if made is not None:
            self._restore(made)
        self.roots = {step: self.add(c.broken) for step, c in network.constraints.items()}
        self.steps: dict[int, list[int]] = {}
        for step, root in self.roots.items():
            self.steps.setdefault(root, []).append(step)

    def _restore(self, made: Made) -> None:
        """Take over the nodes of a circuit that was made before."""
        self.terms, self.kinds, self.args, self.parents = (
            made.terms,
            made.kinds,
            made.args,
            made.parents,
        )
        self.variable, self.tables, self.constants = made.variable, made.tables, made.constants
        self.risky, self.unsure, self.weight = made.risky, made.unsure, made.weight
        self._functions = [None] * len(made.terms)
        self._node = {self._name(operand): at for at, operand in enumerate(made.terms)}
        for number, variable in enumerate(made.variable):
            if variable >= 0:
                self.atoms[variable].append(number)

    def made(self) -> Made:
        """The nodes as they are; values in states met since the start are left aside."""
        full = self.universe.full
        tables = [
            None if table is None else table[: full[variable].bit_length()]
            for table, variable in zip(self.tables, self.variable, strict=True)
        ]
        return Made(
            self.terms,
            self.kinds,
            self.args,
            self.parents,
            self.variable,
            tables,
            self.constants,
            self.risky,
            self.unsure,
            self.weight,
        )

    def add(self, operand: Operand) -> int:
        """The node of an operand, made if need be."""
        key = self._name(operand)
        found = self._node.get(key)
        if found is None:
            found = self._node[key] = self._make(operand)
        return found

    @staticmethod
    def _name(operand: Operand) -> Any:
        if isinstance(operand, Expr):
            return operand
        if isinstance(operand, tuple):
            return ("tuple", *map(Circuit._name, operand))
        return type(operand).__name__, repr(operand)

    def _make(self, operand: Operand) -> int:
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple) and any(isinstance(o, Expr) for o in operand):
                return self._new(operand, Kind.LAZY, tuple(self.add(o) for o in operand))
            return self._new(operand, Kind.LEAF, (), constant=operand)
        owner = self.network.owner(operand)
        if owner == "":
            return self._new(operand, Kind.LEAF, (), constant=self.network.constant_value(operand))
        if owner != MANY:
            return self._atom(operand, owner)
        if operand.op in ("any", "collect"):
            parts = tuple(self.add(part) for part in self._unbound(operand))
            return self._new(operand, Kind.LAZY, parts)
        kind = {"and": Kind.AND, "or": Kind.OR, "not": Kind.NOT, "if": Kind.IF}.get(operand.op)
        if kind is None:
            kind = Kind.PLAIN if self._function(operand) else Kind.LAZY
        return self._new(operand, kind, tuple(self.add(c) for c in children(operand)))

    def _unbound(self, term: Expr) -> Iterator[Expr]:
        """The largest terms below a loop that read none of the variables bound there.

        Terms are shared: below a loop one may stand thousands of times, and is looked at once.
        """
        seen = {term}
        stack = [iter(parts_of(term))]
        while stack:
            part = next(stack[-1], None)
            if part is None:
                stack.pop()
            elif part not in seen:
                seen.add(part)
                if self._reads_bound(part):
                    stack.append(iter(parts_of(part)))
                else:
                    yield part

    def _reads_bound(self, term: Expr) -> bool:
        found = self._bound.get(term)
        if found is None:
            found = term.op == "var" or any(map(self._reads_bound, parts_of(term)))
            self._bound[term] = found
        return found

    def _atom(self, term: Expr, dest: str) -> int:
        variable = self.universe.index.get(dest)
        if variable is None:  # a field without an option never varies
            state = self.universe.fixed(dest)
            value = self.network.single_value(term, dest, state)
            return self._new(term, Kind.LEAF, (), constant=value)
        states = self.universe.states[variable]
        table = [self.network.single_value(term, dest, state) for state in states]
        number = self._new(term, Kind.LEAF, ())
        self.tables[number], self.variable[number] = table, variable
        self.weight[number] = 1
        self.atoms[variable].append(number)
        return number

    def _new(self, operand: Operand, kind: int, args: tuple[int, ...], constant: Any = None) -> int:
        number = len(self.kinds)
        self.kinds.append(kind)
        self.args.append(args)
        self.parents.append([])
        self.terms.append(operand)
        self.tables.append(None)
        self.variable.append(-1)
        self.constants.append(constant)
        is_term = isinstance(operand, (Expr, tuple))
        self.risky.append(is_term and can_crash(operand))
        self.unsure.append(is_term and self.network.is_unsure(operand))
        weight = self.network.support(operand).bit_count() if isinstance(operand, Expr) else 0
        self.weight.append(weight)
        self._functions.append(None)
        for arg in dict.fromkeys(args):
            self.parents[arg].append(number)
        return number

    def _computed(self, node: int) -> Callable[..., Any]:
        """What computes a node, looked up at its first use."""
        term = self.terms[node]
        found = self._functions[node] = self._function(term) if isinstance(term, Expr) else None
        assert found is not None
        return found

    @staticmethod
    def _function(term: Expr) -> Callable[..., Any] | None:
        """What computes a term from the values of its operands; None where that is not enough."""
        if term.op in COMPARISONS or term.op in ARITHMETIC or term.op in ("item", "slice"):
            return OPERATIONS[term.op]
        if term.op == "call":
            return lambda *values: call_function(term.args[0], *values)
        if term.op == "method":
            return lambda first, *rest: call_method(first, term.args[1], *rest)
        if term.op == "tuple":
            return lambda *values: values
        if term.op in ("attr", "hasattr", "isinstance"):
            function, names = OPERATIONS[term.op], term.args[1:]
            return lambda value: function(value, *names)
        return None

    def cone(self, node: int) -> frozenset[int]:
        """A node and all below it."""
        found = self._cones.get(node)
        if found is None:
            seen, stack = {node}, [node]
            while stack:
                new = [a for a in self.args[stack.pop()] if a not in seen]
                seen.update(new)
                stack.extend(new)
            found = self._cones[node] = frozenset(seen)
        return found

    def between(self, variable: int, node: int) -> list[int]:
        """What depends on a variable on the way to a node, its atoms left out, in order."""
        found = self._between.get((variable, node))
        if found is None:
            cone, seen = self.cone(node), set[int]()
            stack = [atom for atom in self.atoms[variable] if atom in cone]
            while stack:
                new = [p for p in self.parents[stack.pop()] if p in cone and p not in seen]
                seen.update(new)
                stack.extend(new)
            found = self._between[variable, node] = sorted(seen)
        return found

    def near(self, node: int) -> dict[int, list[int]]:
        """For nodes below one what reads them there; filled by who asks for it."""
        return self._parents_below.setdefault(node, {})

    def at(self, atom: int, state: int) -> Any:
        """The value of an atom in a state of its flag."""
        table = self.tables[atom]
        assert table is not None
        if state >= len(table):
            variable = self.variable[atom]
            dest, states = self.universe.dests[variable], self.universe.states[variable]
            term: Any = self.terms[atom]
            new = states[len(table) :]
            table.extend(self.network.single_value(term, dest, s) for s in new)
        return table[state]

    def common(self, atom: int, mask: int) -> Any:
        """The value that an atom has in all states of a mask, or what stands for several."""
        key = atom, mask
        found = self._common.get(key, self)
        if found is self and mask < 0:
            found = self._common[key] = OPEN
        elif found is self:
            values = [self.at(atom, s) for s in range(mask.bit_length()) if mask >> s & 1]
            alike = all(same(v, values[0]) for v in values[1:])
            found = self._common[key] = values[0] if alike else gathered(values)
        return found

    def alike(self, atom: int, state: int, truth: bool) -> int:
        """The states in which an atom has the value (or only the truth) that it has in one."""
        key = atom, state, truth
        found = self._alike.get(key)
        if found is None:
            own = self.at(atom, state)
            by_truth = truth and not is_mark(own)
            size = self.universe.full[self.variable[atom]].bit_length()
            found = 1 << state
            for at in range(size):
                other = self.at(atom, at)
                if same(other, own) or (by_truth and _agree(other, own)):
                    found |= 1 << at
            self._alike[key] = found
        return found

    def value(self, node: int, values: list[Any], strict: bool) -> Any:
        """The value of a node from those of its operands.

        Args:
            node: Not an atom.
            values: Value by node.
            strict: Count on nothing that a crash before it could prevent. Otherwise a value may
                stand for itself or a crash, which stops upstream as well.
        """
        kind, args = self.kinds[node], self.args[node]
        if kind == Kind.AND:
            return self.connective(args, values, False, strict)
        if kind == Kind.OR:
            return self.connective(args, values, True, strict)
        if kind == Kind.NOT:
            return negated(values[args[0]])
        if kind == Kind.IF:
            return self._choice(args, values, strict)
        if kind == Kind.LAZY:
            return self._lazily(node, values)
        operands = [values[a] for a in args]
        wide = False
        for operand in operands:
            kind_of = type(operand)
            if kind_of is Mark:  # nothing is certain behind one that is open
                return operand
            wide = wide or kind_of is Several or kind_of is Span
        function = self._functions[node] or self._computed(node)
        if wide:
            return applied(_name_of(self.terms[node]), function, operands)
        try:
            return function(*operands)
        except Unknown:
            return UNKNOWN
        except Exception:
            return CRASHED

    def connective(
        self, args: tuple[int, ...], values: list[Any], decisive: bool, strict: bool
    ) -> Any:
        """Kleene's, as :meth:`kvsolve.packs.evaluate.Interpreter.connective`."""
        open_ = doubt = danger = False
        for arg in args:
            value = values[arg]
            if value is decisive:
                return OPEN if danger else decisive
            if value is True or value is False:
                continue
            if value is OPEN:
                open_ = True
                danger = danger or (strict and self.risky[arg])
            elif value is CRASHED:
                if open_:
                    return OPEN
                if not doubt:
                    return CRASHED
            elif value is UNKNOWN:
                doubt = True
            else:
                truth = truth_of(value)
                if truth is decisive:
                    return OPEN if danger else decisive
                if truth is OPEN:
                    open_ = True
                    danger = danger or (strict and self.risky[arg])
        if open_:
            return OPEN
        return UNKNOWN if doubt else not decisive

    def _choice(self, args: tuple[int, ...], values: list[Any], strict: bool) -> Any:
        test, then, other = values[args[0]], values[args[1]], values[args[2]]
        if test is OPEN or (is_wide(test) and test.truth is None):
            return OPEN if strict and self.risky[args[0]] else joined(then, other)
        if is_mark(test):
            return test
        return then if truth_of(test) else other

    def _lazily(self, node: int, values: list[Any]) -> Any:
        """The value of a term that does not read all of its operands."""
        args = self.args[node]
        found = [values[a] for a in args]
        for value in found:
            if value is OPEN or is_wide(value):
                return OPEN
        term = self.terms[node]
        if isinstance(term, tuple):
            return next((v for v in found if is_mark(v)), tuple(found))
        assert isinstance(term, Expr)
        if term.op in ("any", "collect"):
            return self._loop(node, term, found)
        if term.op == "table":
            return _table(found)
        known = {
            part: v
            for a, v in zip(args, found, strict=True)
            if isinstance(part := self.terms[a], Expr)
        }
        return outcome(_Ready({}, self.network.facts, known), term)

    def _loop(self, node: int, term: Expr, found: list[Any]) -> Any:
        """A loop: what does not read its variable has values already; the same give the same."""
        memory = self._loops.setdefault(node, {})
        key = repr(found)
        value = memory.get(key, self)
        if value is self:
            parts: list[Any] = [self.terms[a] for a in self.args[node]]
            known = dict(zip(parts, found, strict=True))
            value = memory[key] = outcome(_Ready({}, self.network.facts, known), term)
        return value


class Follower:
    """The values of all nodes under changing states of the flags.

    Attributes:
        circuit: The nodes.
        values: Value of each node.
        now: Mask of each variable that is elsewhere than at the start.
        broken: Roots of refusals that stand.
        steps: Values passed on so far, for measurements.
    """

    def __init__(self, circuit: Circuit, start: list[int], *, strict: bool = False) -> None:
        """Make a follower.

        Args:
            circuit: The nodes.
            start: Mask of each variable to begin with.
            strict: See :meth:`Circuit.value`.
        """
        self.circuit, self.base, self.strict = circuit, start, strict
        self.now: dict[int, int] = {}
        self.values: list[Any] = []
        self.broken: set[int] = set()
        self.steps = 0
        self._queued = bytearray()
        self._within: frozenset[int] | None = None
        self._near: dict[int, list[int]] = {}

    def within(self, node: int) -> Follower:
        """A follower that keeps to what is below a node, from the start on."""
        self.follow({})
        made = Follower(self.circuit, self.base, strict=self.strict)
        made.values, made._queued = self.values.copy(), self._queued
        made._within = self.circuit.cone(node)
        made._near = self.circuit.near(node)
        return made

    def grow(self) -> None:
        """Take in nodes that were added to the circuit."""
        circuit, values = self.circuit, self.values
        for node in range(len(values), len(circuit.kinds)):
            variable = circuit.variable[node]
            if variable >= 0:
                mask = self.now.get(variable, self.base[variable])
                values.append(circuit.common(node, mask))
            elif circuit.kinds[node] == Kind.LEAF:
                values.append(circuit.constants[node])
            else:
                values.append(None)
                values[node] = circuit.value(node, values, self.strict)
            if node in circuit.steps and is_broken(values[node]):
                self.broken.add(node)
        self._queued.extend(bytes(len(values) - len(self._queued)))

    def follow(self, masks: Mapping[int, int]) -> None:
        """Go where each variable has its mask, the others being as at the start."""
        if len(self.values) != len(self.circuit.kinds):
            self.grow()
        now, base = self.now, self.base
        heap: list[int] = []
        for variable in [v for v in now if v not in masks]:
            del now[variable]
            self._turn(variable, base[variable], heap)
        for variable, mask in masks.items():
            if now.get(variable, base[variable]) != mask:
                now[variable] = mask
                self._turn(variable, mask, heap)
        self._settle(heap)

    def put(self, variable: int, mask: int) -> None:
        """Move one variable."""
        heap: list[int] = []
        if mask == self.base[variable]:
            self.now.pop(variable, None)
        else:
            self.now[variable] = mask
        self._turn(variable, mask, heap)
        self._settle(heap)

    def _turn(self, variable: int, mask: int, heap: list[int]) -> None:
        circuit, values, within = self.circuit, self.values, self._within
        for atom in circuit.atoms[variable]:
            if within is not None and atom not in within:
                continue
            value, old = circuit.common(atom, mask), values[atom]
            if value is not old and not same(value, old):
                self._change(atom, value, heap)

    def _change(self, node: int, value: Any, heap: list[int]) -> None:
        """Give a node its value, and queue what reads it."""
        self.values[node] = value
        self.steps += 1
        if node in self.circuit.steps:
            (self.broken.add if is_broken(value) else self.broken.discard)(node)
        queued = self._queued
        for parent in self._parents(node):
            if not queued[parent]:
                queued[parent] = 1
                heappush(heap, parent)

    def _parents(self, node: int) -> Sequence[int]:
        """What reads a node, of the nodes that this follower keeps to."""
        within = self._within
        if within is None:
            return self.circuit.parents[node]
        found = self._near.get(node)
        if found is None:
            found = self._near[node] = [p for p in self.circuit.parents[node] if p in within]
        return found

    def _settle(self, heap: list[int]) -> None:
        """Pass changes on; written in one piece, as it is where searches spend their time."""
        circuit, values, strict, queued = self.circuit, self.values, self.strict, self._queued
        kinds, args, connective = circuit.kinds, circuit.args, circuit.connective
        while heap:
            node = heappop(heap)
            queued[node] = 0
            kind, old = kinds[node], values[node]
            if kind < 2:  # AND, OR
                value = connective(args[node], values, kind == 1, strict)
            elif kind == 2:  # NOT
                value = negated(values[args[node][0]])
            elif kind == 3 and (test := values[args[node][0]]) is True:  # IF
                value = values[args[node][1]]
            elif kind == 3 and test is False:
                value = values[args[node][2]]
            else:
                value = circuit.value(node, values, strict)
            if value is not old and not same(value, old):
                self._change(node, value, heap)


def is_broken(value: Any) -> bool:
    """Whether a refusal's guard with this value stops upstream."""
    if value is True or value is False:
        return bool(value)
    return value is CRASHED or (not is_mark(value) and truth_of(value) is True)


def negated(value: Any) -> Any:
    """``not value``, a mark being left as it is."""
    if value is True or value is False:
        return not value
    if is_mark(value):
        return value
    truth = truth_of(value)
    return truth if truth is OPEN else not truth


class _Ready(Interpreter):
    """Evaluates a term whose operands have their values already."""

    def __init__(
        self, slots: dict[tuple[str, int], Any], facts: Any, known: Mapping[Expr, Any]
    ) -> None:
        super().__init__(slots, facts)
        self.known = known

    def value(self, operand: Operand) -> Any:
        found = self.known.get(operand, self) if isinstance(operand, Expr) else self
        if found is self:
            return super().value(operand)
        return _unmarked(found)


def _name_of(term: Operand) -> str:
    """What an operation is called: a call by its function."""
    assert isinstance(term, Expr)
    return str(term.args[0]) if term.op == "call" else term.op


def _table(found: list[Any]) -> Any:
    """The dictionary of the rows (key, condition, value) whose condition holds."""
    out: dict[Any, Any] = {}
    for key, condition, value in zip(found[::3], found[1::3], found[2::3], strict=True):
        if is_mark(condition):
            return condition
        if condition:
            if is_mark(key) or is_mark(value):
                return key if is_mark(key) else value
            try:
                out[key] = value
            except TypeError:
                return CRASHED
    return out


def _unmarked(value: Any) -> Any:
    if value is CRASHED:
        raise Crash("crash")
    if value is UNKNOWN:
        raise Unknown("fact")
    return value


def _agree(a: Any, b: Any) -> bool:
    return not is_mark(a) and not is_mark(b) and bool(a) is bool(b)


def same(a: Any, b: Any) -> bool:
    """Whether two values cannot be told apart."""
    if a is b:
        return True
    if type(a) is not type(b) or type(a) is Mark:
        return False
    if isinstance(a, (list, tuple, dict, frozenset, set)):
        return _same_parts(a, b)
    return bool(a == b)


def _same_parts(a: Any, b: Any) -> bool:
    """Whether two containers of one type cannot be told apart; the parts are mostly identical."""
    if len(a) == len(b) and not isinstance(a, (frozenset, set)) and all(map(is_, a, b)):
        return not isinstance(a, dict) or all(map(same, a.values(), b.values()))
    return bool(a == b) and repr(a) == repr(b)
