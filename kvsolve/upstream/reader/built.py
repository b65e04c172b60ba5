"""What a model builds with the configuration of its quantisation: linear layers and experts.

While a model class is read, each of these layers that it is told to make is noticed, with the
condition under which it comes to that. Only layers that get the model's own configuration count.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.model.expression import any_of
from kvsolve.upstream.reader import classes, names
from kvsolve.upstream.reader.values import ClassValue, External, FunctionValue, Union, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.model.expression import Operand
    from kvsolve.upstream.reader.run import Run

__all__ = [
    "CONFIGURATION",
    "EXPERTS",
    "KINDS",
    "LINEAR",
    "experts_class",
    "forget",
    "notice",
    "noticed",
]

CONFIGURATION = "quant_config"
LINEAR, EXPERTS = KINDS = ("layers", "experts")
_BASE = "FusedMoE"
_KINDS = {
    "ColumnParallelLinear": LINEAR,
    "MergedColumnParallelLinear": LINEAR,
    "QKVParallelLinear": LINEAR,
    "ReplicatedLinear": LINEAR,
    "RowParallelLinear": LINEAR,
    "FusedMoE": EXPERTS,
    "DeepEPMoE": EXPERTS,
}


def notice(run: Run, cls: ClassValue, kwargs: Mapping[str, Value]) -> None:
    """Note that a layer is made, unless a path that was not followed may lead past it."""
    kind = _KINDS.get(cls.name)
    if kind is None or run.lost is not None or not _is_models_own(kwargs.get(CONFIGURATION)):
        return
    run.learned[kind] = any_of(run.learned.get(kind, False), run.guard())


def noticed(run: Run, kind: str) -> Operand:
    """When a layer of a kind was made since :func:`forget`."""
    return run.learned.get(kind, False)


def experts_class(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """The class of experts that upstream chooses from: all build on the one that is answered."""
    answers = [n.value for n in ast.walk(function.node) if isinstance(n, ast.Return)]
    chosen = [
        names.global_name(run, function.module.name, answer.id)
        for answer in answers
        if isinstance(answer, ast.Name)
    ]
    for cls in chosen:
        if not isinstance(cls, ClassValue) or _BASE not in classes.lineage(run, cls):
            return NotImplemented
    based = [cls for cls in chosen if isinstance(cls, ClassValue) and cls.name == _BASE]
    return based[0] if based and len(chosen) == len(answers) else NotImplemented


def forget(run: Run) -> None:
    """Begin anew, with another model class."""
    for kind in KINDS:
        run.learned.pop(kind, None)


def _is_models_own(value: Value) -> bool:
    if isinstance(value, Union):
        parts = [part for part in (value.then, value.other) if part is not None]
        return len(parts) == 1 and _is_models_own(parts[0])
    return isinstance(value, External) and value.name == CONFIGURATION
