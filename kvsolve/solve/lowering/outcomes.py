"""What a term may come to, and when: each outcome of a term with the literal that it holds under.

An outcome is a value, or the mark that upstream crashes (:data:`CRASHED`) or that a fact is missing
(:data:`UNKNOWN`). Terms over one flag are tried out in each of its states. A term over several is
put together from the outcomes of its parts in the order in which upstream evaluates them, so the
result is exact however many flags it reads; nothing is ever expanded over all its flags.
"""

from __future__ import annotations

from itertools import product
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from kvsolve.model.expression import Crash, Expr, Operand, Unknown, children, is_constant, node
from kvsolve.packs.evaluate import Interpreter
from kvsolve.packs.operations import OPERATIONS, call_function, call_method
from kvsolve.solve.domains import State, bare
from kvsolve.solve.lowering.comparing import Comparer, TooManyOutcomesError
from kvsolve.solve.lowering.gates import FALSE, TRUE, Gates
from kvsolve.solve.network import CRASHED, UNKNOWN, outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Encoder", "Outcomes", "TooManyOutcomesError", "Truth"]

_MOST = 30_000
"""Combinations of outcomes that one term may be put together from."""
_WIDEST = 2500
"""Outcomes that one term may have."""
_ALONE = frozenset([int])
"""Types whose values are told apart by equality in a sequence of nothing else."""
_NONE, _SEVERAL = -1, -2
_MARKS = (CRASHED, UNKNOWN)

_HUGE = 1e100
_NUMERIC = frozenset(
    ["add", "sub", "mul", "floordiv", "mod", "truediv", "neg", "max", "min", "abs", "round", "ceil",
     "floor", "float", "int"]
)  # fmt: skip
"""Operations that give a number for numbers."""

_T = TypeVar("_T")
Outcomes = dict[Any, tuple[Any, int]]
"""By key of the outcome: the outcome and the literal that it holds under."""
Bindings = tuple[tuple[int, Any], ...]


class Truth:
    """When a condition holds, when upstream crashes on it, when a fact for it is missing.

    Attributes:
        holds: Literal under which it is true.
        fails: Literal under which it is false.
        crashes: Literal under which it crashes.
        unknown: Literal under which it is not known.
    """

    __slots__ = ("crashes", "fails", "holds", "unknown")

    def __init__(self, holds: int, fails: int, crashes: int = FALSE, unknown: int = FALSE) -> None:
        self.holds, self.fails, self.crashes, self.unknown = holds, fails, crashes, unknown

    @property
    def sure(self) -> bool:
        """Whether it is true or false wherever the variables stand."""
        return self.crashes == FALSE and self.unknown == FALSE


class _Slots(dict[tuple[str, int], Any]):
    """Slot values of one state of one flag, on top of those that do not vary."""

    def __init__(self, own: Mapping[tuple[str, int], Any], rest: Mapping[Any, Any]) -> None:
        super().__init__(own)
        self.rest = rest

    def __missing__(self, key: tuple[str, int]) -> Any:
        return self.rest[key]


