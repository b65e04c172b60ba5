"""What each operation of the entry language does to values.

Values are data: constants, lists, dictionaries and configuration objects. An attribute is looked up
in a configuration object's own table and nowhere else, so an expression reaches no Python object's
internals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import ARITHMETIC, COMPARISONS, FUNCTIONS, METHODS, Crash

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OPERATIONS", "call_function", "call_method"]


def _attributes(value: Any) -> dict[str, Any]:
    found = getattr(type(value), "attributes_of", None)
    return found(value) if found is not None else {}


def _class_names(value: Any) -> tuple[str, ...]:
    return getattr(value, "class_names", ()) if _attributes(value) else ()


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
    """Whether a value is of one of the named built-in types or classes of configurations."""
    own = {type(value).__name__, "int"} if isinstance(value, bool) else {type(value).__name__}
    if isinstance(value, (list, tuple)):  # constants hold lists as tuples
        own = {"list", "tuple"}
    return not own.isdisjoint(names) or not set(names).isdisjoint(_class_names(value))


def call_function(name: str, *arguments: Any) -> Any:
    """Call a function of the language."""
    return FUNCTIONS[name](*arguments)


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
    "attr": attribute,
    "hasattr": has_attribute,
    "isinstance": is_instance,
    "item": _item,
    "slice": _slice,
}
