"""What the process that serves knows of its flags: bags of them, and the widths of its groups.

After argument resolution upstream publishes the flags in bags (``get_schedule().page_size``,
``get_exec().moe.ep_size``) whose leaves are the flags themselves. Of the process groups the first
rank is read: whatever it refuses ends the launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvsolve.model.expression import if_, node, raw
from kvsolve.upstream.reader.values import ABSENT, FunctionValue, Value, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.upstream.reader.run import Run

__all__ = ["GROUPS", "WIDTHS", "Bag", "bag_of", "flag", "read_bag"]

_CONTEXT = "runtime_context"


@dataclass(frozen=True, slots=True)
class Bag:
    """A bag of flags (``flags``), the parallel state (``parallel``) or a process group."""

    kind: str


GROUPS = frozenset(["tp_group", "pp_group", "attn_tp_group", "attn_cp_group", "world_group"])
"""Attributes of the parallel state that are groups themselves."""

WIDTHS = {
    "get_tensor_model_parallel_world_size": "tp_size",
    "get_pipeline_model_parallel_world_size": "pp_size",
    "get_attention_tp_size": "attn_tp_size",
    "get_attention_dp_size": "attn_dp_size",
    "get_attention_cp_size": "attn_cp_size",
    "get_attn_tensor_model_parallel_world_size": "attn_tp_size",
    "get_attn_context_model_parallel_world_size": "attn_cp_size",
    "get_moe_expert_parallel_world_size": "moe_ep_size",
    "get_moe_tensor_parallel_world_size": "moe_tp_size",
    "get_moe_data_parallel_world_size": "moe_dp_size",
    "get_dcp_world_size": "attn_dcp_size",
}
"""Functions of upstream that answer a width, and the width."""


def flag(run: Run, name: str) -> Value:
    """The final value of a flag."""
    return run.field("now", name) if name in run.fields else raw("opaque", f"flags.{name}")


def _attention_dp(run: Run) -> Value:
    """A flag of its own since 0.5.22, before it the replicas under attention DP."""
    if "attn_dp_size" in run.fields:
        return flag(run, "attn_dp_size")
    return if_(flag(run, "enable_dp_attention"), flag(run, "dp_size"), 1)


def _attention_tp(run: Run) -> Value:
    whole = node("floordiv", flag(run, "tp_size"), run.operand(_attention_dp(run)))
    return node("floordiv", whole, flag(run, "attn_cp_size"))


def _moe_tp(run: Run) -> Value:
    share = node("floordiv", flag(run, "tp_size"), flag(run, "ep_size"))
    return node("floordiv", share, flag(run, "moe_dp_size"))


def _attention_dp_enabled(run: Run) -> Value:
    """What upstream computes as it publishes the flags, where the release does."""
    from kvsolve.upstream.reader import calls, names

    function = names.global_name(run, f"sglang.srt.{_CONTEXT}", "attn_dp_enabled_of")
    if not isinstance(function, FunctionValue):
        return raw("opaque", "flags.attn_dp_enabled")
    return calls.call(run, function, [View()], {})


_DERIVED: dict[str, Callable[[Run], Value]] = {
    "attn_dp_enabled": _attention_dp_enabled,
    "attn_dp_size": _attention_dp,
    "attn_tp_size": _attention_tp,
    "moe_ep_size": lambda run: flag(run, "ep_size"),
    "moe_tp_size": _moe_tp,
    "attn_dcp_size": lambda run: flag(run, "dcp_size"),
    "dcp_enabled": lambda run: node("gt", flag(run, "dcp_size"), 1),
}
_SIZES = {
    "tp_group": "tp_size",
    "pp_group": "pp_size",
    "attn_tp_group": "attn_tp_size",
    "attn_cp_group": "attn_cp_size",
}


def width(run: Run, name: str) -> Value:
    """A width, rank or group of the parallel state, as the first rank sees it."""
    if name.endswith("_rank"):
        return 0
    if name in GROUPS:
        return Bag(name)
    if name in _DERIVED:
        return _DERIVED[name](run)
    return flag(run, name)


def read_bag(run: Run, owner: Bag, name: str, default: Value) -> Value:
    """``bag.name``: a flag, a width, or a bag within the bag."""
    if owner.kind == "parallel":
        return width(run, name)
    if owner.kind in GROUPS:
        return _of_group(run, owner.kind, name)
    if name in run.fields:
        return flag(run, name)
    return default if default is not ABSENT else Bag("flags")


def _of_group(run: Run, group: str, name: str) -> Value:
    size = width(run, _SIZES[group]) if group in _SIZES else raw("opaque", f"{group}.world_size")
    if name in ("world_size", "size"):
        return size
    if name == "is_first_rank":
        return True
    if name == "is_last_rank":
        return node("eq", run.operand(size), 1)
    return (
        0 if name in ("rank", "rank_in_group", "local_rank") else raw("opaque", f"{group}.{name}")
    )


def bag_of(kind: str) -> Callable[..., Value]:
    """A reader of a function of the runtime context that answers a bag."""

    def handler(
        run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        return Bag(kind) if function.module.name.endswith(_CONTEXT) else NotImplemented

    return handler
