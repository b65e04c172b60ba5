"""What names stand for: locals, enclosing calls, class bodies, module globals, imports."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.model.expression import raw
from kvsolve.upstream.reader import attributes, classes, expressions, statements
from kvsolve.upstream.reader.modules import Imported, Named
from kvsolve.upstream.reader.values import (
    ABSENT,
    ClassValue,
    Dead,
    EnvTable,
    External,
    Frame,
    FunctionValue,
    ModuleValue,
    Platform,
    Unreadable,
    Value,
)

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = ["follow", "global_name", "lookup"]

_OWN = "sglang"
_PLUG_INS = frozenset(
    [
        "GRAMMAR_BACKEND_REGISTRY",
        "_CUSTOM_RUNNER_CORE_FACTORIES",
        "_CUSTOM_SAMPLER_FACTORIES",
        "_RADIX_CACHE_REGISTRY",
        "_REGISTERED_MOE_RUNNER_BACKEND_NAMES",
        "_REGISTRY",
    ]
)
"""Registries that are empty until a plug-in fills them."""


def lookup(run: Run, name: str, frame: Frame) -> Value:
    """What a name means at a place; a builtin or unknown name is an :class:`External`."""
    number = frame.number
    value = run.state.get(("local", None, name), ABSENT)
    if value is not ABSENT:
        return value
    while number is not None:
        value = run.state.get(("local", number, name), ABSENT)
        if value is not ABSENT:
            return value
        number = run.parents.get(number)
    if frame.owner is not None:
        value = classes.attribute(run, frame.owner, name)
        if value is not ABSENT:
            return value
    module = frame.module
    if name in module.definitions:
        return global_name(run, module.name, name)
    for star in module.stars:
        value = global_name(run, star, name)
        if not isinstance(value, External):
            return value
    return External(name)


def follow(run: Run, imported: Imported) -> Value:
    """What an import binds."""
    if imported.name is None:
        own = imported.module.split(".")[0] == _OWN
        return ModuleValue(imported.module) if own else External(imported.module)
    dotted = f"{imported.module}.{imported.name}"
    if imported.module.split(".")[0] != _OWN:
        mapped = run.names.constants.get(dotted)
        return raw("fact", mapped) if mapped else External(dotted)
    owner = run.modules.get(imported.module)
    defined = owner is not None and imported.name in owner.definitions
    if not defined and run.modules.get(dotted) is not None:
        return ModuleValue(dotted)
    return global_name(run, imported.module, imported.name)


def global_name(run: Run, module_name: str, name: str) -> Value:
    """A name of a module of the release, read once."""
    key = (module_name, name)
    if key not in run.globals:
        mapped = run.names.constants.get(f"{module_name}:{name}")
        run.globals[key] = raw("fact", mapped) if mapped else _define(run, module_name, name)
    return run.globals[key]


def _define(run: Run, module_name: str, name: str) -> Value:
    module = run.modules.get(module_name)
    if module_name.split(".")[0] != _OWN or module is None:
        return External(f"{module_name}.{name}")
    if name == "current_platform":
        return Platform(methods=True)
    definition = module.definitions.get(name)
    if definition is None:
        return _not_defined(run, module_name, name, module.stars)
    if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return FunctionValue(module, definition)
    if isinstance(definition, ast.ClassDef):
        return ClassValue(module, definition)
    if isinstance(definition, Imported):
        return follow(run, definition)
    if name == "envs":
        return EnvTable()
    if name == "logger":
        return External("logger")
    if run.beyond and name in module.lasting and name not in _PLUG_INS:
        # What a process made of it by then is not known.
        return raw("opaque", f"{module_name}:{name}")
    return _constant(run, definition, Frame(module), name)


def _not_defined(run: Run, module_name: str, name: str, stars: list[str]) -> Value:
    if run.modules.get(f"{module_name}.{name}") is not None:
        return ModuleValue(f"{module_name}.{name}")
    for star in stars:
        value = global_name(run, star, name)
        if not isinstance(value, External):
            return value
    return External(f"{module_name}.{name}")


def _constant(run: Run, definition: Named, frame: Frame, name: str) -> Value:
    """A module constant: read on no path, its objects kept outside the branching state."""
    label = f"{frame.module.name}:{name}"
    run.globals[frame.module.name, name] = raw("opaque", label)
    saved, run.state = run.state, dict(run.constants)
    path, run.path = run.path, []
    handlers, run.handlers = run.handlers, []
    gaps, mark, depth = len(run.gaps), len(run.log.steps), run.depth()
    run.assumed.fresh()
    run.shared.append({})
    run.quiet += 1
    try:
        value = expressions.evaluate(run, definition.value, frame)
        if definition.position is not None:
            value = attributes.item(run, value, definition.position)
        run.globals[frame.module.name, name] = value
        statements.block(run, frame.module.changes.get(name, ()), frame)
    except (Unreadable, Dead):
        run.restore(depth)
        value = ABSENT
    finally:
        run.quiet -= 1
        run.shared.pop()
        run.assumed.pop()
        run.handlers, run.path = handlers, path
        kept = {k: v for k, v in run.state.items() if k[0] == "heap"}
        run.constants.update(kept)
        run.state = saved
    if value is ABSENT or len(run.gaps) > gaps or len(run.log.steps) > mark:
        del run.gaps[gaps:]
        run.log.rollback(mark)
        run.unmapped[label] += 1
        return raw("opaque", label)
    return value
