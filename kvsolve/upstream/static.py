"""Compute the constants of a release from its syntax trees, without running it.

Only what a declaration of options needs is understood: literals, names (through imports), class
constants, enumerations, list and set algebra, small functions that end in a ``return``. Whatever
lies outside raises :class:`UnreadableError` with its place; nothing is guessed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.upstream.source import SourceTree

__all__ = [
    "Class",
    "External",
    "Function",
    "Growing",
    "Member",
    "Module",
    "Scope",
    "Static",
    "UnreadableError",
]


class UnreadableError(KvsolveError):
    """An expression of the release is outside of what can be read statically."""


@dataclass(frozen=True, slots=True)
class External:
    """Something outside of the release, known by its dotted name only."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration."""

    name: str
    value: Any


class Growing(set[Any]):
    """A set of choices that an environment variable may extend.

    Attributes:
        by_env: (variable, further value) pairs.
    """

    by_env: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, values: Iterable[Any]) -> Growing:
        """A copy that keeps the environment's part."""
        made = cls(values)
        made.by_env = getattr(values, "by_env", ())
        return made


@dataclass(slots=True)
class Scope:
    """Names that are visible at a place: local ones first, then the parent's."""

    module: str
    names: dict[str, Any] = field(default_factory=dict)
    parent: Scope | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the release."""

    path: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the release."""

    path: str
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the release."""

    path: str
    node: ast.FunctionDef


_OPAQUE = External("?")
_BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Pow: lambda a, b: a**b,
    ast.BitOr: lambda a, b: a | b,
    ast.LShift: lambda a, b: a << b,
}


class Static:
    """Reads constants of one release, each once."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._known: dict[tuple[str, str], Any] = {}

    # -- names

    def lookup(self, path: str, name: str) -> Any:
        """The value of a module's global name.

        Raises:
            UnreadableError: The module binds no such name, or binds it to something unreadable.
        """
        key = (path, name)
        if key not in self._known:
            self._known[key] = self._bind(path, name)
        return self._known[key]

    def defines(self, path: str, name: str) -> bool:
        """Tell whether a module assigns a global name at its top level."""
        body = self.tree.parse(path).body
        return any(name in _targets(statement) for statement in body)

    def _bind(self, path: str, name: str) -> Any:
        scope = Scope(path)
        found: list[Any] = []
        for statement in self.tree.parse(path).body:
            bound = self._binding(statement, name, scope)
            if bound is not None:
                found = bound
            elif found:
                found[0] = self._grown(statement, name, found[0])
        if not found:
            submodule = self.tree.module_path(f"{_package(path)}.{name}".replace("/", "."))
            if path.endswith("/__init__.py") and submodule:
                return Module(submodule)
            raise UnreadableError(f"{path} does not define {name}.")
        return found[0]

    def _binding(self, statement: ast.stmt, name: str, scope: Scope) -> list[Any] | None:
        """The value in a list when the statement binds the name, else None."""
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            if statement.name != name:
                return None
            if isinstance(statement, ast.ClassDef):
                return [Class(scope.module, statement)]
            return [Function(scope.module, statement)]
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(t, ast.Name) and t.id == name for t in targets) and statement.value:
                return [self.value(statement.value, scope)]
            return None
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return self._import(statement, name, scope.module)
        if isinstance(statement, ast.Try):
            for inner in statement.body:
                bound = self._binding(inner, name, scope)
                if bound is not None:
                    return bound
        return None

    def _import(
        self, statement: ast.Import | ast.ImportFrom, name: str, path: str
    ) -> list[Any] | None:
        for alias in statement.names:
            if _bound_name(statement, alias) != name:
                continue
            if isinstance(statement, ast.Import):
                return [self._module(alias.name if alias.asname else name)]
            source = _absolute(statement, path)
            target = self.tree.module_path(source)
            if target is None:
                return [External(f"{source}.{alias.name}")]
            inner = self.tree.module_path(f"{source}.{alias.name}")
            return [Module(inner) if inner else self.lookup(target, alias.name)]
        return None

    def _module(self, dotted: str) -> Module | External:
        path = self.tree.module_path(dotted)
        return Module(path) if path else External(dotted)

    def _grown(self, statement: ast.stmt, name: str, value: Any) -> Any:
        """Apply ``if envs.X.get(): NAME.add(literal)`` to a value bound before."""
        extension = env_extension(statement)
        if extension is None or extension[1] != name:
            return value
        variable, _, further = extension
        grown = Growing.of(value)
        grown.by_env = (*grown.by_env, (variable, further))
        return grown

    # -- expressions

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression.

        Raises:
            UnreadableError: It cannot be told from the source alone.
        """
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise self._unreadable(node, scope)
        return reader(node, scope)

    def _unreadable(self, node: ast.AST, scope: Scope) -> UnreadableError:
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
            if node.id in ("list", "set", "tuple", "frozenset", "dict", "str", "int", "float"):
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
        raise self._unreadable(node, scope)

    def _binop(self, node: ast.BinOp, scope: Scope) -> Any:
        operation = _BINARY.get(type(node.op))
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if operation is None or isinstance(left, External) or isinstance(right, External):
            raise self._unreadable(node, scope)
        return operation(left, right)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        try:
            return self.value(node.value, scope)[self.value(node.slice, scope)]
        except (TypeError, KeyError, IndexError) as error:
            raise self._unreadable(node, scope) from error

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
        raise self._unreadable(node, scope)

    def class_constant(self, owner: Class, name: str) -> Any:
        """A constant bound in a class body; an enumeration's member as :class:`Member`."""
        scope = Scope(owner.path)
        for statement in owner.node.body:
            for target in _targets(statement):
                try:
                    scope.names[target] = self.value(statement.value, scope)  # type: ignore[attr-defined]
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
            names = [t for statement in value.node.body for t in _targets(statement)]
            return [self.class_constant(value, name) for name in names]
        if isinstance(value, (list, tuple, dict)):
            return list(value)
        if isinstance(value, (set, frozenset)):
            return sorted(value, key=repr)
        raise self._unreadable(node, scope)

    def _listcomp(self, node: ast.ListComp, scope: Scope) -> list[Any]:
        if len(node.generators) != 1 or node.generators[0].ifs:
            raise self._unreadable(node, scope)
        generator = node.generators[0]
        if not isinstance(generator.target, ast.Name):
            raise self._unreadable(node, scope)
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
        raise self._unreadable(node, scope)

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
        raise self._unreadable(node, scope)

    # -- functions

    def returned(self, function: Function, call: ast.Call, scope: Scope) -> Any:
        """What a small function without parameters returns in a fresh process."""
        if call.args or call.keywords or function.node.args.args:
            raise self._unreadable(call, scope)
        inner = Scope(function.path)
        for statement in function.node.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.value(statement.value, inner)
            self.execute(statement, inner)
        raise self._unreadable(call, scope)

    def execute(self, statement: ast.stmt, scope: Scope) -> None:
        """Take in one statement of a function body: assignment, import or known no-op.

        Raises:
            UnreadableError: The statement may do something else.
        """
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                name = _bound_name(statement, alias)
                bound = self._import(statement, name, scope.module)
                scope.names[name] = bound[0] if bound else _OPAQUE
            return
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            # No plugin has imported anything before the options are declared.
            fresh = ast.unparse(statement.value).startswith("sys.modules.get(")
            scope.names[name] = None if fresh else self.value(statement.value, scope)
            return
        if isinstance(statement, ast.If) and not statement.orelse:
            extension = env_extension(statement)
            if extension is not None and extension[1] in scope.names:
                name = extension[1]
                scope.names[name] = self._grown(statement, name, scope.names[name])
                return
            if self._is_none_test(statement.test, scope):
                return
        raise self._unreadable(statement, scope)

    def _is_none_test(self, test: ast.expr, scope: Scope) -> bool:
        """Tell whether the test is ``NAME is not None`` of a name known to be None."""
        return (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], ast.IsNot)
            and isinstance(test.left, ast.Name)
            and test.left.id in scope.names
            and scope.names[test.left.id] is None
        )


