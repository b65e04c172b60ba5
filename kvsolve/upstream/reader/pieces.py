"""Constructors and functions that a start-up calls under a condition that flags decide.

Each is read by itself, with the arguments that its parameters' names tell: a flag, the record of
the flags, the model's configuration; everything else is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kvsolve.model.expression import all_of, negate, node, raw
from kvsolve.upstream.reader import calls, classes, names
from kvsolve.upstream.reader.bags import flag
from kvsolve.upstream.reader.choices import STORED
from kvsolve.upstream.reader.state import Instance
from kvsolve.upstream.reader.values import (
    ClassValue,
    ConfigObject,
    FunctionValue,
    Unreadable,
    Value,
    View,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kvsolve.model.expression import Operand
    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.run import Run

__all__ = ["read_experts", "read_others"]

_UNREAD = (
    "sglang.kernels",
    "sglang.jit_kernel",
    "sglang.srt.layers",
    "sglang.srt.model_executor",
    "sglang.srt.mem_cache",
    "sglang.srt.models",
    "sglang.srt.managers",
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to be read.

    Attributes:
        symbol: ``function`` or ``Class.method`` of the module.
        when: When upstream calls it.
    """

    module: str
    symbol: str
    when: Callable[[Run], Operand]


def _on(name: str) -> Callable[[Run], Operand]:
    return lambda run: _flag(run, name)


def _is(name: str, *values: str) -> Callable[[Run], Operand]:
    return lambda run: node("in", _flag(run, name), values)


def _algorithm(*names_of: str, multi_layer: bool | None = None) -> Callable[[Run], Operand]:
    """A speculative algorithm, however it is spelled."""

    def when(run: Run) -> Operand:
        named = _flag(run, "speculative_algorithm")
        spelled = node("in", node("method", named, "upper"), names_of)
        chosen = all_of(node("is_not", named, None), spelled)
        if multi_layer is None:
            return chosen
        many = _flag(run, "enable_multi_layer_eagle")
        return all_of(chosen, many if multi_layer else negate(many))

    return when


def _experts(backend: str) -> Callable[[Run], Operand]:
    """A model with experts, and an all-to-all backend between them."""
    return lambda run: all_of(
        run.learned.get(STORED, False), node("eq", _flag(run, "moe_a2a_backend"), backend)
    )


def _lora(run: Run) -> Operand:
    uno = _algorithm("UNO")(run)
    return all_of(_flag(run, "enable_lora"), negate(uno))


_EAGLES = ("EAGLE", "EAGLE3", "NEXTN")
_DISPATCHERS = "sglang.srt.layers.moe.token_dispatcher"
_EXPERTS = (
    _Piece(f"{_DISPATCHERS}.mooncake", "MooncakeEPDispatcher.__init__", _experts("mooncake")),
    _Piece(f"{_DISPATCHERS}.nixl", "NixlEPDispatcher.__init__", _experts("nixl")),
    _Piece(f"{_DISPATCHERS}.pplx", "PplxDispatcher.__init__", _experts("pplx")),
)
_SPECULATIVE = "sglang.srt.speculative"
_OTHERS = (
    _Piece("sglang.srt.utils.offloader", "create_offloader", lambda run: True),
    _Piece("sglang.srt.utils.offloader", "create_offloader_from_server_args", lambda run: True),
    _Piece("sglang.srt.lora.lora_manager", "LoRAManager.__init__", _lora),
    _Piece(
        f"{_SPECULATIVE}.eagle_worker_v2",
        "EagleDraftWorker.__init__",
        _algorithm(*_EAGLES, multi_layer=False),
    ),
    _Piece(
        f"{_SPECULATIVE}.multi_layer_eagle_worker_v2",
        "MultiLayerEagleDraftWorker.__init__",
        _algorithm(*_EAGLES, multi_layer=True),
    ),
    _Piece(
        f"{_SPECULATIVE}.frozen_kv_mtp_worker_v2",
        "FrozenKVMTPWorkerV2.__init__",
        _algorithm("FROZEN_KV_MTP"),
    ),
    _Piece(
        f"{_SPECULATIVE}.frozen_kv_mtp_worker_v2",
        "FrozenKVMTPDraftWorker.__init__",
        _algorithm("FROZEN_KV_MTP"),
    ),
    _Piece(
        "sglang.srt.eplb.expert_distribution",
        "_SinglePassGatherer.init_new",
        lambda run: node("is_not", _flag(run, "expert_distribution_recorder_mode"), None),
    ),
    _Piece(
        "sglang.srt.entrypoints.engine",
        "Engine._launch_weight_cache_daemons",
        _is("weight_cache_mode", "daemon"),
    ),
    _Piece(
        "sglang.srt.hardware_backend.mlx.model_runner_stub",
        "MlxModelRunnerStub.validate_startup_weight_load_mode",
        lambda run: raw("fact", "host.use_mlx"),
    ),
)


def read_experts(run: Run, later: Later) -> None:
    """Read what layers of experts ask as they are built."""
    _read(run, later, _EXPERTS, ())


def read_others(run: Run, later: Later) -> None:
    """Read what is asked once the model is there."""
    _read(run, later, _OTHERS, _UNREAD)


def _flag(run: Run, name: str) -> Operand:
    return run.operand(flag(run, name)) if name in run.fields else False


def _read(run: Run, later: Later, pieces: Iterable[_Piece], unread: tuple[str, ...]) -> None:
    for piece in pieces:
        owner, _, name = piece.symbol.rpartition(".")
        found = names.global_name(run, piece.module, owner or name)
        if owner and isinstance(found, ClassValue):
            method = classes.method(run, found, name)
            if method is not None:
                action = partial(_call, run, method, found)
                later.read("load", piece.when(run), action, unread)
        elif not owner and isinstance(found, FunctionValue):
            later.read("load", piece.when(run), partial(_call, run, found, None), unread)


def _call(run: Run, function: FunctionValue, owner: ClassValue | None) -> Value:
    """Call something with what the names of its parameters tell."""
    signature = function.node.args
    parameters = [a.arg for a in (*signature.args, *signature.kwonlyargs)]
    bound = function
    if owner is not None and "staticmethod" not in classes.decorators(function):
        is_class = "classmethod" in classes.decorators(function)
        receiver = owner if is_class else run.allocate(Instance(owner, {}, whole=False))
        bound = FunctionValue(function.module, function.node, None, receiver, function.owner)
        parameters = parameters[1:]
    return calls.call(run, bound, [], {name: _argument(run, name) for name in parameters})


def _argument(run: Run, name: str) -> Value:
    if name in ("server_args", "args"):
        return View()
    if name == "model_config":
        return ConfigObject("model")
    if name == "deepep_mode":
        return _mode(run)
    return flag(run, name) if name in run.fields else raw("opaque", name)


def _mode(run: Run) -> Value:
    function = names.global_name(run, "sglang.srt.layers.moe.utils", "get_deepep_mode")
    if not isinstance(function, FunctionValue):
        raise Unreadable("the release has no get_deepep_mode")
    return calls.call(run, function, [], {})
