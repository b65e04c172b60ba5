"""Kernels and modes that flags choose: enumerations that upstream keeps for the whole process.

``get_moe_a2a_backend()`` and its like answer what the scheduler stored on its way up. For experts
it stores only where the model's configuration tells that it has some; without that the defaults
stay, whatever the flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import any_of, if_
from kvsolve.upstream.reader import calls, classes, names
from kvsolve.upstream.reader.bags import flag
from kvsolve.upstream.reader.values import ClassValue, FunctionValue, Unreadable, Value

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


def _of_experts(enumeration: str, default: str, name: str) -> Callable[..., Value]:
    def handler(
        run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        cls = names.global_name(run, function.module.name, enumeration)
        if not isinstance(cls, ClassValue):
            raise Unreadable(f"{function.name} without {enumeration}")
        chosen = run.operand(classes.construct(run, cls, [flag(run, name)], {}))
        unset = run.operand(classes.attribute(run, cls, default))
        return if_(run.learned.get(STORED, False), chosen, unset)

    return handler


def _stored(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Note when upstream stores the choices, and read what it checks as it does."""
    run.learned[STORED] = any_of(run.learned.get(STORED, False), run.guard())
    return calls.inline(run, function, args, kwargs)


HANDLERS: dict[str, Callable[..., Value]] = {
    **{name: _of_experts(*row) for name, row in _OF_EXPERTS.items()},
    STORED: _stored,
}
