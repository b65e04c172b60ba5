"""Values of options as a file or the environment gives them, checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from kvsolve.settings.options import Option

__all__ = ["checked", "read"]

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"", "0", "false", "no", "off"})


def checked(option: Option, value: Any, where: str, folder: str) -> Any:
    """The value of an option as a TOML file gives it.

    Args:
        option: Which one.
        value: As TOML has it.
        where: The file and the key, for the sentence.
        folder: From which paths are meant.

    Raises:
        KvsolveError: It is of another kind.
    """
    kind = option.kind
    if kind == "texts":
        return _pairs(value, where)
    if kind == "switch" and isinstance(value, bool):
        return value
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return _least(option, value, where)
    if kind == "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _least(option, float(value), where)
    if kind in ("text", "path", "choice") and isinstance(value, str):
        return _word(option, value, where, folder)
    raise KvsolveError(f"{where} {_TAKES[kind]}, not {_shown(value)}")


def read(option: Option, text: str, where: str) -> Any:
    """The value of an option as an environment variable gives it.

    Raises:
        KvsolveError: It cannot be read.
    """
    if option.kind == "switch":
        word = text.strip().lower()
        if word not in _TRUE | _FALSE:
            raise KvsolveError(f"{where} is true or false, not {text!r}")
        return word in _TRUE
    if option.kind in ("int", "float"):
        try:
            number = int(text) if option.kind == "int" else float(text)
        except ValueError:
            raise KvsolveError(f"{where} {_TAKES[option.kind]}, not {text!r}") from None
        return _least(option, number, where)
    if option.kind == "texts":
        return tuple(text.split())
    return _word(option, text, where, os.curdir)


_TAKES = {
    "text": "is a text",
    "texts": "is a table of texts",
    "path": "is a path",
    "int": "is a whole number",
    "float": "is a number",
    "switch": "is true or false",
    "choice": "is a text",
}


def _word(option: Option, value: str, where: str, folder: str) -> str:
    if option.kind == "choice" and value not in option.choices:
        raise KvsolveError(f"{where} is one of {', '.join(option.choices)}, not {value!r}")
    if option.kind == "path" and folder != os.curdir:
        return os.path.normpath(os.path.join(folder, os.path.expanduser(value)))
    return value


def _least(option: Option, value: Any, where: str) -> Any:
    if not value >= (option.least or 0):
        raise KvsolveError(f"{where} is at least {option.least or 0}, not {value}")
    return value


def _pairs(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, dict):
        raise KvsolveError(f"{where} {_TAKES['texts']}, not {_shown(value)}")
    for name, item in value.items():
        if not isinstance(item, str):
            raise KvsolveError(f"{where}: the value of {name} is a text, not {_shown(item)}")
    return tuple(f"{name}={item}" for name, item in value.items())


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, default=str)
