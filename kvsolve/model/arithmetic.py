"""What the operations of the entry language do to values, with results of bounded size.

The functions are plain Python's, but for those whose result an argument can blow up: they crash
instead, in a pack's own text and in a user's values alike.
"""

from __future__ import annotations

import json
import math
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ARITHMETIC", "COMPARISONS", "FUNCTIONS", "Crash", "Unknown", "equal"]

_BIG = 10_000
_LONG = 100_000


class Crash(Exception):
    """Evaluation reaches what upstream does not guard; ``args[0]`` is the exception's name."""


class Unknown(Exception):
    """Evaluation needs a fact that the context does not hold; ``args[0]`` names it."""


def _is(a: object, b: object) -> bool:
    if isinstance(a, (str, int, float)) and not isinstance(a, bool):
        return type(a) is type(b) and a == b
    return a is b


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Both as lists where one is a list and the other a tuple: constants hold lists as tuples."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and type(a) is not type(b):
        return list(a), list(b)
    return a, b


def equal(a: Any, b: Any) -> bool:
    """``a == b``, a list equal to the tuple of the same items."""
    a, b = _alike(a, b)
    return bool(a == b)


def _add(a: Any, b: Any) -> Any:
    a, b = _alike(a, b)
    return a + b


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, int) and abs(exponent) > _BIG:
        raise Crash("OverflowError")
    return base**exponent


def _multiply(a: Any, b: Any) -> Any:
    for sequence, times in ((a, b), (b, a)):
        if (
            isinstance(sequence, (str, bytes, list, tuple))
            and isinstance(times, int)
            and times > _BIG
        ):
            raise Crash("MemoryError")
    return a * b


def _reads_as(kind: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """Whether a text or number can be taken for a number of that kind."""

    def reads(value: Any) -> bool:
        try:
            kind(value)
        except (TypeError, ValueError, OverflowError):
            return False
        return True

    return reads


def _shift_left(a: Any, b: Any) -> Any:
    if isinstance(b, int) and b > _BIG:
        raise Crash("OverflowError")
    return a << b


def _remainder(a: Any, b: Any) -> Any:
    """Of numbers only: text formatting is not part of the language."""
    if isinstance(a, (str, bytes)):
        raise Crash("TypeError")
    return a % b


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > _LONG:
        raise Crash("MemoryError")
    return list(numbers)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": equal,
    "ne": lambda a, b: not equal(a, b),
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "in": lambda a, b: a in b,
    "not_in": lambda a, b: a not in b,
    "is": _is,
    "is_not": lambda a, b: not _is(a, b),
}

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": operator.sub,
    "mul": _multiply,
    "floordiv": operator.floordiv,
    "mod": _remainder,
    "truediv": operator.truediv,
    "pow": _power,
    "neg": operator.neg,
    "bitor": operator.or_,
    "bitand": operator.and_,
    "bitxor": operator.xor,
    "lshift": _shift_left,
    "rshift": operator.rshift,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "bool": bool,
    "ceil": math.ceil,
    "count": lambda *conditions: sum(1 for c in conditions if c),
    "dict": dict,
    "float": float,
    "floor": math.floor,
    "frozenset": frozenset,
    "gcd": math.gcd,
    "int": int,
    "json": json.loads,
    "lcm": math.lcm,
    "len": len,
    "list": list,
    "log2": math.log2,
    "max": max,
    "min": min,
    "range": _range,
    "reads_as_float": _reads_as(float),
    "reads_as_int": _reads_as(int),
    "repr": repr,
    "round": round,
    "set": frozenset,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
}