class Encoder:
    """Encodes terms over the states of some flags into a circuit.

    Args:
        dests: The flags that vary.
        states: The states of each.
        held: Slot values of all other flags.
        facts: Facts by name.
    """

    def __init__(
        self,
        dests: Sequence[str],
        states: Sequence[Sequence[State]],
        held: Mapping[tuple[str, int], Any],
        facts: Mapping[str, Any],
    ) -> None:
        self.facts = facts
        self.gates = Gates([len(s) for s in states])
        self.position = {dest: at for at, dest in enumerate(dests)}
        self.constant = Interpreter(dict(held), facts)
        self._runs = [
            [Interpreter(_Slots(_slots(dest, state), held), facts) for state in domain]
            for dest, domain in zip(dests, states, strict=True)
        ]
        self._owner: dict[Expr, int] = {}
        self._free: dict[Expr, frozenset[int]] = {}
        self._outcomes: dict[tuple[Expr, Bindings], Outcomes] = {}
        self._truths: dict[tuple[Expr, Bindings], Truth] = {}
        self._lacks: dict[tuple[Expr, Bindings], tuple[int, int]] = {}
        self._too_wide: set[tuple[int, Any]] = set()
        self._equals: dict[tuple[Operand, Operand, Bindings], int] = {}
        self.comparer = Comparer(self)
        self._kinds: dict[tuple[Expr, Bindings], Outcomes] = {}

    # What a term reads

    def owner_of(self, operand: Operand) -> int:
        """As ``owner``, of any operand."""
        return self.owner(operand) if isinstance(operand, Expr) else _NONE

    def leaves(self, operand: Operand) -> list[Expr]:
        """The largest terms over a single flag below an operand."""
        found: dict[Expr, None] = {}
        stack, seen = [operand], set[Expr]()
        while stack:
            term = stack.pop()
            if isinstance(term, tuple):
                stack.extend(term)
            elif isinstance(term, Expr) and term not in seen:
                seen.add(term)
                if self.owner(term) >= 0 and not self.free(term):
                    found[term] = None
                elif self.owner(term) != _NONE:
                    stack.extend(children(term))
        return list(found)

    def tried(self, term: Expr, owner: int, state: int, reads: dict[int, int]) -> Any:
        """The value of a term over one flag in a state of it.

        Args:
            term: The term.
            owner: Its flag.
            state: The state.
            reads: Per flag the mask of states that make no difference so far; narrowed.

        Raises:
            Crash: It crashes.
            Unknown: A fact is missing.
        """
        value = outcome(self._runs[owner][state], term)
        _, literal = self.outcomes(term)[_key(value)]
        tested = self.gates.mask(literal)
        if tested is not None:
            reads[owner] = reads.get(owner, -1) & tested[1]
        if value is CRASHED:
            raise Crash("crash")
        if value is UNKNOWN:
            raise Unknown("fact")
        return value

    def owner(self, term: Expr) -> int:
        """The variable that a term reads, negative where it reads none or several."""
        found = self._owner.get(term)
        if found is None:
            if term.op == "ref":
                found = self.position.get(bare(term.args[0]), _NONE)
            else:
                found = _NONE
                for part in _parts(term):
                    other = self.owner(part)
                    if other == _SEVERAL or (found >= 0 and other >= 0 and other != found):
                        found = _SEVERAL
                        break
                    found = max(found, other)
            self._owner[term] = found
        return found

    def varies(self, term: Expr) -> bool:
        """Whether a term reads several flags."""
        return self.owner(term) == _SEVERAL

    def free(self, term: Expr) -> frozenset[int]:
        """The bound variables that a term reads from outside."""
        found = self._free.get(term)
        if found is None:
            if term.op == "var":
                found = frozenset(term.args[:1])
            else:
                found = frozenset[int]().union(*(self.free(part) for part in _parts(term)))
                if term.op in ("any", "collect"):
                    found -= {term.args[0 if term.op == "any" else 1]}
            self._free[term] = found
        return found

    def _within(self, term: Expr, bound: Bindings) -> Bindings:
        if not bound:
            return bound
        free = self.free(term)
        return tuple([b for b in bound if b[0] in free])

    def _kept(self, memo: dict[Any, _T], key: Any, make: Callable[[], _T]) -> _T:
        """What was made before; what failed before fails again at once."""
        found = memo.get(key)
        if found is None:
            if (id(memo), key) in self._too_wide:
                raise TooManyOutcomesError
            try:
                found = memo[key] = make()
            except TooManyOutcomesError:
                self._too_wide.add((id(memo), key))
                raise
        return found

    # Outcomes

    def outcomes(self, operand: Operand, bound: Bindings = ()) -> Outcomes:
        """Every outcome of an operand with its literal; exactly one of them holds."""
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple) and not is_constant(operand):
                return self._combined(list(operand), lambda *parts: parts, bound)
            return {_key(operand): (operand, TRUE)}
        bound = self._within(operand, bound)
        key = operand, bound
        return self._kept(self._outcomes, key, lambda: self._made(operand, bound))

    def _made(self, term: Expr, bound: Bindings) -> Outcomes:
        owner = self.owner(term)
        if owner != _SEVERAL:
            return self._tried(term, owner, bound)
        if term.op in ("and", "or", "not") or (term.op == "call" and term.args[0] == "bool"):
            return _of_truth(self.truth(term, bound))
        if term.op in ("lt", "le", "gt", "ge") and not bound:
            return _of_truth(self.truth(term, bound))
        if term.op in ("is", "is_not") and term.args[1] is None:
            return _of_truth(self.truth(term, bound))
        if term.op == "if":
            return self._conditional(term, bound)
        if term.op in ("eq", "ne") and any(_makes_table(side) for side in term.args):
            return _of_truth(self.truth(term, bound))
        if term.op in ("any", "collect", "pick", "table", "getattr"):
            return self._tabulated(term, bound)
        if _computes(term):
            leaves = self._leaves(term, bound)
            rows = prod(len(self.outcomes(leaf, bound)) for leaf in leaves)
            if rows <= min(self._rows(term, bound), _MOST):
                return self._computed(term, leaves, bound)
        operands = list(children(term))
        return self._combined(operands, _operation(term, self.facts), bound)

    def _leaves(self, term: Expr, bound: Bindings) -> list[Expr]:
        """The distinct terms that a calculation starts from.

        Taken together, not step by step: what a flag is at one place it is at all others.
        """
        found: dict[Expr, None] = {}
        stack = _parts(term)[::-1]
        while stack:
            part = stack.pop()
            if self.owner(part) == _SEVERAL and _computes(part):
                stack.extend(reversed(_parts(part)))
            else:
                found[part] = None
        return sorted(found, key=lambda leaf: -len(self.outcomes(leaf, bound)))

    def _rows(self, term: Expr, bound: Bindings) -> int:
        """Up to how many rows a calculation is worth its tabulation from its leaves.

        It gives fewer numbers than going step by step, which matters where they are used on.
        """
        if term.op not in ("eq", "ne"):
            return _MOST
        return prod(len(self.outcomes(part, bound)) for part in term.args)

    def _computed(self, term: Expr, leaves: Sequence[Expr], bound: Bindings) -> Outcomes:
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        both, either = self.gates.both, self.gates.either
        *first, last = [list(self.outcomes(leaf, bound).values()) for leaf in leaves]
        heads: list[tuple[tuple[Any, ...], int]] = [((), TRUE)]
        for options in first:
            heads = [
                ((*head, value), literal)
                for head, under in heads
                for value, own in options
                if (literal := both(under, own)) != FALSE
            ]
        compute = _compiled(term, {leaf: at for at, leaf in enumerate(leaves)}, self.facts)
        for head, under in heads:
            groups: dict[Any, list[int]] = {}
            for value, own in last:
                row = (*head, value)
                if any(part in _MARKS for part in row):
                    preset = _Preset(dict(zip(leaves, row, strict=True)), self.facts)
                    result = _run(preset, term, bound)
                else:
                    result = _apply(compute, (row,))
                _note(groups, values, result, own)
            for key, literals in groups.items():
                literal = both(under, either(*literals))
                if literal != FALSE:
                    found.setdefault(key, []).append(literal)
        return self._joined(found, values)

    def _tried(self, term: Expr, owner: int, bound: Bindings) -> Outcomes:
        """Outcomes of a term over at most one flag, by trying its states."""
        if owner == _NONE:
            value = _run(self.constant, term, bound)
            return {_key(value): (value, TRUE)}
        masks: dict[Any, int] = {}
        values: dict[Any, Any] = {}
        for number, run in enumerate(self._runs[owner]):
            value = _run(run, term, bound)
            key = _key(value)
            masks[key] = masks.get(key, 0) | 1 << number
            values.setdefault(key, value)
        return {k: (values[k], self.gates.test(owner, mask)) for k, mask in masks.items()}

    def _conditional(
        self, term: Expr, bound: Bindings, of: Callable[[Operand, Bindings], Outcomes] | None = None
    ) -> Outcomes:
        of = of or self.outcomes
        test, then, other = term.args
        truth = self.truth(test, bound)
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        for mark, literal in zip(_MARKS, (truth.crashes, truth.unknown), strict=True):
            if literal != FALSE:
                _note(found, values, mark, literal)
        for branch, taken in ((then, truth.holds), (other, truth.fails)):
            if taken == FALSE:
                continue
            for value, literal in of(branch, bound).values():
                _note(found, values, value, self.gates.both(taken, literal))
        return self._joined(found, values)

    def _combined(
        self, operands: Sequence[Operand], operation: Callable[..., Any], bound: Bindings
    ) -> Outcomes:
        """Outcomes of an operation that needs all its operands, evaluated in order."""
        maps = [self.outcomes(operand, bound) for operand in operands]
        if prod(len(m) for m in maps) > _MOST:
            raise TooManyOutcomesError
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        heads: list[tuple[tuple[Any, ...], int]] = [((), TRUE)]
        for number, options in enumerate(maps):
            last = number == len(maps) - 1
            longer: list[tuple[tuple[Any, ...], int]] = []
            for head, literal in heads:
                groups: dict[Any, list[int]] = {}
                for value, under in options.values():
                    if value in _MARKS:
                        _note(groups, values, value, under)
                    elif last:
                        _note(groups, values, _apply(operation, (*head, value)), under)
                    else:
                        both = self.gates.both(literal, under)
                        if both != FALSE:
                            longer.append(((*head, value), both))
                for key, literals in groups.items():
                    both = self.gates.both(literal, self.gates.either(*literals))
                    if both != FALSE:
                        found.setdefault(key, []).append(both)
            heads = longer
        if not maps:
            value = _apply(operation, ())
            return {_key(value): (value, TRUE)}
        return self._joined(found, values)

    def _joined(self, found: Mapping[Any, list[int]], values: Mapping[Any, Any]) -> Outcomes:
        out: Outcomes = {}
        for key, literals in found.items():
            literal = self.gates.either(*literals)
            if literal == TRUE:
                return {key: (values[key], TRUE)}
            if literal != FALSE:
                out[key] = values[key], literal
        if len(out) > _WIDEST:
            raise TooManyOutcomesError
        return out

    def _tabulated(self, term: Expr, bound: Bindings, told: bool = False) -> Outcomes:
        """Outcomes of a term that evaluates its parts by need: by running it on their outcomes.

        Args:
            term: The term.
            bound: Values of bound variables.
            told: Only whether there is a value matters, not which.
        """
        parts = self._closed_parts(term)
        maps = [list(self.outcomes(part, bound).values()) for part in parts]
        if prod(len(m) for m in maps) > _MOST:
            raise TooManyOutcomesError
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        for row in product(*maps):
            literal = self.gates.both(*[under for _, under in row])
            if literal == FALSE:
                continue
            run = _Preset(dict(zip(parts, (value for value, _ in row), strict=True)), self.facts)
            value = _run(run, term, bound)
            if told and value not in _MARKS:
                value = True
            _note(found, values, value, literal)
        return self._joined(found, values)

    def _closed_parts(self, term: Expr) -> list[Expr]:
        """The largest parts of a term that read flags and no variable bound inside it."""
        outside = self.free(term)
        found: dict[Expr, None] = {}
        stack = list(_parts(term))
        while stack:
            part = stack.pop()
            if self.free(part) <= outside and part.op not in ("pick", "table"):
                found[part] = None
            else:
                stack.extend(_parts(part))
        return list(found)

    # Truth

    def truth(self, operand: Operand, bound: Bindings = ()) -> Truth:
        """When an operand is true, false, crashes or is unknown."""
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple) and operand and not is_constant(operand):
                return self._defined_truth(self._lack_of(operand, bound))
            return Truth(TRUE, FALSE) if operand else Truth(FALSE, TRUE)
        bound = self._within(operand, bound)
        key = operand, bound
        return self._kept(self._truths, key, lambda: self._truth(operand, bound))

    def crash(self, when: Operand, value: Operand) -> Truth:
        """A step that stops nothing unless it breaks: never true."""
        both, either = self.gates.both, self.gates.either
        test = self.truth(when)
        lack = self.lack(value) if test.holds != FALSE else (FALSE, FALSE)
        crashes = either(test.crashes, both(test.holds, lack[0]))
        unknown = either(test.unknown, both(test.holds, lack[1]))
        return Truth(FALSE, both(-crashes, -unknown), crashes, unknown)

    def _truth(self, term: Expr, bound: Bindings) -> Truth:
        if self.owner(term) == _SEVERAL:
            if term.op == "not" or (term.op == "call" and term.args[0] == "bool"):
                inner = self.truth(term.args[0] if term.op == "not" else term.args[1], bound)
                if term.op == "call":
                    return inner
                return Truth(inner.fails, inner.holds, inner.crashes, inner.unknown)
            if term.op in ("and", "or"):
                return self._connective(term.args, term.op == "or", bound)
            if term.op == "if":
                return self._choice(term, bound)
            if term.op == "tuple" and term.args:
                return self._defined_truth(self._lack_of(term.args, bound))
            if term.op in ("eq", "ne") and any(_makes_table(side) for side in term.args):
                return self._compared(term, bound)
            if term.op == "le" and _collects(term.args[0]) and self._is_set(term.args[1], bound):
                return self._included(term, bound)
            if term.op in ("lt", "le", "gt", "ge") and not bound:
                return self._ordered(term)
            if term.op in ("is", "is_not") and term.args[1] is None:
                return self._missing(term, bound)
        return self._truth_of(self.outcomes(term, bound))

    def _ordered(self, term: Expr) -> Truth:
        """A comparison of numbers; anything else is put together from all outcomes."""
        kinds = [list(self.kinds(side).values()) for side in term.args]
        if any(v is not NUMBER and v is not None and v not in _MARKS for k in kinds for v, _ in k):
            return self._truth_of(self._combined(list(term.args), _operation(term, self.facts), ()))
        crashes, unknown = self.lack(term)
        defined = self.gates.both(-crashes, -unknown)
        literal = self.comparer.holds(term.op, *term.args)
        both = self.gates.both
        return Truth(both(defined, literal), both(defined, -literal), crashes, unknown)

    def _is_set(self, operand: Operand, bound: Bindings) -> bool:
        found = self.outcomes(operand, bound).values()
        return all(isinstance(value, (set, frozenset)) for value, _ in found)

    def _included(self, term: Expr, bound: Bindings) -> Truth:
        """Whether a set of listed members lies within another: member by member."""
        both, either = self.gates.both, self.gates.either
        crashes, unknown = self._lack_of(term.args[:1], bound)
        outside = []
        for present, member in _members(term.args[0]):
            is_in = self.truth(node("in", member, term.args[1]), bound).holds
            outside.append(both(self.truth(present, bound).holds, -is_in))
        defined, out = both(-crashes, -unknown), either(*outside)
        return Truth(both(defined, -out), both(defined, out), crashes, unknown)

    def _missing(self, term: Expr, bound: Bindings) -> Truth:
        """Whether something is None, which needs no listing of numbers."""
        kinds = self.kinds(term.args[0], bound)
        crashes, unknown = _marks(kinds)
        none = kinds.get(_key(None), (None, FALSE))[1]
        some = self.gates.both(-none, -crashes, -unknown)
        return Truth(*((none, some) if term.op == "is" else (some, none)), crashes, unknown)

    def _truth_of(self, outcomes: Outcomes) -> Truth:
        holds: list[int] = []
        fails: list[int] = []
        crashes, unknown = FALSE, FALSE
        for value, literal in outcomes.values():
            if value is CRASHED:
                crashes = literal
            elif value is UNKNOWN:
                unknown = literal
            else:
                (holds if value else fails).append(literal)
        either = self.gates.either
        if crashes == FALSE and unknown == FALSE:
            held = either(*holds)
            return Truth(held, -held)
        return Truth(either(*holds), either(*fails), crashes, unknown)

    def _defined_truth(self, lack: tuple[int, int]) -> Truth:
        """The truth of what is true wherever it has a value."""
        crashes, unknown = lack
        return Truth(self.gates.both(-crashes, -unknown), FALSE, crashes, unknown)

    def _choice(self, term: Expr, bound: Bindings) -> Truth:
        both, either = self.gates.both, self.gates.either
        test = self.truth(term.args[0], bound)
        none = Truth(FALSE, FALSE)
        then = self.truth(term.args[1], bound) if test.holds != FALSE else none
        other = self.truth(term.args[2], bound) if test.fails != FALSE else none

        def merged(name: str) -> int:
            return either(
                both(test.holds, getattr(then, name)), both(test.fails, getattr(other, name))
            )

        holds = merged("holds")
        if test.sure and then.sure and other.sure:
            return Truth(holds, -holds)
        crashes = either(test.crashes, merged("crashes"))
        unknown = either(test.unknown, merged("unknown"))
        return Truth(holds, merged("fails"), crashes, unknown)

    def _connective(self, operands: Iterable[Operand], decisive: bool, bound: Bindings) -> Truth:
        """``and`` and ``or`` as the interpreter has them: see ``Interpreter.connective``."""
        both, either = self.gates.both, self.gates.either
        open_, doubt = TRUE, FALSE  # nothing has decided so far: surely, or with a fact missing
        decided: list[int] = []
        crashed: list[int] = []
        undecided: list[int] = []
        sure = True
        for operand in operands:
            truth = self.truth(operand, bound)
            decides, goes_on = truth.fails, truth.holds
            if decisive:
                decides, goes_on = goes_on, decides
            decided.append(both(open_, decides))
            if doubt != FALSE:
                decided.append(both(doubt, decides))
                doubt = both(doubt, -decides)
            if not truth.sure:
                sure = False
                crashed.append(both(open_, truth.crashes))
                doubt = either(doubt, both(open_, truth.unknown))
            undecided.append(goes_on)
            open_ = both(*undecided)
            if open_ == FALSE and doubt == FALSE:
                break
        if sure:
            return Truth(-open_, open_) if decisive else Truth(open_, -open_)
        ends = either(*decided)
        parts = (ends, open_) if decisive else (open_, ends)
        return Truth(*parts, either(*crashed), doubt)

    def _compared(self, term: Expr, bound: Bindings) -> Truth:
        """Equality where a side is a dictionary: of the values, one by one."""
        both = self.gates.both
        crashes, unknown = self._lack_of(term.args, bound)
        defined = both(-crashes, -unknown)
        equal = self._equal(term.args[0], term.args[1], bound)
        same, differ = both(defined, equal), both(defined, -equal)
        return Truth(*((same, differ) if term.op == "eq" else (differ, same)), crashes, unknown)

    def _equal(self, a: Operand, b: Operand, bound: Bindings) -> int:
        """The literal under which two operands are equal, given that both have values."""
        if a is b:
            return TRUE
        key = a, b, bound
        found = self._equals.get(key)
        if found is None:
            found = self._equals[key] = self._equality(a, b, bound)
        return found

    def _equality(self, a: Operand, b: Operand, bound: Bindings) -> int:
        both, either = self.gates.both, self.gates.either
        for side, other in ((a, b), (b, a)):
            if isinstance(side, Expr) and side.op == "if" and self.varies(side):
                test = self.truth(side.args[0], bound)
                branches = zip(side.args[1:], (test.holds, test.fails), strict=True)
                return either(
                    *[
                        both(taken, self._equal(branch, other, bound))
                        for branch, taken in branches
                        if taken != FALSE
                    ]
                )
        if _plain_table(a) and _plain_table(b):
            ours, theirs = _rows(a), _rows(b)
            if ours.keys() != theirs.keys():
                return FALSE
            return both(*[self._equal(value, theirs[key], bound) for key, value in ours.items()])
        return self.truth(node("eq", a, b), bound).holds

    # Whether there is a value at all

    def lack(self, operand: Operand, bound: Bindings = ()) -> tuple[int, int]:
        """The literals under which an operand crashes, and under which it is unknown."""
        if not isinstance(operand, Expr):
            return self._lack_of(operand, bound) if isinstance(operand, tuple) else (FALSE, FALSE)
        bound = self._within(operand, bound)
        key = operand, bound
        return self._kept(self._lacks, key, lambda: self._lack(operand, bound))

    def _lack(self, term: Expr, bound: Bindings) -> tuple[int, int]:
        if self.owner(term) == _SEVERAL:
            if term.op in ("eq", "ne", "is", "is_not", "tuple", "isinstance"):
                return self._lack_of(list(children(term)), bound)
            if _plain_table(term):
                return self._lack_of(list(_rows(term).values()), bound)
            if term.op in _NUMERIC or (term.op == "call" and term.args[0] in _NUMERIC):
                return _marks(self.kinds(term, bound))
            if term.op in ("lt", "le", "gt", "ge"):
                return _marks(self._kinds_of(term, list(term.args), bound))
            if term.op == "if":
                return self._lack_of_choice(term, bound)
            if term.op in ("and", "or", "not"):
                truth = self.truth(term, bound)
                return truth.crashes, truth.unknown
            if _collects(term):
                return self._lack_of_members(term, bound)
            if term.op in ("any", "collect", "pick", "table"):
                return _marks(self._tabulated(term, bound, told=True))
        return _marks(self.outcomes(term, bound))

    def kinds(self, operand: Operand, bound: Bindings = ()) -> Outcomes:
        """As ``outcomes``, with all ordinary numbers taken for one."""
        if not isinstance(operand, Expr):
            found = self.outcomes(operand, bound)
            return {_key(_kind(v)): (_kind(v), literal) for v, literal in found.values()}
        bound = self._within(operand, bound)
        key = operand, bound
        return self._kept(self._kinds, key, lambda: self._kinds_made(operand, bound))

    def _kinds_made(self, term: Expr, bound: Bindings) -> Outcomes:
        if self.owner(term) == _SEVERAL:
            if term.op == "if":
                return self._conditional(term, bound, self.kinds)
            if term.op in _NUMERIC:
                return self._kinds_of(term, list(term.args), bound)
            if term.op == "call" and term.args[0] in _NUMERIC:
                return self._kinds_of(term, list(term.args[1:]), bound)
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        for value, literal in self.outcomes(term, bound).values():
            _note(found, values, _kind(value), literal)
        return self._joined(found, values)

    def _kinds_of(self, term: Expr, operands: list[Operand], bound: Bindings) -> Outcomes:
        """Kinds of an operation on numbers; computed exactly where something else takes part."""
        divides = term.op in ("floordiv", "mod", "truediv", "pow")
        maps = [self.kinds(operand, bound) for operand in operands]
        if divides:
            maps[-1] = self.outcomes(operands[-1], bound)
        operation = _operation(term, self.facts)
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        for row in product(*(m.values() for m in maps)):
            literal = self.gates.both(*[under for _, under in row])
            if literal == FALSE:
                continue
            parts = [value for value, _ in row]
            marks = [value for value in parts if value in _MARKS]
            if marks:
                result = marks[0]
            elif all(_kind(part) is NUMBER for part in parts) and term.op != "pow":
                result = CRASHED if divides and not parts[-1] else NUMBER
            elif term.op == "add" and all(_kind(part) is LIST for part in parts):
                result = LIST
            elif any(_kind(p) is LIST or isinstance(p, (str, bytes)) for p in parts):
                return self._exact_kinds(term, bound)
            else:
                result = _kind(_apply(operation, tuple(1 if p is NUMBER else p for p in parts)))
            _note(found, values, result, literal)
        return self._joined(found, values)

    def _exact_kinds(self, term: Expr, bound: Bindings) -> Outcomes:
        found: dict[Any, list[int]] = {}
        values: dict[Any, Any] = {}
        for value, literal in self.outcomes(term, bound).values():
            _note(found, values, _kind(value), literal)
        return self._joined(found, values)

    def _lack_of(self, operands: Iterable[Operand], bound: Bindings) -> tuple[int, int]:
        """For operands evaluated in order: the first that has no value says why."""
        both, either = self.gates.both, self.gates.either
        fine, crashed, unknown = TRUE, FALSE, FALSE
        for operand in operands:
            crashes, doubts = self.lack(operand, bound)
            crashed = either(crashed, both(fine, crashes))
            unknown = either(unknown, both(fine, doubts))
            fine = both(fine, -crashes, -doubts)
        return crashed, unknown

    def _lack_of_members(self, term: Expr, bound: Bindings) -> tuple[int, int]:
        """For a set of listed members, each evaluated where it is present."""
        both, either = self.gates.both, self.gates.either
        fine, crashed, unknown = TRUE, FALSE, FALSE
        for present, member in _members(term):
            test, lack = self.truth(present, bound), self.lack(member, bound)
            crashes = either(test.crashes, both(test.holds, lack[0]))
            doubts = either(test.unknown, both(test.holds, lack[1]))
            crashed = either(crashed, both(fine, crashes))
            unknown = either(unknown, both(fine, doubts))
            fine = both(fine, -crashes, -doubts)
        return crashed, unknown

    def _lack_of_choice(self, term: Expr, bound: Bindings) -> tuple[int, int]:
        both, either = self.gates.both, self.gates.either
        test = self.truth(term.args[0], bound)
        crashes, unknown = [test.crashes], [test.unknown]
        for branch, taken in ((term.args[1], test.holds), (term.args[2], test.fails)):
            if taken != FALSE:
                lacks = self.lack(branch, bound)
                crashes.append(both(taken, lacks[0]))
                unknown.append(both(taken, lacks[1]))
        return either(*crashes), either(*unknown)