def env_extension(statement: ast.stmt) -> tuple[str, str, Any] | None:
    """Read ``if envs.VAR.get(): NAME.add(literal)`` as (VAR, NAME, literal)."""
    if not isinstance(statement, ast.If) or len(statement.body) != 1 or statement.orelse:
        return None
    test, body = ast.unparse(statement.test), statement.body[0]
    if not (test.startswith("envs.") and test.endswith(".get()") and test.count(".") == 2):
        return None
    if not (isinstance(body, ast.Expr) and isinstance(body.value, ast.Call)):
        return None
    call = body.value
    if (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("add", "append")
        and isinstance(call.func.value, ast.Name)
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Constant)
    ):
        return test.split(".")[1], call.func.value.id, call.args[0].value
    return None


def _targets(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return []
    if isinstance(statement, ast.Assign):
        return [t.id for t in statement.targets if isinstance(t, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _bound_name(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if alias.asname or isinstance(statement, ast.ImportFrom):
        return alias.asname or alias.name
    return alias.name.split(".")[0]


def _package(path: str) -> str:
    return path.rsplit("/", 1)[0]


def _absolute(statement: ast.ImportFrom, path: str) -> str:
    """The dotted module that a ``from`` import names, relative ones made absolute."""
    if not statement.level:
        return statement.module or ""
    parts = _package(path).split("/")
    parts = parts[: len(parts) - statement.level + 1]
    return ".".join([*parts, statement.module] if statement.module else parts)
