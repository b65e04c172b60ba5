"""What an expression in a function is, as far as names, constructors and annotations tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from kvsolve.upstream.reach.definitions import Class, Function, Instance
from kvsolve.upstream.reader.modules import Module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.reach.definitions import Definitions, Found

__all__ = ["Inference"]

_DEPTH = 8
_Store: TypeAlias = "tuple[Function, ast.expr | None, ast.expr | None]"
"""A method, what it stores in an attribute, and the annotation of that."""


class Inference:
    """Types of expressions; knows nothing of values.

    Args:
        definitions: Names of the release.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._locals: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._fields: dict[tuple[Class, str], tuple[Found, ...]] = {}
        self._stored: dict[Class, dict[str, list[_Store]]] = {}

    def of(self, tree: ast.expr | None, function: Function, depth: int = 0) -> tuple[Found, ...]:
        """Everything that an expression may be; empty where nothing is known."""
        if tree is None or depth > _DEPTH:
            return ()
        match tree:
            case ast.Name(id=name):
                return self._name(name, function, depth)
            case ast.Attribute(value=value, attr=attr):
                owners = self.of(value, function, depth + 1)
                return tuple(f for o in owners for f in self._attribute(o, attr, depth))
            case ast.Call(func=called):
                return tuple(
                    f for c in self.of(called, function, depth + 1) for f in self._result(c, depth)
                )
            case ast.IfExp(body=then, orelse=other):
                return self.of(then, function, depth + 1) + self.of(other, function, depth + 1)
            case ast.BoolOp(values=values):
                return tuple(f for v in values for f in self.of(v, function, depth + 1))
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.of(value, function, depth + 1)
        return ()

    def _name(self, name: str, function: Function, depth: int) -> tuple[Found, ...]:
        definitions = self.definitions
        module = definitions.module_of(function.file)
        tree = definitions.node(function)
        arguments = _arguments(tree)
        if function.owner is not None and arguments and arguments[0].arg == name:
            if "classmethod" in _marks(tree):
                return (function.owner,)
            return (Instance(function.owner),)
        inner = definitions.imports_inside(module, tree).get(name)
        if inner is not None:
            found = definitions.imported(inner)
            return (found,) if found is not None else ()
        bound = self._bound(tree).get(name)
        if bound:
            return tuple(f for value in bound for f in self.of(value, function, depth + 1))
        annotated = next((a.annotation for a in arguments if a.arg == name), None)
        if annotated is not None:
            return self._annotated(annotated, module)
        found = definitions.in_module(module, name)
        return (found,) if found is not None else ()

    def _bound(self, tree: ast.AST) -> dict[str, list[ast.expr]]:
        if tree not in self._locals:
            out: dict[str, list[ast.expr]] = {}
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        if isinstance(target, ast.Name):
                            out.setdefault(target.id, []).append(node.value)
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    if node.value is not None:
                        out.setdefault(node.target.id, []).append(node.value)
                elif isinstance(node, ast.NamedExpr):
                    out.setdefault(node.target.id, []).append(node.value)
            self._locals[tree] = out
        return self._locals[tree]

    def _annotated(self, tree: ast.expr | None, module: Module) -> tuple[Found, ...]:
        return tuple(Instance(c) for c in self._classes_in(tree, module))

    def _classes_in(self, tree: ast.expr | None, module: Module) -> Iterator[Class]:
        """Classes that an annotation names: as they are, optional, or one of several."""
        match tree:
            case ast.Constant(value=str() as text):
                try:
                    yield from self._classes_in(ast.parse(text, mode="eval").body, module)
                except SyntaxError:
                    return
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                yield from self._classes_in(left, module)
                yield from self._classes_in(right, module)
            case ast.Subscript(value=ast.Name(id="Optional" | "Union"), slice=inside):
                parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
                for part in parts:
                    yield from self._classes_in(part, module)
            case ast.Name(id=name):
                found = self.definitions.in_module(module, name)
                if isinstance(found, Class):
                    yield found

    def _attribute(self, owner: Found, name: str, depth: int) -> tuple[Found, ...]:
        definitions = self.definitions
        if isinstance(owner, Module):
            found = definitions.in_module(owner, name)
            inner = definitions.modules.get(f"{owner.name}.{name}") if found is None else None
            return tuple(f for f in (found, inner) if f is not None)
        if isinstance(owner, Function):
            return ()
        cls = owner.of if isinstance(owner, Instance) else owner
        method = definitions.method(cls, name)
        if method is not None:
            tree = definitions.node(method)
            if any("property" in mark for mark in _marks(tree)):
                return (method, *self._result(method, depth))
            return (method,)
        return self._field(cls, name, depth)

    def _field(self, cls: Class, name: str, depth: int) -> tuple[Found, ...]:
        key = (cls, name)
        if key not in self._fields:
            self._fields[key] = ()
            self._fields[key] = tuple(dict.fromkeys(self._field_values(cls, name, depth)))
        return self._fields[key]

    def _field_values(self, cls: Class, name: str, depth: int) -> Iterator[Found]:
        definitions = self.definitions
        for owner in definitions.lineage(cls):
            module, tree = definitions.module_of(owner.file), definitions.node(owner)
            for statement in getattr(tree, "body", []):
                if isinstance(statement, ast.AnnAssign) and _names(statement.target) == name:
                    yield from self._annotated(statement.annotation, module)
            for method, value, annotation in self._stores(owner).get(name, ()):
                here = Function(method.file, method.symbol, cls)
                if annotation is not None:
                    yield from self._annotated(annotation, module)
                yield from self.of(value, here, depth + 1)

    def _stores(self, owner: Class) -> dict[str, list[_Store]]:
        """What the methods of a class body store in attributes of their own object."""
        if owner not in self._stored:
            out: dict[str, list[_Store]] = {}
            for name in self.definitions.methods(owner):
                method = self.definitions.method(owner, name)
                if method is None:
                    continue
                for node in ast.walk(self.definitions.node(method)):
                    if isinstance(node, ast.Assign):
                        for target in node.targets:
                            out.setdefault(_own(target), []).append((method, node.value, None))
                    elif isinstance(node, ast.AnnAssign):
                        store = (method, node.value, node.annotation)
                        out.setdefault(_own(node.target), []).append(store)
            self._stored[owner] = out
        return self._stored[owner]

    def _result(self, called: Found, depth: int) -> tuple[Found, ...]:
        if isinstance(called, Class):
            return (Instance(called),)
        if not isinstance(called, Function):
            return ()
        tree = self.definitions.node(called)
        returns = getattr(tree, "returns", None)
        module = self.definitions.module_of(called.file)
        annotated = self._annotated(returns, module)
        if annotated or depth > 3:
            return annotated
        given = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return)]
        return tuple(f for value in given[:4] for f in self.of(value, called, depth + 2))


def _arguments(tree: ast.AST) -> list[ast.arg]:
    found = getattr(tree, "args", None)
    return [*found.posonlyargs, *found.args, *found.kwonlyargs] if found is not None else []


def _marks(tree: ast.AST) -> set[str]:
    marks = getattr(tree, "decorator_list", [])
    return {ast.unparse(m.func if isinstance(m, ast.Call) else m).split(".")[-1] for m in marks}


def _names(tree: ast.expr) -> str:
    return tree.id if isinstance(tree, ast.Name) else ""


def _own(tree: ast.expr) -> str:
    """The attribute of ``self`` that a target is, or ""."""
    if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name):
        return tree.attr if tree.value.id == "self" else ""
    return ""
