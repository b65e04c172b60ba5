"""Comparisons of calculations, lowered without listing every number that they can come to.

``a + b > 300`` needs for each value of ``a`` only to know from where on ``b`` is large enough. So a
condition on a number is handed down into the calculation as long as it is *monotone*: once it holds
for a number it holds for all larger ones (or for all smaller ones). Bounds of the parts decide most
of it at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.expression import ARITHMETIC, COMPARISONS, FUNCTIONS, Expr, Operand, is_constant
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from kvsolve.solve.lowering.outcomes import Encoder

__all__ = ["Comparer", "TooManyOutcomesError"]


_MANY = 100_000
_FEW = 150
"""Numbers up to which a ladder is shorter than what a calculation is made of."""


class TooManyOutcomesError(Exception):
    """A term can come to too many values to be lowered."""


Condition = Callable[[Any], bool]
_RISING = frozenset(["int", "float", "ceil", "floor", "round"])
_PATIENCE = 5_000
"""Parts of one comparison that are looked at."""


class _Ladder(NamedTuple):
    """The numbers that a term can come to, rising, and for each the literal of it or any larger."""

    numbers: list[Any]
    from_here: list[int]


class Comparer:
    """Lowers comparisons of numeric terms.

    Args:
        encoder: Gives the outcomes of the parts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.gates = encoder.gates
        self._left, self._few = 0, _FEW
        self._lists: dict[Expr, bool] = {}
        self._bounds: dict[Expr, tuple[Any, Any] | None] = {}
        self._ladders: dict[Expr, _Ladder] = {}
        self._spread: dict[Expr, int] = {}

    def holds(self, op: str, a: Operand, b: Operand) -> int:
        """The literal under which a comparison of two defined numbers is true.

        Raises:
            TooManyOutcomesError: Too much would have to be looked at.
        """
        try:
            self._few, self._left = _FEW, _PATIENCE
            return self._holds(op, a, b)
        except TooManyOutcomesError:
            self._few, self._left = _MANY, _PATIENCE
            return self._holds(op, a, b)

    def _holds(self, op: str, a: Operand, b: Operand) -> int:
        compare = COMPARISONS[op]
        if self.spread(a) < self.spread(b):
            rising = op in ("lt", "le")
            return self._over(a, lambda own: (lambda value: compare(own, value), rising), b)
        rising = op in ("gt", "ge")
        return self._over(b, lambda own: (lambda value: compare(value, own), rising), a)

    def _over(
        self,
        listed: Operand,
        condition: Callable[[Any], tuple[Condition, bool] | int],
        rest: Operand,
    ) -> int:
        """For each number of one operand what is asked of the other, put together."""
        both = self.gates.both
        found = []
        for value, literal in self.encoder.outcomes(listed).values():
            if _is_number(value):
                asked = condition(value)
                under = asked if isinstance(asked, int) else self.meets(rest, *asked)
                found.append(both(literal, under))
        return self.gates.either(*found)

    def meets(self, term: Operand, condition: Condition, rising: bool) -> int:
        """The literal under which a term's number meets a monotone condition.

        Args:
            term: The term; where it is no number the literal means nothing.
            condition: What the number must meet.
            rising: It holds from some number on; else up to some number.
        """
        if not isinstance(term, Expr):
            return TRUE if _is_number(term) and condition(term) else FALSE
        self._left -= 1
        if self._left < 0:
            raise TooManyOutcomesError
        bounds = self.bounds(term)
        if bounds is None:
            return FALSE
        low, high = condition(bounds[0]), condition(bounds[1])
        if low == high:
            return TRUE if low else FALSE
        few = self._listed(term) and (self.spread(term) <= self._few or not _pushable(term))
        return (self._laddered if few else self._pushed)(term, condition, rising)

    def _listed(self, term: Expr) -> bool:
        """Whether the outcomes of a term can be listed."""
        found = self._lists.get(term)
        if found is None:
            try:
                self.encoder.outcomes(term)
                found = True
            except TooManyOutcomesError:
                found = False
            self._lists[term] = found
        return found

    def _pushed(self, term: Expr, condition: Condition, rising: bool) -> int:
        both, either = self.gates.both, self.gates.either
        op, args = term.op, term.args
        if op == "if":
            test = self.encoder.truth(args[0])
            then = self.meets(args[1], condition, rising) if test.holds != FALSE else FALSE
            other = self.meets(args[2], condition, rising) if test.fails != FALSE else FALSE
            return either(both(test.holds, then), both(test.fails, other))
        if op == "neg":
            return self.meets(args[0], lambda value: condition(-value), not rising)
        if op == "call" and args[0] in ("max", "min") and len(args) > 2:
            parts = [self.meets(part, condition, rising) for part in args[1:]]
            return (either if (args[0] == "max") is rising else both)(*parts)
        if _rises(term):
            function = FUNCTIONS[args[0]]
            return self.meets(args[1], lambda value: condition(function(value, *args[2:])), rising)
        if op in ("add", "sub", "mul", "floordiv", "truediv"):
            return self._through(op, args[0], args[1], condition, rising)
        raise TooManyOutcomesError

    def _through(self, op: str, a: Operand, b: Operand, condition: Condition, rising: bool) -> int:
        """Through an operation on two numbers: one is listed, the other asked."""
        apply = ARITHMETIC[op]
        left = op in ("add", "sub", "mul") and self.spread(a) < self.spread(b)

        def asked(own: Any) -> tuple[Condition, bool] | int:
            if op in ("mul", "floordiv", "truediv") and not own:
                return (TRUE if condition(own) else FALSE) if op == "mul" else FALSE
            turns = (left and op == "sub") or (op in ("mul", "floordiv", "truediv") and own < 0)
            if left:
                return lambda value: condition(apply(own, value)), rising is not turns
            return lambda value: condition(apply(value, own)), rising is not turns

        return self._over(a, asked, b) if left else self._over(b, asked, a)

    def _laddered(self, term: Expr, condition: Condition, rising: bool) -> int:
        ladder = self._ladders.get(term)
        if ladder is None:
            ladder = self._ladders[term] = self._ladder(term)
        at = bisect_left(ladder.numbers, True, key=lambda v: condition(v) is rising)
        above = ladder.from_here[at]
        return above if rising else -above

    def _ladder(self, term: Expr) -> _Ladder:
        """Numbers are merged by size: 1 and 1.0 are one rung."""
        rungs: dict[Any, list[int]] = {}
        for value, literal in self.encoder.outcomes(term).values():
            if _is_number(value):
                rungs.setdefault(value, []).append(literal)
        numbers = sorted(rungs)
        above, from_here = FALSE, [FALSE]
        for number in reversed(numbers):
            above = self.gates.either(above, *rungs[number])
            from_here.append(above)
        return _Ladder(numbers, from_here[::-1])

    def spread(self, term: Operand) -> int:
        """About how many outcomes a term has, without listing those of a calculation."""
        if not isinstance(term, Expr):
            return 1
        found = self._spread.get(term)
        if found is None:
            found = self._spread[term] = self._spread_of(term)
        return found

    def _spread_of(self, term: Expr) -> int:
        if self._listed(term):
            return len(self.encoder.outcomes(term))
        if term.op == "if":
            return self.spread(term.args[1]) + self.spread(term.args[2])
        if term.op == "call" and term.args[0] in ("max", "min"):
            return sum(self.spread(part) for part in term.args[1:])
        if _rises(term):
            return self.spread(term.args[1])
        if term.op not in ARITHMETIC or term.op == "mod":
            raise TooManyOutcomesError
        found = 1
        for part in term.args:
            found *= self.spread(part)
        return found

    def bounds(self, term: Operand) -> tuple[Any, Any] | None:
        """The smallest and largest number that a term may come to; None where it is none."""
        if not isinstance(term, Expr):
            return (term, term) if _is_number(term) else None
        if term not in self._bounds:
            self._bounds[term] = self._bounds_of(term)
        return self._bounds[term]

    def _bounds_of(self, term: Expr) -> tuple[Any, Any] | None:
        op, args = term.op, term.args
        if not self._listed(term):
            if op == "if":
                parts = [b for b in map(self.bounds, args[1:]) if b is not None]
                return (min(p[0] for p in parts), max(p[1] for p in parts)) if parts else None
            if op in ("add", "sub", "mul") or (
                op in ("floordiv", "truediv") and self._above(args[1])
            ):
                a, b = self.bounds(args[0]), self.bounds(args[1])
                if a is None or b is None:
                    return None
                corners = [ARITHMETIC[op](x, y) for x in a for y in b]
                return min(corners), max(corners)
            if op == "neg":
                inner = self.bounds(args[0])
                return None if inner is None else (-inner[1], -inner[0])
            if op == "call" and args[0] in ("max", "min") and len(args) > 2:
                every = [self.bounds(part) for part in args[1:]]
                known = [b for b in every if b is not None]
                if len(known) < len(every):
                    return None
                choose = FUNCTIONS[args[0]]
                return choose(b[0] for b in known), choose(b[1] for b in known)
            if _rises(term):
                inner, function = self.bounds(args[1]), FUNCTIONS[args[0]]
                return inner and (function(inner[0], *args[2:]), function(inner[1], *args[2:]))
        numbers = [v for v, _ in self.encoder.outcomes(term).values() if _is_number(v)]
        return (min(numbers), max(numbers)) if numbers else None

    def _above(self, term: Operand) -> bool:
        bounds = self.bounds(term)
        return bounds is not None and bounds[0] > 0


def _pushable(term: Expr) -> bool:
    if term.op == "call":
        return _rises(term) or (term.args[0] in ("max", "min") and len(term.args) > 2)
    return term.op in ("if", "neg", "add", "sub", "mul", "floordiv", "truediv")


def _rises(term: Expr) -> bool:
    """Whether a term is a function of its first argument that keeps the order of numbers."""
    return term.op == "call" and term.args[0] in _RISING and all(map(is_constant, term.args[2:]))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and -1e100 < value < 1e100
