"""Modules of a release and what their names stand for, found without importing anything."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from kvsolve.upstream.reader.nodes import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Definition", "Imported", "Module", "Modules", "Named", "Tree", "imports_of"]


class Tree(Protocol):
    """The part of a source tree that the reader uses."""

    release: str

    def exists(self, relpath: str) -> bool:
        """Tell whether the release has this file."""

    def read(self, relpath: str) -> str:
        """The text of a file."""

    def parse(self, relpath: str) -> ast.Module:
        """Its syntax tree."""


@dataclass(frozen=True, slots=True)
class Imported:
    """``import module`` (``name`` None) or ``from module import name``."""

    module: str
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """``name = value``; with ``position`` set, the item of an unpacked value."""

    value: ast.expr
    position: int | None = None


_IN_PLACE = frozenset({"update", "append", "extend", "add", "setdefault", "discard", "remove"})
Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | Named | Imported"


def imports_of(
    statement: ast.Import | ast.ImportFrom, package: str
) -> Iterator[tuple[str, Imported]]:
    """Each name that an import statement binds; ``*`` for a star import."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            target = alias.name if alias.asname else alias.name.split(".")[0]
            yield alias.asname or target, Imported(target)
        return
    base = statement.module or ""
    if statement.level:
        parts = package.split(".")
        parts = parts[: len(parts) - statement.level + 1]
        base = ".".join([*parts, *([statement.module] if statement.module else [])])
    for alias in statement.names:
        yield alias.asname or alias.name, Imported(base, alias.name)


def changed_names(statement: ast.stmt) -> list[str]:
    """Collections of the module that a statement changes in place after they were defined."""
    if isinstance(statement, ast.If):
        inner = [changed_names(s) for s in (*statement.body, *statement.orelse)]
        return sorted({n for names in inner for n in names}) if all(inner) else []
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))):
            return [name] if method in _IN_PLACE else []
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return [name]
    return []


def lasting_changes(tree: ast.Module) -> frozenset[str]:
    """Names of a module that its functions bind anew or change in place."""
    found: set[str] = set()
    for function in nodes_of(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts = nodes_of(function)
            own = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
            shared = {name for p in parts if isinstance(p, ast.Global) for name in p.names}
            changed = {name for p in parts for name in _changed(p)}
            found |= shared | (changed - own)
    return frozenset(found)


def _changed(part: ast.AST) -> list[str]:
    match part:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return [name] if method in _IN_PLACE | {"pop", "clear", "insert"} else []
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return [name]
    return []


@dataclass(slots=True, eq=False)
class Module:
    """One module: its definitions, later ones winning, and its star imports."""

    name: str
    file: str
    package: str
    tree: ast.Module
    definitions: dict[str, Definition] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    changes: dict[str, list[ast.stmt]] = field(default_factory=dict)
    _lasting: frozenset[str] | None = None

    @property
    def lasting(self) -> frozenset[str]:
        """Names that functions of the module bind anew or change in place."""
        if self._lasting is None:
            self._lasting = lasting_changes(self.tree)
        return self._lasting

    @property
    def place(self) -> str:
        """The file's path below ``sglang/srt`` (below the tree when it lies elsewhere)."""
        return self.file.removeprefix("sglang/srt/")

    def collect(self, body: Iterable[ast.stmt]) -> None:
        """Take up the definitions of a block; of an if and a try the first branch wins."""
        for statement in body:
            self._collect_one(statement)

    def collect_changes(self) -> None:
        """Note the statements that change collections of the module in place, in order."""
        for statement in self.tree.body:
            for name in changed_names(statement):
                self.changes.setdefault(name, []).append(statement)

    def _collect_one(self, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definitions[statement.name] = statement
            case ast.Assign():
                for target in statement.targets:
                    self._bind(target, statement.value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.definitions[name] = Named(value)
            case ast.Import() | ast.ImportFrom():
                for name, imported in imports_of(statement, self.package):
                    if name == "*":
                        self.stars.append(imported.module)
                    else:
                        self.definitions[name] = imported
            case ast.If():
                for part in ast.walk(statement.test):
                    if isinstance(part, ast.NamedExpr):
                        self.definitions[part.target.id] = Named(part.value)
                self.collect(statement.orelse)
                self.collect(statement.body)
            case ast.Try():
                for handler in statement.handlers:
                    self.collect(handler.body)
                self.collect(statement.body)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.definitions[target.id] = Named(value)
        elif isinstance(target, ast.Tuple):
            for position, part in enumerate(target.elts):
                if isinstance(part, ast.Name):
                    self.definitions[part.id] = Named(value, position)


class Modules:
    """Loads modules of the tree on demand."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.loaded: dict[str, Module | None] = {}

    def get(self, name: str) -> Module | None:
        """The module of that dotted name, or None when the release has none."""
        if name not in self.loaded:
            self.loaded[name] = self._load(name)
        return self.loaded[name]

    def _load(self, name: str) -> Module | None:
        base = name.replace(".", "/")
        for file, package in (
            (f"{base}.py", name.rpartition(".")[0]),
            (f"{base}/__init__.py", name),
        ):
            if self.tree.exists(file):
                module = Module(name, file, package, self.tree.parse(file))
                module.collect(module.tree.body)
                module.collect_changes()
                return module
        return None

    def files_read(self) -> list[str]:
        """Paths of all modules loaded so far, sorted."""
        return sorted(m.file for m in self.loaded.values() if m is not None)
