"""Look up the constants of a release without running it: names, imports and small functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.upstream.static_expressions import Expressions, assigned_names
from kvsolve.upstream.static_values import (
    Class,
    External,
    Function,
    Growing,
    Module,
    Scope,
    UnreadableError,
)

if TYPE_CHECKING:
    from kvsolve.upstream.source import SourceTree

__all__ = ["Static"]

_OPAQUE = External("?")
_READING = object()


class Static(Expressions):
    """Reads constants of one release, each once."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._known: dict[tuple[str, str], Any] = {}

    def lookup(self, path: str, name: str) -> Any:
        """The value of a module's global name.

        Raises:
            UnreadableError: The module binds no such name, or binds it to something unreadable.
        """
        key = (path, name)
        found = self._known.setdefault(key, _READING)
        if found is _READING:
            # A second look while the first is under way would never end.
            self._known[key] = UnreadableError(f"{path}: {name} is defined in terms of itself.")
            try:
                found = self._known[key] = self._bind(path, name)
            except UnreadableError as error:
                self._known[key] = error
                raise
        if isinstance(found, UnreadableError):
            raise found
        return found

    def defines(self, path: str, name: str) -> bool:
        """Tell whether a module assigns a global name at its top level."""
        body = self.tree.parse(path).body
        return any(name in assigned_names(statement) for statement in body)

    def _bind(self, path: str, name: str) -> Any:
        scope = Scope(path)
        found: list[Any] = []
        for statement in self.tree.parse(path).body:
            bound = self._binding(statement, name, scope)
            if bound is not None:
                found = bound
            elif found and _mutates(statement, name):
                found[0] = self._grown(statement, name, found[0], scope)
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

    def _grown(self, statement: ast.stmt, name: str, value: Any, scope: Scope) -> Any:
        """Apply ``if envs.X.get(): NAME.add(literal)`` to a value bound before.

        Raises:
            UnreadableError: The statement changes the value in another way.
        """
        extension = _env_extension(statement)
        if extension is None or extension[1] != name:
            raise self.unreadable(statement, scope)
        variable, _, further = extension
        grown = Growing.of(value)
        grown.by_env = (*grown.by_env, (variable, further))
        return grown

    def returned(self, function: Function, call: ast.Call, scope: Scope) -> Any:
        """What a small function without parameters returns in a fresh process."""
        if call.args or call.keywords or function.node.args.args:
            raise self.unreadable(call, scope)
        inner = Scope(function.path)
        for statement in function.node.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.value(statement.value, inner)
            self.execute(statement, inner)
        raise self.unreadable(call, scope)

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
            extension = _env_extension(statement)
            if extension is not None and extension[1] in scope.names:
                name = extension[1]
                scope.names[name] = self._grown(statement, name, scope.names[name], scope)
                return
            if self._is_none_test(statement.test, scope):
                return
        raise self.unreadable(statement, scope)

    def _is_none_test(self, test: ast.expr, scope: Scope) -> bool:
        """Tell whether the test is ``NAME is not None`` of a name known to be None."""
        return (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], ast.IsNot)
            and isinstance(test.left, ast.Name)
            and test.left.id in scope.names
            and scope.names[test.left.id] is None
        )


def _mutates(statement: ast.stmt, name: str) -> bool:
    """Tell whether a top-level statement may change the object that a name stands for."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)):
        return False
    for node in ast.walk(statement):
        changed: ast.expr | None = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.value
        if changed is not None and ast.unparse(changed) == name:
            return True
    return False


def _env_extension(statement: ast.stmt) -> tuple[str, str, Any] | None:
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
