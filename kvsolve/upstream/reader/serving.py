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
    "SAID_DTYPE",
    "call_method",
    "call_named",
    "class_named",
    "family",
    "kv_dtype",
    "model",
    "of_runner",
    "runner",
    "speculation",
]

_RUNNER = ("sglang.srt.model_executor.model_runner", "ModelRunner")
_SPECULATION = ("sglang.srt.speculative.spec_info", "SpeculativeAlgorithm")
SAID_DTYPE = "kv_cache_dtype in ('fp8_e4m3', 'fp8_e5m2', 'mxfp8', 'bf16', 'bfloat16')"
_ALIASES = {"NEXTN": "EAGLE"}


_SAID = {
    "decode_attention_backend_str": "late_decode_backend",
    "device": "device",
    "dtype": "late_model_dtype",
    "is_hybrid_swa": "late_is_hybrid_swa",
    "is_hybrid_swa_compress": "model.is_hybrid_swa_compress",
    "page_size": "page_size",
    "pp_size": "pp_size",
    "prefill_attention_backend_str": "late_prefill_backend",
    "tp_size": "tp_size",
    "use_mla_backend": "late_is_mla",
}
"""What a runner holds that flags and facts say."""
_UNSAID = (
    "hisparse_coordinator",
    "kv_cache_dtype_str",
    "kv_index_translator",
    "max_running_requests",
    "max_total_num_tokens",
    "model",
    "req_to_token_pool",
    "sliding_window_size",
    "token_to_kv_pool",
    "token_to_kv_pool_allocator",
)


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


def kv_dtype(premises: Premises, *, said: bool = False) -> Operand:
    """The element type of the KV pool of the target model.

    Under ``auto`` a checkpoint may store FP8, which its weights tell; that stays unknown.

    Args:
        premises: Premises of the release.
        said: Whether a flag says the type, as :data:`SAID_DTYPE` asks.
    """
    rocm, older = _dtype("float8_e4m3fnuz"), _dtype("float8_e5m2")
    is_e5m2 = premises.said("e5m2", "kv_cache_dtype == 'fp8_e5m2' and not gpu.is_hip")
    is_fp8 = premises.said("fp8", "kv_cache_dtype in ('fp8_e4m3', 'fp8_e5m2')")
    is_bf16 = premises.said("bf16", "kv_cache_dtype in ('bf16', 'bfloat16')")
    named = if_(is_e5m2, older, rocm)
    other = named if said else if_(is_fp8, named, raw("opaque", "kv dtype of weights or fp4"))
    plain = if_(is_bf16, _dtype("bfloat16"), other)
    return if_(premises.said("e4m3", "late_kv_is_e4m3fn"), _dtype("float8_e4m3fn"), plain)


def family(premises: Premises, text: str) -> Operand:
    """The configuration of a model of a family, None for one of another."""
    return if_(premises.said(text, text), raw("fact", "config"), None)


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
        test = premises.said("named", f"speculative_algorithm in {spelled!r}")
        if name != "NONE":
            chosen = if_(test, run.operand(classes.attribute(run, cls, name)), chosen)
    return chosen


def of_runner(run: Run, premises: Premises, *, said: bool = False) -> dict[str, Value]:
    """What a model runner of the target model is told or finds out; see :func:`kv_dtype`."""
    held: dict[str, Value] = {name: premises.said(name, text) for name, text in _SAID.items()}
    return held | {
        "server_args": View(),
        "model_config": model(),
        "gpu_id": 0,
        "tp_rank": 0,
        "pp_rank": 0,
        "tp_group": Bag("tp_group"),
        "pp_group": Bag("pp_group"),
        "is_draft_worker": False,
        "draft_model_idx": None,
        "kv_cache_dtype": kv_dtype(premises, said=said),
        "spec_algorithm": speculation(run, premises),
        "init_new_workspace": False,
        **{name: raw("opaque", name) for name in _UNSAID},
    }


def runner(run: Run, premises: Premises, *, said: bool = False) -> HeapRef:
    """The model runner of the target model.

    Raises:
        Unreadable: The release has no such class.
    """
    cls = class_named(run, *_RUNNER)
    if cls is None:
        raise Unreadable("the release has no ModelRunner")
    return run.allocate(Instance(cls, of_runner(run, premises, said=said)))