class _Preset(Interpreter):
    """Evaluates a term whose parts have known outcomes."""

    def __init__(self, known: Mapping[Expr, Any], facts: Mapping[str, Any]) -> None:
        super().__init__({}, facts)
        self.known = known

    def value(self, operand: Operand) -> Any:
        if isinstance(operand, Expr) and operand in self.known:
            value = self.known[operand]
            if value is CRASHED:
                raise Crash("crash")
            if value is UNKNOWN:
                raise Unknown("fact")
            return value
        return super().value(operand)


def _slots(dest: str, state: State) -> dict[tuple[str, int], Any]:
    given = state.value if state.typed else None
    return {(dest, 0): state.value, (f"raw.{dest}", 0): state.value, (f"given.{dest}", 0): given}


def _run(run: Interpreter, term: Expr, bound: Bindings) -> Any:
    if not bound:
        return outcome(run, term)
    run.bound = dict(bound)
    try:
        return outcome(run, term)
    finally:
        run.bound = {}


def _apply(operation: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    try:
        return operation(*values)
    except Unknown:
        return UNKNOWN
    except Exception:
        return CRASHED


def _operation(term: Expr, facts: Mapping[str, Any]) -> Callable[..., Any]:
    """What a term does with the values of its operands."""
    op, args = term.op, term.args
    if op == "call":
        return lambda *values: call_function(args[0], *values)
    if op == "method":
        return lambda value, *values: call_method(value, args[1], *values)
    if op == "helper":
        function = facts.get(f"helper:{args[0]}")
        return function if function is not None else _missing
    if op == "tuple":
        return lambda *values: values
    if op in ("attr", "hasattr"):
        return lambda value: OPERATIONS[op](value, args[1])
    if op == "isinstance":
        return lambda value: bool(OPERATIONS[op](value, *args[1:]))
    if op == "opaque":
        return _missing
    return OPERATIONS[op]


def _missing(*_: Any) -> Any:
    raise Unknown("fact")


def _note(found: dict[Any, list[int]], values: dict[Any, Any], value: Any, literal: int) -> None:
    if literal != FALSE:
        key = _key(value)
        found.setdefault(key, []).append(literal)
        values.setdefault(key, value)


def _of_truth(truth: Truth) -> Outcomes:
    pairs = (
        (True, truth.holds),
        (False, truth.fails),
        (CRASHED, truth.crashes),
        (UNKNOWN, truth.unknown),
    )
    return {_key(value): (value, literal) for value, literal in pairs if literal != FALSE}


def _marks(outcomes: Outcomes) -> tuple[int, int]:
    crashed, unknown = (outcomes.get(_key(mark), (mark, FALSE))[1] for mark in _MARKS)
    return crashed, unknown


def _key(value: Any) -> Any:
    """A key that tells values apart as the language does."""
    if isinstance(value, (list, tuple)):
        plain = set(map(type, value)) <= _ALONE
        return type(value).__name__, (tuple(value) if plain else tuple(map(_key, value)))
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_key, value))
    if isinstance(value, dict):
        return "dict", *((_key(k), _key(v)) for k, v in value.items())
    if value is None or isinstance(value, (bool, int, str, float, bytes)):
        return type(value).__name__, value
    return id(value)


