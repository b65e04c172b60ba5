"""What the scheduler and the model runner refuse on their way up, method by method.

Each method is read from the middle: of the object that it belongs to only what is named here is
known. A method that a release does not have is no matter; what a method asks of anything else
stays unknown, and its refusals stay out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kvsolve.upstream.reader import calls, classes, names
from kvsolve.upstream.reader.bags import flag
from kvsolve.upstream.reader.state import Instance
from kvsolve.upstream.reader.values import (
    ABSENT,
    ClassValue,
    ConfigObject,
    Dead,
    FunctionValue,
    Unreadable,
    Value,
    View,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.run import Run

__all__ = ["read_after_models", "read_before_models"]

_UNREAD = (
    "sglang.kernels",
    "sglang.jit_kernel",
    "sglang.srt.mem_cache.memory_pool",
    "sglang.srt.layers.attention",
    "sglang.srt.models",
    "sglang.srt.model_loader.loader",
    "sglang.srt.disaggregation.mooncake",
    "sglang.srt.disaggregation.nixl",
    "sglang.srt.disaggregation.mori",
    "sglang.srt.disaggregation.ascend",
    "sglang.srt.disaggregation.common.staging",
)


@dataclass(frozen=True, slots=True)
class _Owner:
    """A class of the process that serves, and the attributes of its object that flags decide."""

    module: str
    name: str
    roles: bool = False


_SCHEDULER = _Owner("sglang.srt.managers.scheduler", "Scheduler")
_RUNNER = _Owner("sglang.srt.model_executor.model_runner", "ModelRunner", roles=True)
_BEFORE = (
    (_SCHEDULER, "init_mamba_backend"),
    (_SCHEDULER, "init_moe_gemm_config"),
    (_RUNNER, "maybe_init_expert_location_metadata"),
    (_RUNNER, "maybe_init_eplb_manager"),
    (_RUNNER, "maybe_init_elastic_ep"),
    (_RUNNER, "load_model"),
)
_AFTER = (
    (_RUNNER, "configure_kv_cache_dtype"),
    (_RUNNER, "check_quantized_moe_compatibility"),
    (_RUNNER, "init_ngram_embedding_manager"),
    (_SCHEDULER, "maybe_init_draft_worker"),
    (_SCHEDULER, "init_disaggregation"),
    (_SCHEDULER, "init_schedule_policy"),
    (_SCHEDULER, "init_grammar_manager"),
    (_SCHEDULER, "init_metrics_reporter"),
)


def read_before_models(run: Run, later: Later) -> None:
    """Read what is asked until the model is built."""
    _read(run, later, _BEFORE)


def read_after_models(run: Run, later: Later) -> None:
    """Read what is asked once the weights are there."""
    _read(run, later, _AFTER)


def _read(run: Run, later: Later, methods: Iterable[tuple[_Owner, str]]) -> None:
    for owner, name in methods:
        cls = names.global_name(run, owner.module, owner.name)
        method = classes.method(run, cls, name) if isinstance(cls, ClassValue) else None
        if method is not None:
            later.read("load", True, partial(_call, run, owner, cls, method), _UNREAD)


def _call(run: Run, owner: _Owner, cls: ClassValue, method: FunctionValue) -> Value:
    """Call a method of an object that is known in part."""
    held: dict[str, Value] = {
        "server_args": View(),
        "model_config": ConfigObject("model"),
        "device": flag(run, "device"),
        "spec_algorithm": _algorithm(run),
    }
    if owner.roles:
        held |= {"is_draft_worker": False, "draft_model_idx": None, "draft_load_format": None}
    reference = run.allocate(Instance(cls, held, whole=False))
    bound = FunctionValue(method.module, method.node, None, reference, method.owner)
    return calls.call(run, bound, [], {})


def _algorithm(run: Run) -> Value:
    """The member of the speculative algorithms that the flag names."""
    module = "sglang.srt.speculative.spec_info"
    cls = names.global_name(run, module, "SpeculativeAlgorithm")
    if not isinstance(cls, ClassValue):
        return ABSENT
    method = classes.method(run, cls, "from_string")
    if method is None:
        return ABSENT
    bound = FunctionValue(method.module, method.node, None, cls, method.owner)
    try:
        return calls.call(run, bound, [flag(run, "speculative_algorithm")], {})
    except (Dead, Unreadable):
        return ABSENT
