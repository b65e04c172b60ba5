"""The attention backends: what their creators and constructors refuse.

A release registers a creator under each backend's name. Each is read where that backend decodes
or prefills, with the runner of the target model: first whatever the KV pool stores, then, where
something rests on that, for the element types that a flag says.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from kvsolve.upstream.reader import calls, names, serving
from kvsolve.upstream.reader.values import FunctionValue, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.premises import Premises
    from kvsolve.upstream.reader.run import Run

__all__ = ["read_attention_backends"]

_REGISTRY = "sglang.srt.layers.attention.attention_registry"
_WITHIN = ("layers/attention/",)
_REGISTER = "register_attention_backend"
_UNREAD = (
    "sglang.srt.layers.quantization",
    "sglang.jit_kernel",
    "sglang.kernels",
    "sglang.srt.models",
)


def read_attention_backends(run: Run, later: Later, premises: Premises) -> None:
    """Read the creator of every registered backend."""
    for name, function in _creators(run):
        unsure = _unsure(later)
        for said in (False, True):
            where = f"{name!r} in late_backends" + (f" and {serving.SAID_DTYPE}" if said else "")
            if (premise := premises.first(where)) is None:
                break
            action = partial(_create, run, premises, function, said=said)
            later.read("attention", premise, action, _UNREAD, within=_WITHIN)
            if _unsure(later) <= unsure:
                break  # nothing rests on what is not known of the KV pool


def _unsure(later: Later) -> set[tuple[str, int]]:
    return {at for at, (kind, _) in later.told.items() if kind == "opaque"}


def _create(run: Run, premises: Premises, function: FunctionValue, *, said: bool) -> Value:
    return calls.call(run, function, [serving.runner(run, premises, said=said)], {})


def _creators(run: Run) -> Iterator[tuple[str, FunctionValue]]:
    """The name of each backend with its creator, in the registry's order."""
    module = run.modules.get(_REGISTRY)
    for name, defined in module.definitions.items() if module is not None else ():
        if not isinstance(defined, ast.FunctionDef):
            continue
        function = names.global_name(run, _REGISTRY, name)
        for mark in defined.decorator_list:
            registered = isinstance(mark, ast.Call) and ast.unparse(mark.func) == _REGISTER
            if registered and isinstance(function, FunctionValue):
                argument = mark.args[0]  # type: ignore[attr-defined]
                if isinstance(argument, ast.Constant):
                    yield str(argument.value), function
