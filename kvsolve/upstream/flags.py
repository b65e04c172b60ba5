"""Read every command-line option of a release's server from its syntax trees.

Up to 0.5.19 the options are derived from the annotated fields of ``ServerArgs``; later releases
spread the fields over ``arg_groups/fields/``. Both add a few by hand in ``add_cli_args``. The
code that derives options, the actions and the value types are modelled here by name; a fingerprint
of each guards against a release in which one of them means something else.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.flag import UNSET, Flag, FlagTable
from kvsolve.upstream.derived_code import KNOWN_ACTIONS, known_type, require_known
from kvsolve.upstream.record import RECORD_FILE, Field, Meta, record_class, record_fields
from kvsolve.upstream.static import (
    Class,
    External,
    Function,
    Member,
    Scope,
    Static,
    Unreadable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.upstream.source import SourceTree

__all__ = ["read_flags"]

_SCALARS = {"int": "int", "float": "float"}


def read_flags(tree: SourceTree) -> FlagTable:
    """Every option of the release, as its own parser declares it.

    Raises:
        KvsolveError: Something that decides an option cannot be read, or the release derives its
            options in a way that is not known here.
    """
    require_known(tree)
    static = Static(tree)
    fields = record_fields(static)
    flags = [flag for field in fields if (flag := _derived(field, static)) is not None]
    flags += _Manual(static, {f.name: f.default for f in fields}).read()
    _check_default_order(flags)
    defaults = {f.name: _json(f.default) for f in fields}
    return FlagTable(tree.release, flags, defaults)


# -- options derived from annotated fields


def _derived(field: Field, static: Static) -> Flag | None:
    """The option that ``add_cli_args_from_dataclass`` derives from a field, if it does."""
    meta = field.meta
    if meta is None or meta.no_cli:
        return None
    first = meta.cli_name or "--" + field.name.replace("_", "-")
    base = Flag(
        dest=field.name,
        spellings=(first, *meta.aliases),
        default=None if field.default is UNSET else _json(field.default),
        deprecated=_says_deprecated(meta.help),
        new_flag="",
    )
    if meta.action is not None:
        return _with_action(base, meta)
    shape = field.shape
    if shape.literals is not None:
        choices = meta.choices or _choices(shape.literals)
        kind = _SCALARS.get(type(shape.literals[0]).__name__, "str")
        return _valued(base, meta, static, kind=kind, choices=choices)
    if shape.element is not None and meta.type_parser is None:
        kind = _SCALARS.get(shape.element, "str")
        return _valued(base, replace(meta, nargs=meta.nargs or "+"), static, kind=kind)
    if shape.name == "bool":
        return replace(base, action="store_true", nargs=0)
    made = _valued(base, meta, static, kind=_SCALARS.get(shape.name, "str"))
    needed = meta.required is True or (meta.required is None and field.default is UNSET)
    return replace(made, required=needed)


def _valued(
    base: Flag, meta: Meta, static: Static, kind: str, choices: _Choices | None = None
) -> Flag:
    facts = None
    if meta.type_parser is not None:
        kind, facts = known_type(meta.type_parser, static)
    chosen = choices or meta.choices
    return replace(
        base,
        type=kind,
        type_facts=facts,
        nargs=meta.nargs,
        choices=chosen[0] if chosen else None,
        choices_by_env=chosen[1] if chosen else (),
        const=meta.const,
    )
