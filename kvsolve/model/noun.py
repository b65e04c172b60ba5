"""Frozen dataclasses with slots that cost little to define.

The standard decorator compiles some five functions for every class, 0.6 ms at every start, which
over forty classes is more than a whole check takes. This one compiles ``__init__`` alone and shares
the rest. What it makes is a dataclass all the same: ``fields``, ``replace`` and ``asdict`` take it.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """The decorator; ``@dataclass(frozen=True, slots=True)`` and nothing else is made fast."""
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        if options != {"frozen": True, "slots": True} or cls.__bases__ != (object,):
            return dataclasses.dataclass(**options)(cls)
        own = frozenset(vars(cls))
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
        names = tuple(f.name for f in dataclasses.fields(made))
        made.__init__ = _initialiser(made, dataclasses.fields(made))
        made._values = _reader(names)
        for name, function in _SHARED.items():
            if name not in own:
                setattr(made, name, function)
        return made


def _initialiser(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    """``__init__`` with the fields as parameters; holds names of fields and numbers only."""
    parameters: list[str] = []
    body: list[str] = ["pass"]
    scope: dict[str, Any] = {}
    post = hasattr(cls, "__post_init__")
    for number, field in enumerate(fields):
        name = field.name
        value = name
        if field.default is not dataclasses.MISSING:
            scope[f"d{number}"] = field.default
            parameters.append(f"{name}=d{number}")
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"d{number}"], scope["absent"] = field.default_factory, _ABSENT
            parameters.append(f"{name}=absent")
            value = f"d{number}() if {name} is absent else {name}"
        else:
            parameters.append(name)
        body.append(f"s{number}(self, {value})")
        # A slot's own descriptor writes it whatever __setattr__ says, and faster.
        scope[f"s{number}"] = vars(cls)[name].__set__
    if post:
        body.append("self.__post_init__()")
    head = ", ".join(("self", *parameters))
    made: dict[str, Any] = {}
    exec(f"def __init__({head}):\n " + "\n ".join(body), scope, made)
    function = made["__init__"]
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    return function


_ABSENT = object()


def _reader(names: tuple[str, ...]) -> Any:
    """Reads all fields as a tuple."""
    if len(names) == 1:
        single = attrgetter(*names)
        return property(lambda self: (single(self),))
    return property(attrgetter(*names) if names else lambda self: ())


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._values == other._values  # type: ignore[attr-defined]


def _hash(self: Any) -> int:
    return hash(self._values)


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self))
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, *_: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


def _reduce(self: Any) -> tuple[Any, ...]:
    return self.__class__, self._values


_SHARED = {
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__reduce__": _reduce,
}
