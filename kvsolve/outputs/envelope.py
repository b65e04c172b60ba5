"""The JSON that programs rely on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kvsolve import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["VERSION", "envelope", "head", "json_line", "json_text", "problem"]

VERSION = 1
"""Version of the envelope: keys may be added under it, none removed or changed in meaning."""


def envelope(
    results: Iterable[Mapping[str, Any]], errors: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Results and what could not be read, as one object."""
    return {**head(), "results": list(results), "errors": list(errors)}


def head() -> dict[str, Any]:
    """The keys that every answer starts with."""
    return {"version": VERSION, "tool": "kvsolve", "tool_version": __version__}


def problem(file: str, line: int | None, message: str) -> dict[str, Any]:
    """Something of the input that could not be read."""
    return {"file": file, "line": line, "message": message}


def json_text(value: Any) -> str:
    """Indented JSON for people and programs alike, with its newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n"


def json_line(value: Any) -> str:
    """JSON on one line, with its newline."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain) + "\n"


def _plain(value: Any) -> Any:
    # Sets stand in some upstream defaults; anything else is told by its name.
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if to_dict else str(value)
