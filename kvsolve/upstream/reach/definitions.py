"""Functions and classes of a release, found by name without importing anything."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeAlias

from kvsolve.upstream.reader.modules import Imported, Module, Modules, Named, imports_of

__all__ = ["Class", "Definitions", "Found", "Function", "Instance"]

_DEPTH = 12
FunctionTree: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the release."""

    file: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method; ``owner`` is the class that it is called on."""

    file: str
    symbol: str
    owner: Class | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class."""

    of: Class


Found: TypeAlias = "Class | Function | Instance | Module"


class Definitions:
    """Looks up what names stand for.

    Args:
        modules: The release's modules, loaded on demand.
    """

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._nodes: dict[tuple[str, str], ast.AST] = {}
        self._bases: dict[Class, tuple[Class, ...]] = {}
        self._inner: dict[ast.AST, dict[str, Imported]] = {}
        self._methods: dict[Class, dict[str, FunctionTree]] = {}
        self._lineages: dict[Class, tuple[Class, ...]] = {}

    def module_of(self, file: str) -> Module:
        """The module of a file that was met before or lies in the tree."""
        name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = self.modules.get(name)
        if module is None:
            raise LookupError(file)
        return module

    def node(self, item: Class | Function) -> ast.AST:
        """The syntax tree of a definition."""
        return self._nodes[item.file, item.symbol]

    def in_module(self, module: Module, name: str, depth: int = 0) -> Found | None:
        """What a name of a module stands for, followed through imports."""
        found = module.definitions.get(name)
        if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._function(module, found)
        if isinstance(found, ast.ClassDef):
            return self._class(module, found)
        if isinstance(found, Imported) and depth < _DEPTH:
            return self.imported(found, depth)
        if isinstance(found, Named) and isinstance(found.value, ast.Name) and depth < _DEPTH:
            return self.in_module(module, found.value.id, depth + 1)
        if found is None and depth < _DEPTH:
            return self._starred(module, name, depth)
        return None

    def _starred(self, module: Module, name: str, depth: int) -> Found | None:
        for star in module.stars:
            inner = self.modules.get(star)
            if inner is not None and (hit := self.in_module(inner, name, depth + 1)) is not None:
                return hit
        return None

    def imported(self, what: Imported, depth: int = 0) -> Found | None:
        """What an import binds; None for everything outside of the release."""
        module = self.modules.get(what.module)
        if what.name is None:
            return module
        inner = self.modules.get(f"{what.module}.{what.name}")
        if module is not None:
            found = self.in_module(module, what.name, depth + 1)
            if found is not None:
                return found
        return inner

    def imports_inside(self, module: Module, tree: ast.AST) -> dict[str, Imported]:
        """The imports within a function's body."""
        if tree not in self._inner:
            self._inner[tree] = {
                name: imported
                for part in ast.walk(tree)
                if isinstance(part, (ast.Import, ast.ImportFrom))
                for name, imported in imports_of(part, module.package)
            }
        return self._inner[tree]

    def _function(self, module: Module, tree: FunctionTree) -> Function:
        self._nodes[module.file, tree.name] = tree
        return Function(module.file, tree.name)

    def _class(self, module: Module, tree: ast.ClassDef) -> Class:
        self._nodes[module.file, tree.name] = tree
        return Class(module.file, tree.name)

    def bases(self, cls: Class) -> tuple[Class, ...]:
        """The direct bases that lie in the release."""
        if cls not in self._bases:
            self._bases[cls] = ()
            module, tree = self.module_of(cls.file), self.node(cls)
            found = (self._base(module, b) for b in getattr(tree, "bases", []))
            self._bases[cls] = tuple(b for b in found if b is not None)
        return self._bases[cls]

    def _base(self, module: Module, tree: ast.expr) -> Class | None:
        if isinstance(tree, ast.Subscript):
            tree = tree.value
        found: Found | None = None
        if isinstance(tree, ast.Name):
            found = self.in_module(module, tree.id)
        elif isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name):
            outer = self.in_module(module, tree.value.id)
            found = self.in_module(outer, tree.attr) if isinstance(outer, Module) else None
        return found if isinstance(found, Class) else None

    def lineage(self, cls: Class) -> tuple[Class, ...]:
        """A class and all that it is derived from, nearest first, each once."""
        if cls not in self._lineages:
            seen: dict[Class, None] = {}
            waiting = [cls]
            while waiting:
                now = waiting.pop(0)
                if now not in seen:
                    seen[now] = None
                    waiting.extend(self.bases(now))
            self._lineages[cls] = tuple(seen)
        return self._lineages[cls]

    def methods(self, cls: Class) -> dict[str, FunctionTree]:
        """The methods that a class body defines itself."""
        if cls not in self._methods:
            body = getattr(self.node(cls), "body", [])
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
            self._methods[cls] = {node.name: node for node in body if isinstance(node, kinds)}
        return self._methods[cls]

    def method(self, cls: Class, name: str) -> Function | None:
        """The method that an object of a class has, its own or inherited."""
        for owner in self.lineage(cls):
            tree = self.methods(owner).get(name)
            if tree is not None:
                symbol = f"{owner.symbol}.{name}"
                self._nodes[owner.file, symbol] = tree
                return Function(owner.file, symbol, cls)
        return None
