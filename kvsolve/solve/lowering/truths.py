"""When conditions over several flags are true, without listing what their parts come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, node
from kvsolve.solve.lowering.evaluating import Bindings, operation_of
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.lowering.kinds import NUMBER
from kvsolve.solve.lowering.listing import MARKS, Truth, key_of, marks_of, truth_of
from kvsolve.solve.lowering.terms import collects, is_plain_table, makes_table, members, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.solve.lowering.outcomes import Encoder

__all__ = ["Truths"]


class Truths:
    """Finds the truth of terms.

    Args:
        encoder: Gives the truths, outcomes and lacks of the parts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.gates = encoder.gates
        self._equals: dict[tuple[Operand, Operand, Bindings], int] = {}

    def of(self, term: Expr, bound: Bindings) -> Truth:
        """The truth of a term."""
        found = self._by_shape(term, bound) if self.encoder.varies(term) else None
        return found or truth_of(self.encoder.outcomes(term, bound), self.gates)

    def _by_shape(self, term: Expr, bound: Bindings) -> Truth | None:
        """The truth where the shape of a term tells more than its outcomes."""
        op, args = term.op, term.args
        if op == "not":
            inner = self.encoder.truth(args[0], bound)
            return Truth(inner.fails, inner.holds, inner.crashes, inner.unknown)
        if op == "call" and args[0] == "bool":
            return self.encoder.truth(args[1], bound)
        if op in ("and", "or"):
            return self._connective(args, op == "or", bound)
        if op == "if":
            return self._choice(term, bound)
        if op == "tuple" and args:
            return self.defined(self.encoder.lacks.of_all(args, bound))
        if op in ("eq", "ne") and any(makes_table(side) for side in args):
            return self._compared(term, bound)
        if op == "le" and collects(args[0]) and self._is_set(args[1], bound):
            return self._included(term, bound)
        if op in ("lt", "le", "gt", "ge") and not bound:
            return self._ordered(term)
        if op in ("is", "is_not") and args[1] is None:
            return self._missing(term, bound)
        return None

    def defined(self, lack: tuple[int, int]) -> Truth:
        """The truth of what is true wherever it has a value."""
        crashes, unknown = lack
        return Truth(self.gates.both(-crashes, -unknown), FALSE, crashes, unknown)

    def crash(self, when: Operand, value: Operand) -> Truth:
        """A step that stops nothing unless it breaks: never true."""
        both, either = self.gates.both, self.gates.either
        test = self.encoder.truth(when)
        lack = self.encoder.lack(value) if test.holds != FALSE else (FALSE, FALSE)
        crashes = either(test.crashes, both(test.holds, lack[0]))
        unknown = either(test.unknown, both(test.holds, lack[1]))
        return Truth(FALSE, both(-crashes, -unknown), crashes, unknown)

    def _ordered(self, term: Expr) -> Truth:
        """A comparison of numbers; anything else is put together from all outcomes."""
        encoder = self.encoder
        kinds = [list(encoder.kinds(side).values()) for side in term.args]
        if any(v is not NUMBER and v is not None and v not in MARKS for k in kinds for v, _ in k):
            operation = operation_of(term, encoder.facts)
            return truth_of(encoder.combiner.combined(list(term.args), operation, ()), self.gates)
        crashes, unknown = encoder.lack(term)
        defined = self.gates.both(-crashes, -unknown)
        literal = encoder.comparer.holds(term.op, *term.args)
        both = self.gates.both
        return Truth(both(defined, literal), both(defined, -literal), crashes, unknown)

    def _is_set(self, operand: Operand, bound: Bindings) -> bool:
        found = self.encoder.outcomes(operand, bound).values()
        return all(isinstance(value, (set, frozenset)) for value, _ in found)

    def _included(self, term: Expr, bound: Bindings) -> Truth:
        """Whether a set of listed members lies within another: member by member."""
        both, either = self.gates.both, self.gates.either
        crashes, unknown = self.encoder.lacks.of_all(term.args[:1], bound)
        outside = []
        for present, member in members(term.args[0]):
            is_in = self.encoder.truth(node("in", member, term.args[1]), bound).holds
            outside.append(both(self.encoder.truth(present, bound).holds, -is_in))
        defined, out = both(-crashes, -unknown), either(*outside)
        return Truth(both(defined, -out), both(defined, out), crashes, unknown)

    def _missing(self, term: Expr, bound: Bindings) -> Truth:
        """Whether something is None, which needs no listing of numbers."""
        kinds = self.encoder.kinds(term.args[0], bound)
        crashes, unknown = marks_of(kinds)
        none = kinds.get(key_of(None), (None, FALSE))[1]
        some = self.gates.both(-none, -crashes, -unknown)
        return Truth(*((none, some) if term.op == "is" else (some, none)), crashes, unknown)

    def _choice(self, term: Expr, bound: Bindings) -> Truth:
        both, either = self.gates.both, self.gates.either
        test = self.encoder.truth(term.args[0], bound)
        none = Truth(FALSE, FALSE)
        then = self.encoder.truth(term.args[1], bound) if test.holds != FALSE else none
        other = self.encoder.truth(term.args[2], bound) if test.fails != FALSE else none

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
            truth = self.encoder.truth(operand, bound)
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

    # Equality of dictionaries

    def _compared(self, term: Expr, bound: Bindings) -> Truth:
        """Equality where a side is a dictionary: of the values, one by one."""
        both = self.gates.both
        crashes, unknown = self.encoder.lacks.of_all(term.args, bound)
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
            if isinstance(side, Expr) and side.op == "if" and self.encoder.varies(side):
                test = self.encoder.truth(side.args[0], bound)
                branches = zip(side.args[1:], (test.holds, test.fails), strict=True)
                return either(
                    *[
                        both(taken, self._equal(branch, other, bound))
                        for branch, taken in branches
                        if taken != FALSE
                    ]
                )
        if is_plain_table(a) and is_plain_table(b):
            ours, theirs = rows_of(a), rows_of(b)
            if ours.keys() != theirs.keys():
                return FALSE
            return both(*[self._equal(value, theirs[key], bound) for key, value in ours.items()])
        return self.encoder.truth(node("eq", a, b), bound).holds
