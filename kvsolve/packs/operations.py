"""What each operation of the entry language does to values.

Values are data: constants, lists, dictionaries and configuration objects. An attribute is looked up
in a configuration object's own table and nowhere else, so an expression reaches no Python object's
internals; results whose size an argument decides are bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvsolve.model.expression import ARITHMETIC, COMPARISONS, FUNCTIONS, METHODS, Crash

__all__ = ["OPERATIONS", "call_function", "call_method"]

_BIG = 10_000


def _attributes(value: Any) -> dict[str, Any]:
    found = getattr(type(value), "attributes_of", None)
    return found(value) if found is not None else {}


def attribute(value: Any, name: str) -> Any:
    """Attribute of a configuration object.

    Raises:
        Crash: It has none of that name, or the value is no configuration object.
    """
    attributes = _attributes(value)
    if name not in attributes:
        raise Crash("AttributeError")
    return attributes[name]


def has_attribute(value: Any, name: str) -> bool:
    """Whether a configuration object has the attribute."""
    return name in _attributes(value)


def is_instance(value: Any, *names: str) -> bool:
    """Whether a value is of one of the named built-in types."""
    own = {type(value).__name__, "int"} if isinstance(value, bool) else {type(value).__name__}
    return not own.isdisjoint(names)


def power(base: Any, exponent: Any) -> Any:
    """``base ** exponent`` of bounded size."""
    if isinstance(exponent, int) and abs(exponent) > _BIG:
        raise Crash("OverflowError")
    return base**exponent


def multiply(a: Any, b: Any) -> Any:
    """``a * b``; sequences are not repeated beyond a bound."""
    for sequence, times in ((a, b), (b, a)):
        if isinstance(sequence, (str, list, tuple)) and isinstance(times, int) and times > _BIG:
            raise Crash("MemoryError")
    return a * b


def shift_left(a: Any, b: Any) -> Any:
    """``a << b`` of bounded size."""
    if isinstance(b, int) and b > _BIG:
        raise Crash("OverflowError")
    return a << b


def remainder(a: Any, b: Any) -> Any:
    """``a % b`` on numbers; text formatting is not part of the language."""
    if isinstance(a, (str, bytes)):
        raise Crash("TypeError")
    return a % b


def _listed(value: Any) -> Any:
    if isinstance(value, (list, tuple, dict, str, frozenset, set, range)) and len(value) > 100_000:
        raise Crash("MemoryError")
    return value


def call_function(name: str, *arguments: Any) -> Any:
    """Call a function of the language."""
    result = FUNCTIONS[name](*(_listed(a) for a in arguments))
    return list(result) if isinstance(result, range) and len(_listed(result)) >= 0 else result


def call_method(value: Any, name: str, *arguments: Any) -> Any:
    """Call a method of the language on text, a list, a tuple or a dictionary."""
    attributes = _attributes(value)
    if name == "get" and attributes:
        return attributes.get(*arguments)
    if name not in METHODS or not isinstance(value, (str, bytes, list, tuple, dict, int)):
        raise Crash("AttributeError")
    if not hasattr(value, name):
        raise Crash("AttributeError")
    result = getattr(value, name)(*arguments)
    return list(result) if name in ("items", "keys", "values") else result


def _slice(value: Any, low: Any, high: Any) -> Any:
    return value[low:high]


def _item(value: Any, key: Any) -> Any:
    attributes = _attributes(value)
    return attributes[key] if attributes else value[key]


OPERATIONS: dict[str, Callable[..., Any]] = {
    **COMPARISONS,
    **ARITHMETIC,
    "pow": power,
    "mul": multiply,
    "lshift": shift_left,
    "mod": remainder,
    "attr": attribute,
    "hasattr": has_attribute,
    "isinstance": is_instance,
    "item": _item,
    "slice": _slice,
}