def _plain_table(term: Operand) -> bool:
    """Whether a term makes a dictionary with the same keys under all circumstances."""
    return (
        isinstance(term, Expr)
        and term.op == "table"
        and all(is_constant(key) for key in term.args[::3])
        and all(condition is True for condition in term.args[1::3])
    )


def _collects(term: Operand) -> bool:
    """Whether a term is the set of some members, all of them text or None."""
    if not (isinstance(term, Expr) and term.op == "call" and term.args[0] in ("set", "frozenset")):
        return False
    inner = term.args[1]
    return isinstance(inner, tuple) or (isinstance(inner, Expr) and inner.op in ("pick", "tuple"))


def _members(term: Expr) -> list[tuple[Operand, Operand]]:
    """The members of such a set, each with the condition under which it is there."""
    inner = term.args[1]
    if isinstance(inner, Expr) and inner.op == "pick":
        return list(zip(inner.args[::2], inner.args[1::2], strict=True))
    return [(True, member) for member in (inner.args if isinstance(inner, Expr) else inner)]


def _rows(term: Operand) -> dict[Any, Operand]:
    """The values of a plain table by key."""
    return dict(zip(term.args[::3], term.args[2::3], strict=True)) if isinstance(term, Expr) else {}


def _makes_table(term: Operand) -> bool:
    """Whether a term is a plain table, or a choice that may be one."""
    while isinstance(term, Expr) and term.op == "if":
        if _makes_table(term.args[1]):
            return True
        term = term.args[2]
    return _plain_table(term)


