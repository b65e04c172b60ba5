"""Which functions a stage of a start-up can call, by rapid type analysis.

A call whose receiver is known by a name, a constructor or an annotation leads there and to the
overriding methods of subclasses that were made; a method of an unknown receiver whose name tells
that something is made or checked leads to the methods of that name of all classes that were made.
Both over-approximate; a call that only a value tells (a name out of a dictionary) leads nowhere
unless a root names it, and what a thread or a request calls later is no start-up.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import deque
from typing import TYPE_CHECKING

from kvsolve.upstream.reach.definitions import Class, Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kvsolve.upstream.reach.definitions import Definitions
    from kvsolve.upstream.reach.inference import Inference

__all__ = ["walk"]

_MADE = ("__init__", "__new__", "__post_init__")
_MAKING = re.compile(
    r"_*(init|build|create|check|validate|verify|configure|resolve|make|setup|set_up|alloc|prepare"
    r"|calculate|finalize|get_quant_method|get_min_capability|get_supported|process_weights)"
)
"""What the name of a method begins with that a start-up calls on an object of unknown class."""


def walk(
    definitions: Definitions,
    inference: Inference,
    roots: Iterable[Function | Class],
    stops: Callable[[Function], bool],
) -> Mapping[Function, Function | None]:
    """The functions that roots can reach, each with the one that first led to it.

    Args:
        definitions: Names of the release.
        inference: Types of its expressions.
        roots: Where a stage begins; a class stands for making an object of it.
        stops: Functions that belong to another stage or to no start-up; they are not entered.
    """
    return _Walk(definitions, inference, stops).run(roots)


class _Walk:
    def __init__(
        self, definitions: Definitions, inference: Inference, stops: Callable[[Function], bool]
    ) -> None:
        self.definitions, self.inference, self.stops = definitions, inference, stops
        self.reached: dict[Function, Function | None] = {}
        self.seen: set[tuple[str, str]] = set()
        self.waiting: deque[Function] = deque()
        self.made: dict[Class, None] = {}
        self.asked: dict[str, Function | None] = {}
        self.virtual: dict[tuple[Class, str], Function | None] = {}

    def run(self, roots: Iterable[Function | Class]) -> Mapping[Function, Function | None]:
        for root in roots:
            if isinstance(root, Class):
                self.make(root, None)
            else:
                self.reach(root, None)
        while self.waiting:
            function = self.waiting.popleft()
            for node in ast.walk(self.definitions.node(function)):
                if isinstance(node, ast.Call):
                    self.call(node, function)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    self.property(node, function)
        return self.reached

    def reach(self, function: Function, by: Function | None) -> None:
        key = (function.file, function.symbol)
        if key in self.seen or self.stops(function):
            return
        self.seen.add(key)
        self.reached[function] = by
        self.waiting.append(function)

    def make(self, cls: Class, by: Function | None) -> None:
        """An object of a class is made."""
        if cls in self.made:
            return
        self.made[cls] = None
        for name in _MADE:
            if (method := self.definitions.method(cls, name)) is not None:
                self.reach(method, by)
        for name, asker in list(self.asked.items()):
            self.offer(cls, name, asker)
        lineage = set(self.definitions.lineage(cls))
        for (base, name), asker in list(self.virtual.items()):
            if base in lineage:
                self.offer(cls, name, asker)

    def offer(self, cls: Class, name: str, by: Function | None) -> None:
        method = self.definitions.method(cls, name)
        if method is not None:
            self.reach(method, by)

    def ask(self, name: str, by: Function) -> None:
        """A method of an unknown receiver."""
        if name in self.asked or name.startswith("__") or not _MAKING.match(name):
            return
        self.asked[name] = by
        for cls in list(self.made):
            self.offer(cls, name, by)

    def call(self, node: ast.Call, function: Function) -> None:
        found = self.inference.of(node.func, function)
        for target in found:
            self.lead(target, function)
        if not found and isinstance(node.func, ast.Attribute) and not self.outside(node, function):
            self.ask(node.func.attr, function)
        for keyword in node.keywords:
            if keyword.arg == "target" and "Process" in ast.unparse(node.func):
                for target in self.inference.of(keyword.value, function):
                    self.lead(target, function)

    def lead(self, target: object, by: Function) -> None:
        if isinstance(target, Class):
            self.make(target, by)
        elif isinstance(target, Function):
            self.reach(target, by)
            if target.owner is not None:
                name = target.symbol.rpartition(".")[2]
                key = (target.owner, name)
                if key not in self.virtual:
                    self.virtual[key] = by
                    for cls in list(self.made):
                        if target.owner in self.definitions.lineage(cls):
                            self.offer(cls, name, by)

    def property(self, node: ast.Attribute, function: Function) -> None:
        """Reading a property calls it."""
        if not isinstance(node.value, (ast.Name, ast.Attribute)):
            return
        for target in self.inference.of(node, function):
            if isinstance(target, Function) and self.is_property(target):
                self.lead(target, function)

    def is_property(self, function: Function) -> bool:
        marks = getattr(self.definitions.node(function), "decorator_list", [])
        return any("property" in ast.unparse(mark) for mark in marks)

    def outside(self, node: ast.Call, function: Function) -> bool:
        """Whether the receiver is a module or a name from outside of the release."""
        tree: ast.expr = node.func
        while isinstance(tree, (ast.Attribute, ast.Call, ast.Subscript)):
            tree = tree.func if isinstance(tree, ast.Call) else tree.value
        if not isinstance(tree, ast.Name):
            return True
        if hasattr(builtins, tree.id):
            return True
        module = self.definitions.module_of(function.file)
        inner = self.definitions.imports_inside(module, self.definitions.node(function))
        imported = inner.get(tree.id) or module.definitions.get(tree.id)
        where = getattr(imported, "module", "")
        return bool(where) and not where.startswith("sglang")
