"""A JSON Schema for the ``--config`` YAML of a release, made from its table of options.

Any YAML language server completes and checks a file with it. It lets through what the release reads
as it looks: a null, say, would become the text ``None``, so it is no value here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.inputs.config_file import switches, unsupported
from kvsolve.model.flag import UNSET

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["config_schema"]

Schema = dict[str, Any]
_DIALECT = "http://json-schema.org/draft-07/schema#"
_INTEGER: Schema = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?[0-9]+$"}]}
# Below zero only as upstream's parser knows a number from an option.
_NUMBER: Schema = {
    "anyOf": [
        {"type": "number"},
        {
            "type": "string",
            "pattern": r"^(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|-[0-9]*\.?[0-9]+)$",
        },
    ]
}
_SIZE: Schema = {
    "anyOf": [
        {"type": "integer"},
        {
            "type": "string",
            "pattern": r"^(-?[0-9]+|[0-9]+(Ki|Mi|Gi|Ti)|[0-9]+(\.[0-9]+)?(k|M|G|T))$",
        },
    ]
}
_TEXT: Schema = {"type": ["string", "number"]}
_JSON: Schema = {"type": ["object", "string"]}
_NOTHING = "This option cannot be given in a file."
# Releases whose reader knows no options take "false" for "not given" whatever the option, and
# "true" for the option without a value, which some options do without.
_LEFT_OUT: Schema = {"enum": [False]}
_BARE: Schema = {"type": "boolean"}


def config_schema(table: FlagTable) -> Schema:
    """The schema of a release.

    Args:
        table: Its options.
    """
    bare, refused = switches(table), unsupported(table)
    knows_none = table.launcher["config_keys"] == "none"
    properties = {}
    for flag in table.flags:
        for spelling in flag.spellings:
            if spelling.startswith("--") and spelling != "--config":
                key = spelling[2:]
                properties[key] = (
                    _loosened(flag, spelling)
                    if knows_none
                    else _property(flag, spelling, key.replace("-", "_"), bare, refused)
                )
    return {
        "$schema": _DIALECT,
        "title": f"SGLang {table.release} --config",
        "description": (
            "Options of an SGLang server, spelled as on the command line without the dashes in "
            "front. Written by `kvsolve schema config`."
        ),
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": dict(sorted(properties.items())),
    }


def _property(flag: Flag, spelling: str, name: str, bare: set[str], refused: set[str]) -> Schema:
    if name in refused or (flag.action == "store_true" and name not in bare):
        return {"not": {}, "description": _NOTHING}
    if flag.action not in ("store", "store_true", "alias"):
        return {"not": {}, "description": _NOTHING}
    found = {"type": "boolean"} if flag.action == "store_true" else _values(flag)
    return {**_about(flag, spelling), **found}


def _loosened(flag: Flag, spelling: str) -> Schema:
    """What a file may say of an option where its reader knows none of them."""
    if flag.action == "store_true":
        return {**_about(flag, spelling), **_BARE}
    found = _values(flag)
    branches = found.get("anyOf", [found]) if flag.nargs in ("*", "+") else [found]
    beside = _BARE if flag.nargs in ("*", "?") else _LEFT_OUT
    return {**_about(flag, spelling), "anyOf": [*branches, beside]}


def _about(flag: Flag, spelling: str) -> Schema:
    """What an editor tells of an option."""
    words = " ".join(_words(flag, spelling))
    about: Schema = {"description": words} if words else {}
    if _tellable(flag):
        about["default"] = flag.default
    if flag.deprecated or flag.action == "alias":
        about["deprecated"] = True
    return about


def _values(flag: Flag) -> Schema:
    one = _one(flag)
    many: Schema = {"type": "array", "items": one}
    if flag.nargs in ("*", "+"):
        return {"anyOf": [one, many]}
    if isinstance(flag.nargs, int) and flag.nargs > 1:
        return {**many, "minItems": flag.nargs, "maxItems": flag.nargs}
    return one


def _one(flag: Flag) -> Schema:
    """One value of a flag."""
    if flag.choices is not None:
        extra = [value for _, values in flag.choices_by_env for value in values]
        return {"enum": [*_written(flag.choices), *_written(extra)]}
    if flag.type in ("json", "strict_json") or flag.type.startswith("phase_settings"):
        return _JSON
    if flag.type == "living_word":
        return {"type": "string", "not": {"enum": list(flag.type_facts["retired"])}}
    return {"int": _INTEGER, "float": _NUMBER, "human_int": _SIZE}.get(flag.type, _TEXT)


def _written(choices: Iterable[Any]) -> Iterator[Any]:
    """Choices as a file may hold them: a word that YAML would read as a number, either way."""
    for choice in choices:
        yield choice
        if isinstance(choice, int):
            yield str(choice)
        elif isinstance(choice, str) and choice.isdecimal():
            yield int(choice)


def _words(flag: Flag, spelling: str) -> Iterator[str]:
    others = [other for other in flag.spellings if other != spelling]
    if others:
        yield f"Also spelled {', '.join(others)}."
    if flag.choices_by_env:
        for variable, values in flag.choices_by_env:
            yield f"{', '.join(map(str, values))}: only while {variable} is set."
    if flag.type in ("json", "strict_json"):
        yield "A mapping, or JSON text."
    if flag.new_flag:
        yield f"Use {flag.new_flag} instead."
    elif flag.deprecated:
        yield "Deprecated in this release."
    if flag.required:
        yield "Required, here or on the command line."


def _tellable(flag: Flag) -> bool:
    return flag.default is not UNSET and flag.default is not None
