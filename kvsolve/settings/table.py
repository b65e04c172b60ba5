"""One table of settings: keys known, values of their kinds, suppressions with reasons."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.settings.file import Ignored, Settings, keys
from kvsolve.settings.options import SHARED
from kvsolve.settings.values import checked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["read_table"]

_OPTIONS = {o.name.replace("_", "-"): o for o in SHARED if o.name != "settings"}
_IGNORE_KEYS = ("code", "files", "reason")


def read_table(file: str, table: Mapping[str, Any]) -> Settings:
    """The settings that a table holds.

    Args:
        file: Its file, for sentences and for the paths in it.
        table: As TOML has it.

    Raises:
        KvsolveError: A key is not known or a value of another kind.
    """
    folder = os.path.dirname(file)
    values: dict[str, Any] = {}
    for key, value in table.items():
        where = f"{file}: {key}"
        _must_be_known(key, keys(), file)
        if key in _OPTIONS:
            values[_OPTIONS[key].name] = checked(_OPTIONS[key], value, where, folder)
        elif key in ("extend", "baseline"):
            values[key] = os.path.normpath(os.path.join(folder, _text(value, where)))
        elif key == "format":
            values[key] = _format(_text(value, where), where)
        elif key == "keep":
            values[key] = _texts(value, where)
        elif key == "cost":
            values[key] = _costs(value, where)
        elif key == "notes":
            if not isinstance(value, bool):
                raise KvsolveError(f"{where} is true or false")
            values[key] = value
    if values.get("model_config") and values.get("family"):
        raise KvsolveError(f"{file}: model-config and family both say what the model is; give one")
    return Settings(file, values, tuple(_ignores(file, table.get("ignore", []))))


def _must_be_known(key: str, known: Sequence[str], file: str) -> None:
    if key in known:
        return
    from kvsolve.inputs.spelling import nearest

    near = nearest(key, tuple(known), 1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    raise KvsolveError(f"{file}: there is no key {key}; {hint}")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise KvsolveError(f"{where} is a text")
    return value


def _format(value: str, where: str) -> str:
    from kvsolve.outputs.writers import CHECK_FORMATS

    if value not in CHECK_FORMATS:
        raise KvsolveError(f"{where} is one of {', '.join(CHECK_FORMATS)}, not {value!r}")
    return value


def _costs(value: Any, where: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise KvsolveError(f"{where} is a table of whole numbers")
    for flag, cost in value.items():
        if not isinstance(cost, int) or isinstance(cost, bool) or cost < 1:
            raise KvsolveError(f"{where}: the cost of {flag} is a positive whole number")
    return dict(value)


def _ignores(file: str, rows: Any) -> Iterator[Ignored]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise KvsolveError(f"{file}: ignore is a list of tables, [[ignore]]")
    for number, row in enumerate(rows, 1):
        where = f"{file}: ignore, table {number}"
        for key in row:
            _must_be_known(key, _IGNORE_KEYS, where)
        for key in ("code", "reason"):
            if key not in row:
                raise KvsolveError(f"{where} gives no {key}")
        codes = _texts(row["code"], f"{where}: code")
        yield Ignored(codes, _text(row["reason"], f"{where}: reason"), _files(row, where))


def _files(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    return _texts(row["files"], f"{where}: files") if "files" in row else ()


def _texts(value: Any, where: str) -> tuple[str, ...]:
    """A text or a list of texts."""
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, str) and item.strip() for item in items):
        raise KvsolveError(f"{where} is a text or a list of texts")
    return tuple(items)
