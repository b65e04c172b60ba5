"""Linear-attention layers: what their backends and the kernels chosen by flags refuse.

Each family is read where its configuration is of that family. The kernel of prefill that a backend
prefers where no flag says one is left out: upstream prefers it only where nothing refuses it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kvsolve.upstream.reader import attributes, calls, serving
from kvsolve.upstream.reader.values import Unreadable, Value

if TYPE_CHECKING:
    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.premises import Premises
    from kvsolve.upstream.reader.run import Run

__all__ = ["read_linear_attention"]

_LINEAR = "sglang.srt.layers.attention.linear"
_FAMILIES = (
    ("late_is_gdn and not gpu.is_npu", "gdn_backend", "GDNAttnBackend"),
    ("late_is_kda and not gpu.is_npu", "kda_backend", "KDAAttnBackend"),
    (
        "config.model_type == 'bailing_hybrid' and not late_is_kda",
        "lightning_backend",
        "LightningAttentionBackend",
    ),
)
"""Premise, module and class of the backend of each family."""
_NONE = {"prefill_default": None}
_UNREAD = ("sglang.srt.layers.quantization", "sglang.jit_kernel", "sglang.kernels")


def read_linear_attention(run: Run, later: Later, premises: Premises) -> None:
    """Read the backend of every family of linear attention."""
    for text, module, name in _FAMILIES:
        cls = serving.class_named(run, f"{_LINEAR}.{module}", name)
        premise = premises.first(f"hasattr(config, 'model_type') and ({text})")
        if cls is not None and premise is not None:
            action = partial(_build, run, premises, cls)
            later.read("attention", premise, action, _UNREAD, within=("layers/attention/",))


def _build(run: Run, premises: Premises, cls: Value) -> Value:
    runner = serving.runner(run, premises)
    chosen = serving.call_named(run, f"{_LINEAR}.utils", "resolve_linear_attn_backends", _NONE)
    if chosen is None:
        raise Unreadable("the kernels of linear attention")
    attributes.write(run, runner, "linear_attn_backends", chosen)
    return calls.call(run, cls, [runner], {})
