"""The JSON Schemas of what kvsolve prints, as they are shipped."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["answer_schema", "answers"]

_FILE = "answers.schema.json"
_PARTS = "#/$defs/"


@lru_cache(maxsize=1)
def _all() -> dict[str, Any]:
    """Every definition: inside an installed package, beside it in a source checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_schemas", package.parent / "schemas"):
        file = folder / _FILE
        if file.is_file():
            return dict(json.loads(file.read_text(encoding="utf-8")))
    raise KvsolveError("kvsolve's own schemas folder is missing; install kvsolve again")


def answers() -> tuple[str, ...]:
    """Names of the answers that have a schema: the verbs, and files that kvsolve writes."""
    parts = _all()["$defs"].items()
    return tuple(name for name, part in parts if _tells_of(name, part.get("description", "")))


def _tells_of(name: str, description: str) -> bool:
    """Whether a definition is that of an answer: its words name the verb, or what writes it."""
    return f"`kvsolve {name}" in description or description.startswith("The file of")


def answer_schema(name: str) -> dict[str, Any]:
    """The schema of one answer, with the definitions that it needs.

    Args:
        name: One of :func:`answers`.
    """
    every = _all()
    needed = dict.fromkeys([name])
    waiting = [name]
    while waiting:
        for part in _refs(every["$defs"][waiting.pop()]):
            if part not in needed:
                needed[part] = None
                waiting.append(part)
    return {
        "$schema": every["$schema"],
        "title": f"kvsolve {name}",
        "$ref": _PARTS + name,
        "$defs": {part: every["$defs"][part] for part in needed},
    }


def _refs(schema: Any) -> Iterator[str]:
    """The names of the definitions that a schema points at."""
    if isinstance(schema, dict):
        target = schema.get("$ref")
        if isinstance(target, str):
            yield target.removeprefix(_PARTS)
        for value in schema.values():
            yield from _refs(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _refs(item)
