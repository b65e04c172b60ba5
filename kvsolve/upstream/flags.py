"""Read every command-line option of a release's server from its syntax trees.

Up to 0.5.19 the options are derived from the annotated fields of ``ServerArgs``; later releases
spread the fields over ``arg_groups/fields/``. Both add a few by hand in ``add_cli_args``. The
code that derives options, the actions and the value types are modelled here by name; a fingerprint
of each guards against a release in which one of them means something else.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.flag import UNSET, Flag, FlagTable
from kvsolve.upstream.derived_code import known_action, known_type, require_known
from kvsolve.upstream.launcher import read_launcher
from kvsolve.upstream.record import (
    RECORD_FILE,
    Meta,
    choices_of,
    is_suppressed,
    plain,
    record_class,
    record_fields,
    text_of,
)
from kvsolve.upstream.static import Static
from kvsolve.upstream.static_values import Scope, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.record import Choices, Field
    from kvsolve.upstream.source import SourceTree

__all__ = ["read_flags"]

_SCALARS = {"int": "int", "float": "float"}


def read_flags(tree: SourceTree) -> FlagTable:
    """Every option of the release, as its own parser declares it.

    Raises:
        KvsolveError: Something that decides an option cannot be read, or the release derives its
            options by code that is not known here.
    """
    require_known(tree)
    static = Static(tree)
    fields = record_fields(static)
    flags = [flag for field in fields if (flag := _derived(field, static)) is not None]
    flags += _by_hand(static, {f.name: f.default for f in fields})
    moved = dict(_moved(record_class(static).node))
    flags = [replace(flag, dest=moved.get(flag.dest, flag.dest)) for flag in flags]
    table = FlagTable(
        tree.release,
        flags,
        {f.name: None if f.default is UNSET else f.default for f in fields},
        read_launcher(tree),
    )
    _check_defaults(flags, table)
    return table


def _derived(field: Field, static: Static) -> Flag | None:
    """The option that upstream derives from an annotated field, if it does."""
    meta = field.meta
    if meta is None or meta.no_cli:
        return None
    first = meta.cli_name or "--" + field.name.replace("_", "-")
    base = Flag(
        dest=field.name,
        spellings=(first, *meta.aliases),
        default=None if field.default is UNSET else field.default,
        deprecated=_says_deprecated(meta.help),
        hidden=meta.hidden,
    )
    if meta.action is not None:
        return _acting(base, meta, static)
    shape = field.shape
    if shape.literals is not None:
        kind = _SCALARS.get(type(shape.literals[0]).__name__, "str")
        literals = choices_of(list(shape.literals), static)
        meta = replace(meta, choices=meta.choices or literals, nargs=None)
        return _valued(base, meta, static, kind)
    if shape.element is not None and meta.type_parser is None:
        kind = _SCALARS.get(shape.element, "str")
        return _valued(base, replace(meta, nargs=meta.nargs or "+"), static, kind)
    if shape.name == "bool":
        return replace(base, action="store_true", nargs=0)
    made = _valued(base, meta, static, _SCALARS.get(shape.name, "str"))
    needed = meta.required is True or (meta.required is None and field.default is UNSET)
    return replace(made, required=needed)


def _valued(base: Flag, meta: Meta, static: Static, kind: str) -> Flag:
    facts = None
    if meta.type_parser is not None:
        kind, facts = known_type(meta.type_parser, static)
    made = replace(base, type=kind, type_facts=facts, nargs=meta.nargs, const=plain(meta.const))
    return _choosing(made, meta.choices)


def _choosing(flag: Flag, choices: Choices | None) -> Flag:
    if choices is None:
        return flag
    return replace(flag, choices=choices.values, choices_by_env=choices.by_env)


def _acting(base: Flag, meta: Meta, static: Static) -> Flag:
    """An option whose annotation names an action."""
    action = known_action(meta.action, static)
    if action == "boolean" and not meta.action_kwargs:
        negated = tuple("--no-" + s[2:] for s in base.spellings if s.startswith("--"))
        spellings = [s for pair in zip(base.spellings, negated, strict=True) for s in pair]
        return replace(base, action="boolean", spellings=tuple(spellings), nargs=0)
    given = dict(meta.action_kwargs or {})
    kind, facts = known_type(given.pop("type"), static) if "type" in given else ("str", None)
    nargs = given.pop("nargs", None)
    if given or action != "lora_paths":
        raise UnreadableError(f"{base.name} is declared in a way that is not known.")
    return replace(base, action=action, type=kind, type_facts=facts, nargs=nargs)


# -- options added by hand


def _by_hand(static: Static, defaults: dict[str, Any]) -> Iterator[Flag]:
    """The options of the explicit ``parser.add_argument`` calls in ``add_cli_args``."""
    record = record_class(static)
    scope = Scope(record.path)
    for statement in _function(record.node, "add_cli_args").body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call):
            static.execute(statement, scope)
            continue
        name = ast.unparse(call.func)
        if name == "parser.add_argument":
            yield _added(call, static, scope, defaults)
        elif ast.unparse(call) != "add_cli_args_from_dataclass(parser, ServerArgs)":
            raise UnreadableError(f"{record.path}:{call.lineno} calls {name}, which is not known.")


def _moved(record: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The parser's own names of values that the record takes under another one.

    Up to 0.5.13 ``from_cli_args`` assigns ``args.tp_size = args.tensor_parallel_size`` and so on.
    """
    for node in record.body:
        if not isinstance(node, ast.FunctionDef) or node.name != "from_cli_args":
            continue
        for line in node.body:
            if not isinstance(line, ast.Assign) or not isinstance(line.value, ast.Attribute):
                continue
            target, source = line.targets[0], line.value
            if isinstance(target, ast.Attribute) and ast.unparse(source.value) == "args":
                yield source.attr, target.attr


