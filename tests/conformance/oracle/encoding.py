"""Python values as JSON: plain values stay, objects become their class and attributes."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from .model_configs import MODELS_DIRECTORY

__all__ = ["OPAQUE", "encode"]

OPAQUE = object()
"""What ``encode`` returns for a value that has no JSON form."""

DEEPEST = 8
OF_INTEREST = ("sglang", "transformers", "types")
SCALARS = (str, int, float, bool, type(None))


def encode(value: Any, depth: int = 0, *, hidden: bool = False) -> Any:
    """The JSON form of a value.

    Objects are ``{"__object__": class name, "attributes": {...}}``; members without a JSON form
    are left out. A path to one of the synthetic models is spelled ``@model:NAME``.

    Args:
        value: Anything.
        depth: How deep the value lies already; far below it everything is opaque.
        hidden: Keep attributes whose name begins with an underscore.

    Returns:
        The JSON form, or ``OPAQUE``.
    """
    if depth > DEEPEST:
        return OPAQUE
    if isinstance(value, enum.Enum):
        plain = isinstance(value, str | int)
        return value.value if plain else f"{type(value).__name__}.{value.name}"
    if isinstance(value, str):
        return _without_directory(value)
    if isinstance(value, SCALARS):
        return value
    return _encode_container(value, depth, hidden)


def _encode_container(value: Any, depth: int, hidden: bool) -> Any:
    if isinstance(value, list | tuple):
        items = [encode(item, depth + 1, hidden=hidden) for item in value]
        return OPAQUE if OPAQUE in items else items
    if isinstance(value, set | frozenset):
        items = [encode(item, depth + 1, hidden=hidden) for item in value]
        return OPAQUE if OPAQUE in items else {"__set__": sorted(items, key=repr)}
    if isinstance(value, dict):
        return _members(value.items(), depth, hidden=True)
    return _encode_object(value, depth, hidden)


def _encode_object(value: Any, depth: int, hidden: bool) -> Any:
    kind = type(value)
    package = str(kind.__module__).partition(".")[0]
    if package == "torch":
        return str(value) if kind.__name__ in ("dtype", "device") else OPAQUE
    if package not in OF_INTEREST or callable(value):
        return OPAQUE
    attributes = _attributes(value)
    if attributes is None:
        return OPAQUE
    return {"__object__": kind.__name__, "attributes": _members(attributes, depth, hidden=hidden)}


def _attributes(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return [(f.name, getattr(value, f.name, None)) for f in dataclasses.fields(value)]
    if hasattr(type(value), "__struct_fields__"):
        return [(name, getattr(value, name)) for name in type(value).__struct_fields__]
    return vars(value).items() if hasattr(value, "__dict__") else None


def _members(items: Any, depth: int, *, hidden: bool) -> dict[str, Any]:
    found = {}
    for name, item in items:
        if hidden or not str(name).startswith("_"):
            encoded = encode(item, depth + 1, hidden=hidden)
            if encoded is not OPAQUE:
                found[str(name)] = encoded
    return found


def _without_directory(text: str) -> str:
    prefix = f"{MODELS_DIRECTORY}/"
    return f"@model:{text.removeprefix(prefix)}" if text.startswith(prefix) else text
