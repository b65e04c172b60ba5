"""Values that are not all the same: a few of them one by one, or numbers between two bounds.

In a circuit over sets of states (:mod:`kvsolve.solve.circuit`) a node that is not the same for all
states need not be open: a size above 8 stays above 8 whatever it is multiplied by. What is told
here is never less than what may come out, as in abstract interpretation (Cousot and Cousot, 1977).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from kvsolve.model.expression import Unknown
from kvsolve.solve.network import CRASHED, Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["OPEN", "Several", "Span", "applied", "gathered", "is_wide", "joined", "truth_of"]

OPEN: Final = Mark("OPEN")
"""Nothing is known of the value; it may be the lack of one."""

_MOST = 24
"""Values told one by one at most."""
_MOST_COMBINED = 64
"""Combinations of operands looked at one by one at most."""


class Several:
    """One of a few values, none of which is the lack of one."""

    __slots__ = ("truth", "values")

    def __init__(self, values: tuple[Any, ...], truth: bool | None) -> None:
        self.values, self.truth = values, truth

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Several) or len(self.values) != len(other.values):
            return NotImplemented if not isinstance(other, Several) else False
        pairs = zip(self.values, other.values, strict=True)
        return all(a is b or (type(a) is type(b) and a == b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Several({self.values!r})"


class Span:
    """Some number from ``low`` to ``high``."""

    __slots__ = ("high", "low", "truth")

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.truth = True if low > 0 or high < 0 else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self.low == other.low and self.high == other.high

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Span({self.low!r}, {self.high!r})"


def is_wide(value: Any) -> bool:
    """Whether a value stands for several."""
    kind = type(value)
    return kind is Several or kind is Span


def truth_of(value: Any) -> Any:
    """The truth of a value that is no mark; :data:`OPEN` where it is not the same for all."""
    if is_wide(value):
        return OPEN if value.truth is None else value.truth
    return bool(value)


def gathered(values: Iterable[Any]) -> Any:
    """One value that stands for all of some."""
    found: dict[Any, Any] = {}
    for value in values:
        if type(value) is Mark:
            return _only(values)
        try:
            found[type(value), value] = value
        except TypeError:
            return OPEN
    kept = tuple(found.values())
    if len(kept) == 1:
        return kept[0]
    if len(kept) > _MOST:
        return _span(kept)
    truths = {bool(value) for value in kept}
    return Several(kept, truths.pop() if len(truths) == 1 else None)


def _only(values: Iterable[Any]) -> Any:
    """A mark where all values are that mark; otherwise nothing is known."""
    first, *rest = values
    return first if all(value is first for value in rest) else OPEN


def _span(values: Iterable[Any]) -> Any:
    """The bounds of numbers; nothing is known of other values."""
    low, high = _INFINITE, -_INFINITE
    for value in values:
        if not _is_number(value):
            return OPEN
        low, high = min(low, value), max(high, value)
    return Span(low, high) if low > -_INFINITE and high < _INFINITE else OPEN


_INFINITE = float("inf")


def _is_number(value: Any) -> bool:
    """Whether a value is a number with a place on the line."""
    return type(value) in (int, float) and value == value


def joined(one: Any, other: Any) -> Any:
    """What stands for a value of either kind."""
    if type(one) is Mark or type(other) is Mark:
        return one if one is other else OPEN
    if type(one) is Span or type(other) is Span:
        a, b = _bounds(one), _bounds(other)
        return OPEN if a is None or b is None else Span(min(a.low, b.low), max(a.high, b.high))
    return gathered([*_each(one), *_each(other)])


def _each(value: Any) -> tuple[Any, ...]:
    return value.values if type(value) is Several else (value,)


def _bounds(value: Any) -> Span | None:
    """A value as bounds, None where it is no number."""
    if type(value) is Span:
        return value
    found = _span(_each(value))
    return found if type(found) is Span else None


def applied(name: str, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """What an operation gives on operands some of which stand for several values.

    Args:
        name: Of the operation: its ``op``, or the function that a ``call`` calls.
        function: Computes it from plain values.
        operands: No marks.
    """
    size = 1
    for operand in operands:
        size *= 0 if type(operand) is Span else len(_each(operand))
    if 0 < size <= _MOST_COMBINED:
        return gathered([_outcome(function, row) for row in product(*map(_each, operands))])
    rule = _RULES.get(name)
    if rule is None or len(operands) != 2:
        return OPEN
    bounds = [_bounds(operand) for operand in operands]
    if bounds[0] is None or bounds[1] is None:
        return OPEN
    return rule(bounds[0], bounds[1])


def _outcome(function: Callable[..., Any], row: tuple[Any, ...]) -> Any:
    """One result; of a missing fact as little is known as of anything else."""
    try:
        return function(*row)
    except Unknown:
        return OPEN
    except Exception:
        return CRASHED


def _corners(function: Callable[[Any, Any], Any]) -> Callable[[Span, Span], Any]:
    """The rule of an operation that is monotone in each operand wherever the other stands."""

    def rule(a: Span, b: Span) -> Any:
        try:
            return _span([function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)])
        except (ArithmeticError, ValueError):
            return OPEN

    return rule


def _divided(a: Span, b: Span) -> Any:
    """Floor division; a divisor that may be zero says nothing."""
    if b.low <= 0 <= b.high:
        return OPEN
    return _corners(lambda x, y: x // y)(a, b)


def _remainder(a: Span, b: Span) -> Any:
    """At least zero and at most the divisor, where that is positive."""
    del a
    return Span(0, b.high) if b.low > 0 else OPEN


def _compared(
    surely: Callable[[Span, Span], bool], surely_not: Callable[[Span, Span], bool]
) -> Callable[[Span, Span], Any]:
    def rule(a: Span, b: Span) -> Any:
        if surely(a, b):
            return True
        return False if surely_not(a, b) else OPEN

    return rule


def _apart(a: Span, b: Span) -> bool:
    return a.high < b.low or b.high < a.low


def _one_point(a: Span, b: Span) -> bool:
    return a.low == a.high == b.low == b.high


_RULES: dict[str, Callable[[Span, Span], Any]] = {
    "add": _corners(lambda x, y: x + y),
    "sub": _corners(lambda x, y: x - y),
    "mul": _corners(lambda x, y: x * y),
    "floordiv": _divided,
    "mod": _remainder,
    "max": _corners(max),
    "min": _corners(min),
    "lt": _compared(lambda a, b: a.high < b.low, lambda a, b: a.low >= b.high),
    "le": _compared(lambda a, b: a.high <= b.low, lambda a, b: a.low > b.high),
    "gt": _compared(lambda a, b: a.low > b.high, lambda a, b: a.high <= b.low),
    "ge": _compared(lambda a, b: a.low >= b.high, lambda a, b: a.high < b.low),
    "eq": _compared(_one_point, _apart),
    "ne": _compared(_apart, _one_point),
}
