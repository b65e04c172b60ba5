"""Kernels and modes that flags choose: enumerations that upstream keeps for the whole process.

``get_moe_a2a_backend()`` and its like answer what the scheduler stored on its way up. For experts
it stores only where the model's configuration tells that it has some; without that the defaults
stay, whatever the flags.
"""

from __future__ import annotations

import ast
import copy
from functools import cache
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, any_of, if_, raw
from kvsolve.upstream.reader import built, calls, classes, names
from kvsolve.upstream.reader.bags import flag
from kvsolve.upstream.reader.values import ClassValue, FunctionValue, Unreadable, Value, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.upstream.reader.run import Run

__all__ = ["HANDLERS", "STORED"]

STORED = "initialize_moe_config"
"""The function that stores what the flags say of experts."""

_OF_EXPERTS = {
    "get_moe_a2a_backend": ("MoeA2ABackend", "NONE", "moe_a2a_backend"),
    "get_moe_runner_backend": ("MoeRunnerBackend", "AUTO", "moe_runner_backend"),
    "get_deepep_mode": ("DeepEPMode", "AUTO", "deepep_mode"),
}


_OF_PRODUCTS = {
    "fp8_gemm": "FP8_GEMM_RUNNER_BACKEND",
    "fp4_gemm": "FP4_GEMM_RUNNER_BACKEND",
}
"""Kind of matrix product -> the name that its kernel is stored under."""


def _of_experts(enumeration: str, default: str, name: str) -> Callable[..., Value]:
    def handler(
        run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        cls = names.global_name(run, function.module.name, enumeration)
        if not isinstance(cls, ClassValue):
            raise Unreadable(f"{function.name} without {enumeration}")
        value = run.assumed.simplify(run.operand(flag(run, name)))
        chosen = run.operand(classes.construct(run, cls, [value], {}))
        unset = run.operand(classes.attribute(run, cls, default))
        told = if_(run.learned.get(STORED, False), chosen, unset)
        return told if isinstance(value, Expr) else run.assumed.simplify(told)

    return handler


def _of_products(initialiser: str, stored: str) -> Callable[..., Value]:
    """A kernel of matrix products, which the scheduler stores whatever the model."""

    def handler(
        run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        found = names.global_name(run, function.module.name, initialiser)
        if not isinstance(found, FunctionValue):
            raise Unreadable(f"{function.name} without {initialiser}")
        flags: list[Value] = [View() for _ in found.node.args.args]
        told = FunctionValue(found.module, _told(found.node, stored))
        return run.assumed.simplify(run.operand(calls.inline(run, told, flags, {})))

    return handler


@cache
def _told(tree: ast.FunctionDef, stored: str) -> ast.FunctionDef:
    """A function that answers what it stores in a global name."""
    answer = ast.Return(ast.Name(stored, ast.Load()))
    ast.copy_location(answer, tree)
    ast.fix_missing_locations(answer)
    told = copy.copy(tree)
    told.body = [*tree.body, answer]
    return told


def _stored(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Note when upstream stores the choices, and read what it checks as it does."""
    run.learned[STORED] = any_of(run.learned.get(STORED, False), run.guard())
    return calls.inline(run, function, args, kwargs)


def _registered(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """What modules registered as they were imported is not followed."""
    return raw("opaque", function.name)


HANDLERS: dict[str, Callable[..., Value]] = {
    **{name: _of_experts(*row) for name, row in _OF_EXPERTS.items()},
    **{
        f"get_{name}_runner_backend": _of_products(f"initialize_{name}_config", stored)
        for name, stored in _OF_PRODUCTS.items()
    },
    STORED: _stored,
    "get_fused_func": _registered,
    "get_moe_impl_class": built.experts_class,
}
