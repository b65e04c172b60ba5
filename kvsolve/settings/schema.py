"""A JSON Schema for kvsolve.toml, made from the declarations of the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.writers import CHECK_FORMATS
from kvsolve.settings.options import SHARED

if TYPE_CHECKING:
    from kvsolve.settings.options import Option

__all__ = ["settings_schema"]

Schema = dict[str, Any]
_TEXTS: Schema = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
    ]
}
_IGNORE: Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["code", "reason"],
    "properties": {
        "code": {**_TEXTS, "description": "Codes or slugs of findings that do not count."},
        "reason": {"type": "string", "minLength": 1, "description": "Why."},
        "files": {**_TEXTS, "description": "Only in files that match, below this folder."},
    },
}
_OWN: Schema = {
    "baseline": {"type": "string", "description": "A file of findings that do not count."},
    "cost": {
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": 1},
        "description": "Make edits of a flag so many times as dear.",
    },
    "extend": {"type": "string", "description": "Settings that hold where these say nothing."},
    "format": {"enum": list(CHECK_FORMATS), "description": "How to print answers."},
    "ignore": {"type": "array", "items": _IGNORE, "description": "Findings that do not count."},
    "keep": {**_TEXTS, "description": "Flags that a fix leaves as they are."},
    "notes": {"type": "boolean", "description": "Show what SGLang does by itself."},
}


def settings_schema() -> Schema:
    """The schema of kvsolve.toml, and of ``[tool.kvsolve]`` in pyproject.toml."""
    shared = {o.name.replace("_", "-"): _property(o) for o in SHARED if o.name != "settings"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "kvsolve.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": dict(sorted({**shared, **_OWN}.items())),
        "not": {"required": ["model-config", "family"]},
    }


def _property(option: Option) -> Schema:
    about: Schema = {"description": option.help.replace("; repeatable", "")}
    if option.default is not None:
        about["default"] = option.default
    if option.kind == "choice":
        return {**about, "enum": list(option.choices)}
    if option.kind == "texts":
        return {**about, "type": "object", "additionalProperties": {"type": "string"}}
    kinds = {"int": "integer", "float": "number", "switch": "boolean"}
    found: Schema = {**about, "type": kinds.get(option.kind, "string")}
    return found if option.least is None else {**found, "minimum": option.least}