def _function(owner: ast.ClassDef, name: str) -> ast.FunctionDef:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise UnreadableError(f"{RECORD_FILE}: {owner.name} has no {name}.")


def _added(call: ast.Call, static: Static, scope: Scope, defaults: dict[str, Any]) -> Flag:
    spellings = tuple(static.value(arg, scope) for arg in call.args)
    given = {k.arg: k.value for k in call.keywords if k.arg}
    words = given.pop("help", None)
    values = {k: _keyword(k, node, static, scope, defaults) for k, node in given.items()}
    flag = Flag(
        dest=values.pop("dest", spellings[0].lstrip("-").replace("-", "_")),
        spellings=spellings,
        hidden=is_suppressed(words),
        deprecated=_says_deprecated(text_of(words)),
        new_flag=values.pop("new_flag", ""),
    )
    made = _as_action(flag, known_action(values.pop("action", "store"), static), values, static)
    if values:
        unknown = ", ".join(sorted(values))
        raise UnreadableError(f"{scope.module}:{call.lineno} passes {unknown}, not known here.")
    return made


def _as_action(flag: Flag, action: str, values: dict[str, Any], static: Static) -> Flag:
    """Complete a flag from the keywords of its action, taking out those it understands."""
    if action == "store_true":
        return replace(flag, action=action, nargs=0, default=values.pop("default", False))
    if action in ("ignore", "ignore_or_refuse"):
        pointer = values.pop("error_message", None)
        return replace(
            flag,
            action="ignore" if pointer is None else "refuse",
            nargs=0,
            deprecated=True,
            new_flag=_named_flag(pointer or "", flag.name),
        )
    if action == "const_true":
        default = values.pop("default", False)
        return replace(flag, action="const", nargs=0, const=True, default=default, deprecated=True)
    kind, facts = known_type(values.pop("type"), static) if "type" in values else ("str", None)
    made = replace(
        flag,
        action=action,
        type=kind,
        type_facts=facts,
        nargs=values.pop("nargs", 0 if action == "const" else None),
        default=values.pop("default", None),
        const=values.pop("const_value" if action == "const" else "const", None),
        deprecated=flag.deprecated or action != "store",
        required=values.pop("required", False),
    )
    return _choosing(made, values.pop("choices", None))


def _named_flag(words: str, retired: str) -> str:
    """The first option other than the retired one that a message names."""
    return next((w for w in re.findall(r"--[a-z][a-z0-9-]*", words) if w != retired), "")


def _says_deprecated(words: str) -> bool:
    return words.lstrip("[( ").lower().startswith("deprecated")


def _check_defaults(flags: list[Flag], table: FlagTable) -> None:
    """An option registered first sets the default of its name; the table must agree.

    Raises:
        UnreadableError: Sorting the options changed what an empty command parses to.
    """
    first: dict[str, Any] = {}
    for flag in flags:
        if flag.default is not UNSET:
            first.setdefault(flag.dest, flag.default)
    if first != dict(table.defaults):
        wrong = sorted(k for k, v in first.items() if table.defaults.get(k) != v)
        raise UnreadableError(f"The defaults of {wrong} depend on the order of declaration.")


def _keyword(
    name: str, node: ast.expr, static: Static, scope: Scope, defaults: dict[str, Any]
) -> Any:
    """A keyword's value; a field's declared default is looked up, not read from the class."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "ServerArgs":
        return defaults[node.attr]
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "_declared_default":
        return defaults[static.value(node.args[0], scope)]
    value = static.value(node, scope)
    if name == "choices":
        return choices_of(value, static)
    return value if name in ("type", "action") else plain(value)