def _compiled(
    operand: Operand, leaves: Mapping[Expr, int], facts: Mapping[str, Any]
) -> Callable[[tuple[Any, ...]], Any]:
    """A calculation as a function of the values of its leaves."""
    if not isinstance(operand, Expr):
        return lambda row: operand
    if operand in leaves:
        return itemgetter(leaves[operand])
    operation = _operation(operand, facts)
    parts = [_compiled(part, leaves, facts) for part in children(operand)]
    if len(parts) == 2:
        a, b = parts
        return lambda row: operation(a(row), b(row))
    return lambda row: operation(*[part(row) for part in parts])


def _computes(term: Expr) -> bool:
    """Whether a term is a calculation or a comparison, which needs all its operands."""
    return (
        term.op in _NUMERIC
        or term.op in ("lt", "le", "gt", "ge", "eq", "ne")
        or (term.op == "call" and term.args[0] in _NUMERIC)
    )


class _Kind:
    """Stands for any value of a kind."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


NUMBER, LIST = _Kind("NUMBER"), _Kind("LIST")


def _kind(value: Any) -> Any:
    if isinstance(value, (int, float)) and -_HUGE < value < _HUGE:
        return NUMBER
    return LIST if isinstance(value, (list, tuple)) else value


def _parts(term: Expr) -> list[Expr]:
    out: list[Expr] = []
    stack = list(children(term))[::-1]
    while stack:
        child = stack.pop()
        if isinstance(child, Expr):
            out.append(child)
        elif isinstance(child, tuple):
            stack.extend(reversed(child))
    return out
