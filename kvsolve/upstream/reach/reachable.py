"""The functions that each stage of a start-up can reach."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.upstream.reach.definitions import Class, Definitions, Function
from kvsolve.upstream.reach.graph import walk
from kvsolve.upstream.reach.inference import Inference
from kvsolve.upstream.reach.stages import BEYOND, STAGES, matches
from kvsolve.upstream.reader.modules import Modules, Named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.reader.modules import Module
    from kvsolve.upstream.source import SourceTree

__all__ = ["BELOW", "Reachable", "reachable"]

BELOW = "sglang/srt/"
_ENTRY = "EntryClass"


class Reachable(dict[tuple[str, str], str]):
    """File (below ``sglang/srt``) and symbol of each function -> the first stage that calls it."""


def reachable(tree: SourceTree) -> Reachable:
    """Walk the start-up of a release, stage by stage.

    Raises:
        KvsolveError: A stage has no root in this release.
    """
    definitions = Definitions(Modules(tree))
    inference = Inference(definitions)
    found = Reachable()
    for number, stage in enumerate(STAGES):
        later = [root for other in STAGES[number + 1 :] for root in other.roots + other.own]
        roots = list(_roots(definitions, tree, stage.roots))
        if not roots:
            raise KvsolveError(f"SGLang {tree.release} has no root of stage {stage.name}.")

        def stops(function: Function, later: list[str] = later) -> bool:
            file = function.file.removeprefix(BELOW)
            known = (file, function.symbol) in found
            return known or any(matches(p, file, function.symbol) for p in (*BEYOND, *later))

        for function in walk(definitions, inference, roots, stops):
            found[function.file.removeprefix(BELOW), function.symbol] = stage.name
    return found


def _roots(
    definitions: Definitions, tree: SourceTree, patterns: tuple[str, ...]
) -> Iterator[Function | Class]:
    for pattern in patterns:
        place, _, symbol = pattern.partition(":")
        for file in tree.glob(f"{BELOW}{place}"):
            module = definitions.module_of(file)
            if symbol == _ENTRY:
                yield from _entry_classes(definitions, module)
            else:
                yield from _matching(definitions, module, pattern)


def _entry_classes(definitions: Definitions, module: Module) -> Iterator[Class]:
    """The architectures that a model file offers."""
    offered = module.definitions.get(_ENTRY)
    if not isinstance(offered, Named):
        return
    for name in (n.id for n in ast.walk(offered.value) if isinstance(n, ast.Name)):
        found = definitions.in_module(module, name)
        if isinstance(found, Class):
            yield found


def _matching(definitions: Definitions, module: Module, pattern: str) -> Iterator[Function | Class]:
    file = module.file.removeprefix(BELOW)
    for name in sorted(module.definitions):
        found = definitions.in_module(module, name)
        if isinstance(found, Function) and found.file == module.file:
            if matches(pattern, file, name):
                yield found
        elif isinstance(found, Class) and found.file == module.file:
            own = [m for m in definitions.methods(found) if matches(pattern, file, f"{name}.{m}")]
            if own:
                yield found
            for method in own:
                function = definitions.method(found, method)
                if function is not None:
                    yield function
