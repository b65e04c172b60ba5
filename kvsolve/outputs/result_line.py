"""A check's answer as one line of JSON, the same text that the plain encoder gives.

An answer names some five hundred effective values and as many origins, nearly all of which are the
defaults of the release. These are encoded once; of an answer only what differs is.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from kvsolve.model.overlay import Overlay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.model.finding import CheckResult

__all__ = ["compact", "result_line"]

compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
"""A value as JSON without spaces."""


def result_line(result: CheckResult, ident: Any = None) -> str:
    """The JSON of an answer on one line.

    Args:
        result: The answer.
        ident: What to call it where the answer itself has no ``id``.
    """
    head, tail = result.around_values()
    if "id" not in head:
        head = {"id": ident, **head}
    values = f'"effective":{_object(result.effective)},"provenance":{_object(result.provenance)}'
    return f"{compact(head)[:-1]},{values},{compact(tail)[1:]}"


def _object(values: Mapping[str, Any]) -> str:
    if not isinstance(values, Overlay):
        return compact(dict(values))
    shared, changes = values.parts
    if len(shared.texts) != len(shared.values):
        shared.texts = {name: _entry(name, value) for name, value in shared.values.items()}
    if not changes:
        return "{" + ",".join(shared.texts.values()) + "}"
    texts = shared.texts | {name: _entry(name, value) for name, value in changes.items()}
    return "{" + ",".join(texts.values()) + "}"


def _entry(name: str, value: Any) -> str:
    return f"{encode_basestring(name)}:{_text(value)}"


def _text(value: Any) -> str:
    """JSON of a value: for the plain ones an encoder costs more to start than to run."""
    if type(value) is str:
        return encode_basestring(value)
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    return repr(value) if type(value) is int else compact(value)
