"""What the process that serves holds where the later stages begin: runner, pools, dtypes.

Only what flags and facts decide is said. An attribute that is not said makes the statement that
reads it unreadable, so that no guard rests on a guess.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.model.expression import Operand, if_, raw
from kvsolve.upstream.reader import attributes, calls, classes, iteration, names
from kvsolve.upstream.reader.bags import Bag
from kvsolve.upstream.reader.state import Instance
from kvsolve.upstream.reader.values import (
    ABSENT,
    ClassValue,
    ConfigObject,
    FunctionValue,
    HeapRef,
    Unreadable,
    Value,
    View,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.upstream.reader.premises import Premises
    from kvsolve.upstream.reader.run import Run

__all__ = [
    "call_method",
    "call_named",
    "class_named",
    "kv_dtype",
    "model",
    "of_runner",
    "runner",
    "speculation",
]

_RUNNER = ("sglang.srt.model_executor.model_runner", "ModelRunner")
_SPECULATION = ("sglang.srt.speculative.spec_info", "SpeculativeAlgorithm")
_ALIASES = {"NEXTN": "EAGLE"}


def class_named(run: Run, module: str, name: str) -> ClassValue | None:
    """A class that a module of the release defines; None where it has none of that name."""
    owner = run.modules.get(module)
    if owner is None or not isinstance(owner.definitions.get(name), ast.ClassDef):
        return None
    found = names.global_name(run, module, name)
    return found if isinstance(found, ClassValue) else None


def model() -> Value:
    """The configuration of the target model."""
    return ConfigObject("model")


def call_method(run: Run, owner: Value, name: str, kwargs: Mapping[str, Value]) -> Value:
    """Call a method of an object with those arguments that it takes; the others are unknown.

    Raises:
        Unreadable: Its class has no such method.
    """
    method = attributes.read(run, owner, name)
    if not isinstance(method, FunctionValue):
        raise Unreadable(f"the release has no method {name}")
    return calls.inline(run, method, [], _arguments(method, kwargs))


def _arguments(function: FunctionValue, kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """Every argument that a function takes; unknown where it is not said, whatever the default."""
    signature = function.node.args
    names = [a.arg for a in (*signature.args, *signature.kwonlyargs)]
    own = names[1:] if function.bound is not ABSENT else names
    return {name: kwargs[name] if name in kwargs else raw("opaque", name) for name in own}


def call_named(run: Run, module: str, name: str, kwargs: Mapping[str, Value]) -> Value:
    """Call a function of a module; opaque where the release has none of that name.

    Arguments that this release's function does not take are left out; those that are not said
    are unknown.
    """
    owner = run.modules.get(module)
    function = names.global_name(run, module, name) if owner and name in owner.definitions else None
    if not isinstance(function, FunctionValue):
        return raw("opaque", name)
    return calls.inline(run, function, [], _arguments(function, kwargs))


def _dtype(name: str) -> Operand:
    return raw("fact", f"packages.torch.{name}")


def kv_dtype(run: Run, premises: Premises) -> Operand:
    """The element type of the KV pool of the target model.

    Under ``auto`` a checkpoint may store FP8, which its weights tell; that stays unknown.
    """
    rocm, older = _dtype("float8_e4m3fnuz"), _dtype("float8_e5m2")
    named = if_(premises.of("kv_cache_dtype == 'fp8_e5m2' and not gpu.is_hip"), older, rocm)
    fp8 = premises.of("kv_cache_dtype in ('fp8_e4m3', 'fp8_e5m2')")
    other = if_(fp8, named, raw("opaque", "kv dtype of weights or fp4"))
    plain = if_(premises.of("kv_cache_dtype in ('bf16', 'bfloat16')"), _dtype("bfloat16"), other)
    return if_(premises.of("late_kv_is_e4m3fn"), _dtype("float8_e4m3fn"), plain)


def speculation(run: Run, premises: Premises) -> Operand:
    """The member of ``SpeculativeAlgorithm`` that the flag names.

    A name that only a plug-in knows counts as none: nothing of it is known.
    """
    cls = class_named(run, *_SPECULATION)
    if cls is None:
        return raw("opaque", "spec_algorithm")
    chosen: Operand = run.operand(classes.attribute(run, cls, "NONE"))
    for name in iteration.enum_members(cls):
        spelled = (name, *(alias for alias, meant in _ALIASES.items() if meant == name))
        test = premises.of(f"speculative_algorithm in {spelled!r}")
        if name != "NONE":
            chosen = if_(test, run.operand(classes.attribute(run, cls, name)), chosen)
    return chosen


def of_runner(run: Run, premises: Premises) -> dict[str, Value]:
    """What a model runner of the target model is told or finds out."""
    flags, model = View(), ConfigObject("model")
    return {
        "server_args": flags,
        "model_config": model,
        "device": run.state["now", "device"],
        "gpu_id": 0,
        "tp_rank": 0,
        "pp_rank": 0,
        "tp_size": run.state["now", "tp_size"],
        "pp_size": run.state["now", "pp_size"],
        "page_size": run.state["now", "page_size"],
        "tp_group": Bag("tp_group"),
        "pp_group": Bag("pp_group"),
        "is_draft_worker": False,
        "draft_model_idx": None,
        "use_mla_backend": premises.of("late_is_mla"),
        "is_hybrid_swa": premises.of("late_is_hybrid_swa"),
        "is_hybrid_swa_compress": premises.of("model.is_hybrid_swa_compress"),
        "kv_cache_dtype": kv_dtype(run, premises),
        "kv_cache_dtype_str": raw("opaque", "kv_cache_dtype_str"),
        "dtype": premises.of("late_model_dtype"),
        "spec_algorithm": speculation(run, premises),
        "sliding_window_size": raw("opaque", "sliding_window_size"),
        "prefill_attention_backend_str": premises.of("late_prefill_backend"),
        "decode_attention_backend_str": premises.of("late_decode_backend"),
        "init_new_workspace": False,
        "max_running_requests": raw("opaque", "max_running_requests"),
        "max_total_num_tokens": raw("opaque", "max_total_num_tokens"),
        "token_to_kv_pool": raw("opaque", "token_to_kv_pool"),
        "req_to_token_pool": raw("opaque", "req_to_token_pool"),
        "token_to_kv_pool_allocator": raw("opaque", "token_to_kv_pool_allocator"),
        "hisparse_coordinator": raw("opaque", "hisparse_coordinator"),
        "kv_index_translator": raw("opaque", "kv_index_translator"),
        "model": raw("opaque", "model"),
    }


def runner(run: Run, premises: Premises) -> HeapRef:
    """The model runner of the target model.

    Raises:
        Unreadable: The release has no such class.
    """
    cls = class_named(run, *_RUNNER)
    if cls is None:
        raise Unreadable("the release has no ModelRunner")
    return run.allocate(Instance(cls, of_runner(run, premises)))
