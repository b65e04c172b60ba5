"""Loaders of weights, and the quantisation that they check before they build a model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kvsolve.model.expression import Operand, all_of, node
from kvsolve.model.program import Place
from kvsolve.upstream.reader import attributes, calls, classes, iteration, names, serving
from kvsolve.upstream.reader.bags import flag
from kvsolve.upstream.reader.values import (
    ClassValue,
    ConfigObject,
    FunctionValue,
    Unreadable,
    Value,
)

if TYPE_CHECKING:
    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.run import Run

__all__ = ["is_served", "quantization", "read_loading"]

_LOADER = "sglang.srt.model_loader.loader"
_METHODS = ("sglang.srt.layers.quantization", "QUANTIZATION_METHODS")
_QUANTISED = frozenset(["bitsandbytes", "gguf"])
"""Formats that are a quantisation as well."""
_READ = frozenset(["dummy", "expert_pack"])
_UNREAD = ("sglang.kernels", "sglang.jit_kernel", "sglang.srt.models", "sglang.srt.connector")


def read_loading(run: Run, later: Later) -> Operand:
    """Read which loader is made, and the check of the quantisation that each one runs first.

    Returns:
        The quantisation that is served, by its name.
    """
    # What expert_pack makes of its options is read where resolution makes it.
    packed = node("ne", run.operand(flag(run, "load_format")), "expert_pack")
    later.read("load", packed, partial(_make, run), _UNREAD)
    place = Place("configs/model_config.py", "ModelConfig", 0, "ModelConfig")
    served = run.log.let("served_quantization", quantization(run), True, place)
    named = node("is_not", served, None)
    later.read("load", named, partial(_look_up, run, served), _UNREAD)
    _read_formats(run, later, served)
    return served


def _read_formats(run: Run, later: Later, served: Operand) -> None:
    """Read once more which loader is made, format by format.

    With the format said, the loader is one, so that what it asks is short. A quantisation that
    makes a loader of its own is left out.
    """
    formats = serving.class_named(run, "sglang.srt.configs.load_config", "LoadFormat")
    if formats is None:
        return
    later.led = True
    for member in iteration.enum_members(formats):
        name = str(classes.held(run, formats, member))
        own = name if name in _QUANTISED else None
        chosen = node("eq", run.operand(flag(run, "load_format")), name)
        premise = all_of(chosen, is_served(served, own))
        known = is_served(run.operand(quantization(run)), own)
        if name not in _READ:
            later.read("load", premise, partial(_make, run), _UNREAD, known=known)
    later.led = False


def is_served(served: Operand, name: str | None) -> Operand:
    """Whether a quantisation is the one that is served, None for none."""
    return node("is", served, None) if name is None else node("eq", served, name)


def quantization(run: Run) -> Value:
    """The quantisation that the model is served with, None without any."""
    return run.operand(attributes.read(run, ConfigObject("model"), "quantization"))


def _make(run: Run) -> Value:
    return _call(run, "get_model_loader", [_load_config(run), ConfigObject("model")])


def _look_up(run: Run, served: Operand) -> Value:
    function = names.global_name(run, _METHODS[0], "get_quantization_config")
    if not isinstance(function, FunctionValue):
        raise Unreadable("the release looks no quantisation up")
    return calls.call(run, function, [served], {})


def _call(run: Run, name: str, arguments: list[Value]) -> Value:
    function = names.global_name(run, _LOADER, name)
    if not isinstance(function, FunctionValue):
        raise Unreadable(f"the release has no {name}")
    for name_of_flag in ("modelopt_quant",):
        run.state["extra", "model", name_of_flag] = flag(run, name_of_flag)
    return calls.call(run, function, arguments[: len(function.node.args.args)], {})


def _load_config(run: Run) -> Value:
    """What the model runner says to a loader, as far as flags say it."""
    cls = names.global_name(run, "sglang.srt.configs.load_config", "LoadConfig")
    if not isinstance(cls, ClassValue):
        raise Unreadable("the release has no LoadConfig")
    told = [name for name in classes.field_names(run, cls) if name in run.fields]
    given = {name: run.log.current(name) for name in told}
    return classes.construct(run, cls, [], given)
