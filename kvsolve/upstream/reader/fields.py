"""Names, defaults and fallbacks of the fields of the server arguments, from the source alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.upstream.reader.values import ClassValue
from kvsolve.upstream.record import platform_default

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.upstream.reader.modules import Module, Modules

__all__ = ["RecordFields", "record_class", "record_fields"]

RECORD_MODULE = "sglang.srt.server_args"


@dataclass(frozen=True, slots=True)
class RecordFields:
    """What the record declares.

    Attributes:
        defaults: Field -> default where it is a literal, else an empty tuple (not None).
        fallbacks: Field -> the scalar that stands for None at the very end.
        on_platform: Field -> the predicate on whose platform it is True where nothing is given.
    """

    defaults: Mapping[str, Any]
    fallbacks: Mapping[str, Any]
    on_platform: Mapping[str, str]


def record_class(modules: Modules) -> ClassValue:
    """The class ``ServerArgs``.

    Raises:
        KvsolveError: The tree has none.
    """
    module = modules.get(RECORD_MODULE)
    definition = None
    if module is not None:
        classes = [s for s in module.tree.body if isinstance(s, ast.ClassDef)]
        definition = next((c for c in classes if c.name == "ServerArgs"), None)
    if module is None or definition is None:
        raise KvsolveError("The source has no ServerArgs in sglang/srt/server_args.py.")
    return ClassValue(module, definition)


def record_fields(modules: Modules) -> RecordFields:
    """Fields of the record and of the namespaces that it is assembled from."""
    record = record_class(modules)
    defaults: dict[str, Any] = {}
    fallbacks: dict[str, Any] = {}
    on_platform: dict[str, str] = {}
    for owner in (*_namespaces(modules, record.module), record.node):
        for statement in owner.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                if "ClassVar" in ast.unparse(statement.annotation):
                    continue
                name = statement.target.id
                defaults[name] = _literal(statement.value)
                if platform := platform_default(statement.value):
                    on_platform[name] = platform
                for fallback in _fallback(statement.annotation):
                    fallbacks[name] = fallback
    return RecordFields(defaults, fallbacks, on_platform)


def _namespaces(modules: Modules, module: Module) -> Iterator[ast.ClassDef]:
    """Classes that the release lists as the parts of the record (from 0.5.20)."""
    for statement in module.tree.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.List):
            continue
        if any(isinstance(t, ast.Name) and t.id == "_INPUT_NAMESPACES" for t in statement.targets):
            for part in statement.value.elts:
                yield from _class_named(modules, module, ast.unparse(part))


def _class_named(modules: Modules, module: Module | None, name: str) -> Iterator[ast.ClassDef]:
    definition = module.definitions.get(name) if module else None
    if isinstance(definition, ast.ClassDef):
        yield definition
    elif definition is not None and hasattr(definition, "module"):
        yield from _class_named(modules, modules.get(definition.module), name)


def _literal(tree: ast.expr | None) -> Any:
    if tree is None:
        return ()
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError):
        return ()


def _fallback(annotation: ast.expr) -> Iterator[Any]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.keyword) and node.arg == "fallback":
            value = _literal(node.value)
            if value is not None and value != ():
                yield value
