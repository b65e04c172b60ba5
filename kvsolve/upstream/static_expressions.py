"""Compute the value of an expression from its syntax tree.

Only what a declaration of options needs is understood: literals, names, class constants,
enumerations, list and set algebra. Whatever lies outside raises ``UnreadableError`` with its place;
nothing is guessed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.upstream.static_values import (
    Class,
    External,
    Function,
    Growing,
    Member,
    Module,
    Scope,
    UnreadableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Expressions", "assigned_names"]

_OPAQUE = External("?")
_BUILT_IN = frozenset({"list", "set", "tuple", "frozenset", "dict", "str", "int", "float"})
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}


class Expressions:
    """Reads expressions; where names come from is left to the class that derives from it."""

    def lookup(self, path: str, name: str) -> Any:
        """The value of a module's global name."""
        raise NotImplementedError

    def returned(self, function: Function, call: ast.Call, scope: Scope) -> Any:
        """What a call of a function of the release returns."""
        raise NotImplementedError

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression.

        Raises:
            UnreadableError: It cannot be told from the source alone.
        """
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise self.unreadable(node, scope)
        return reader(node, scope)

    def unreadable(self, node: ast.AST, scope: Scope) -> UnreadableError:
        """The error that names a place whose meaning cannot be told."""
        text = ast.unparse(node)
        line = getattr(node, "lineno", 0)
        return UnreadableError(f"{scope.module}:{line} cannot be read statically: {text[:120]}")

    def _constant(self, node: ast.Constant, scope: Scope) -> Any:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        inner: Scope | None = scope
        while inner is not None:
            if node.id in inner.names:
                return inner.names[node.id]
            inner = inner.parent
        try:
            return self.lookup(scope.module, node.id)
        except UnreadableError:
            if node.id in _BUILT_IN:
                return External(node.id)
            raise

    def _list(self, node: ast.List, scope: Scope) -> list[Any]:
        return list(self._elements(node.elts, scope))

    def _tuple(self, node: ast.Tuple, scope: Scope) -> tuple[Any, ...]:
        return tuple(self._elements(node.elts, scope))

    def _set(self, node: ast.Set, scope: Scope) -> Growing:
        return Growing(self._elements(node.elts, scope))

    def _elements(self, nodes: list[ast.expr], scope: Scope) -> Iterable[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.items(self.value(node.value, scope), node, scope)
            else:
                yield self.value(node, scope)

    def _dict(self, node: ast.Dict, scope: Scope) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                made.update(self.value(item, scope))
                continue
            try:
                value = self.value(item, scope)
            except UnreadableError:
                value = _OPAQUE  # registries map names to classes; only the names matter here
            made[self.value(key, scope)] = value
        return made

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Any:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        raise self.unreadable(node, scope)

    def _binop(self, node: ast.BinOp, scope: Scope) -> Any:
        operation = _BINARY.get(type(node.op))
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if operation is None or isinstance(left, External) or isinstance(right, External):
            raise self.unreadable(node, scope)
        return operation(left, right)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        try:
            return self.value(node.value, scope)[self.value(node.slice, scope)]
        except (TypeError, KeyError, IndexError) as error:
            raise self.unreadable(node, scope) from error

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        base = self.value(node.value, scope)
        if isinstance(base, External):
            return External(f"{base.name}.{node.attr}")
        if isinstance(base, Module):
            return self.lookup(base.path, node.attr)
        if isinstance(base, Class):
            return self.class_constant(base, node.attr)
        if isinstance(base, Member) and node.attr in ("name", "value"):
            return getattr(base, node.attr)
        raise self.unreadable(node, scope)

    def class_constant(self, owner: Class, name: str) -> Any:
        """A constant bound in a class body; an enumeration's member as :class:`Member`."""
        scope = Scope(owner.path)
        for statement in owner.node.body:
            for target in assigned_names(statement):
                try:
                    scope.names[target] = self.value(_assigned(statement), scope)
                except UnreadableError:
                    if target == name:
                        raise
        if name not in scope.names:
            raise UnreadableError(f"{owner.path}: {owner.node.name} has no constant {name}.")
        value = scope.names[name]
        return Member(name, value) if self.is_enumeration(owner) else value

    def is_enumeration(self, owner: Class) -> bool:
        """Tell whether a class derives directly from one of the standard ``Enum`` classes."""
        return any(ast.unparse(b).split(".")[-1].endswith("Enum") for b in owner.node.bases)

    def items(self, value: Any, node: ast.AST, scope: Scope) -> list[Any]:
        """What iterating over a value gives, in a fixed order."""
        if isinstance(value, Class) and self.is_enumeration(value):
            names = [t for statement in value.node.body for t in assigned_names(statement)]
            return [self.class_constant(value, name) for name in names]
        if isinstance(value, (list, tuple, dict)):
            return list(value)
        if isinstance(value, (set, frozenset)):
            return sorted(value, key=repr)
        raise self.unreadable(node, scope)

    def _listcomp(self, node: ast.ListComp, scope: Scope) -> list[Any]:
        if len(node.generators) != 1 or node.generators[0].ifs:
            raise self.unreadable(node, scope)
        generator = node.generators[0]
        if not isinstance(generator.target, ast.Name):
            raise self.unreadable(node, scope)
        source = self.value(generator.iter, scope)
        made = []
        for item in self.items(source, node, scope):
            inner = Scope(scope.module, {generator.target.id: item}, scope)
            made.append(self.value(node.elt, inner))
        return made

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
            made = self._method(node.func, scope)
            if made is not None:
                return made
        function = self.value(node.func, scope)
        if isinstance(function, Function):
            return self.returned(function, node, scope)
        name = function.name if isinstance(function, External) else ""
        if name in ("list", "tuple", "set", "frozenset") and not node.keywords:
            if not node.args:
                return {"list": list, "tuple": tuple}.get(name, Growing)()
            source = self.value(node.args[0], scope)
            if name in ("set", "frozenset"):
                return Growing.of(source)
            return {"list": list, "tuple": tuple}[name](self.items(source, node, scope))
        if name.split(".")[-1] == "field" and name.split(".")[0] in ("dataclasses", "msgspec"):
            return self._field(node, scope)
        raise self.unreadable(node, scope)

    def _method(self, func: ast.Attribute, scope: Scope) -> Any:
        if func.attr not in ("keys", "lower", "upper", "copy"):
            return None
        base = self.value(func.value, scope)
        if isinstance(base, dict) and func.attr == "keys":
            return list(base)
        if isinstance(base, str) and func.attr in ("lower", "upper"):
            return getattr(base, func.attr)()
        if isinstance(base, (list, dict)) and func.attr == "copy":
            return base.copy()
        return None

    def _field(self, node: ast.Call, scope: Scope) -> Any:
        """The default that ``field(default=...)`` or ``field(default_factory=...)`` gives."""
        for keyword in node.keywords:
            if keyword.arg == "default":
                return self.value(keyword.value, scope)
            if keyword.arg == "default_factory":
                if isinstance(keyword.value, ast.Lambda):
                    return self.value(keyword.value.body, scope)
                return self.value(ast.Call(keyword.value, [], []), scope)
        raise self.unreadable(node, scope)


def assigned_names(statement: ast.stmt) -> list[str]:
    """The plain names to which a statement assigns a value."""
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return []
    if isinstance(statement, ast.Assign):
        return [t.id for t in statement.targets if isinstance(t, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _assigned(statement: ast.stmt) -> ast.expr:
    assert isinstance(statement, (ast.Assign, ast.AnnAssign))
    assert statement.value is not None
    return statement.value
