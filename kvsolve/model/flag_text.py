"""Flag tables as JSON text: one flag a line, only what differs from the usual."""

from __future__ import annotations

import json
from dataclasses import fields

from kvsolve.errors import KvsolveError
from kvsolve.model.flag import ACTIONS, UNSET, Flag, FlagTable, Value

__all__ = ["read_table", "write_table"]

FORMAT = 1
_USUAL = {f.name: f.default for f in fields(Flag) if f.name not in ("dest", "spellings")}
_TUPLES = frozenset({"spellings", "choices", "choices_by_env"})


def write_table(table: FlagTable, command: str) -> str:
    """The text of a table's file; ``command`` is kept in its header."""
    head = {
        "format": FORMAT,
        "sglang": table.release,
        "written_by": command,
        "launcher": table.launcher,
    }
    pairs = (f"{_json(name)}:{_json(table.fields[name])}" for name in sorted(table.fields))
    return "\n".join((
        "{" + _json(head)[1:-1] + ',"fields":{',
        ",\n".join(pairs),
        '},"flags":[',
        ",\n".join(_json(_object(flag)) for flag in table.flags),
        "]}\n",
    ))  # fmt: skip


def read_table(text: str, where: str) -> FlagTable:
    """Read a table back.

    Raises:
        KvsolveError: The text is no flag table.
    """
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise KvsolveError(f"{where} has format {data['format']}, not {FORMAT}.")
        flags = [_flag(entry) for entry in data["flags"]]
        return FlagTable(data["sglang"], flags, data["fields"], data["launcher"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise KvsolveError(f"{where} is no flag table: {error!r}.") from error


def _json(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(flag: Flag) -> dict[str, Value]:
    """What differs from the usual; an unset default is told by ``"no_default"``."""
    entry: dict[str, Value] = {"dest": flag.dest, "spellings": flag.spellings}
    for name, usual in _USUAL.items():
        value = getattr(flag, name)
        if name == "default" and value is UNSET:
            entry["no_default"] = True
        elif value != usual or type(value) is not type(usual):
            entry[name] = value
    return entry


def _flag(entry: dict[str, Value]) -> Flag:
    known = {k: _frozen(v) if k in _TUPLES else v for k, v in entry.items() if k != "no_default"}
    if entry.get("no_default"):
        known["default"] = UNSET
    flag = Flag(**known)
    if flag.action not in ACTIONS or not flag.spellings:
        raise ValueError(f"bad flag {entry}")
    return flag


def _frozen(value: Value) -> Value:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
