"""What the methods of a quantisation refuse as layers are made with it.

Linear layers and experts that get the configuration of the served quantisation ask it for a
method, whose constructor chooses kernels; experts ask it further for a runner. Read is what no
list of layers takes out of the quantisation: a checkpoint that keeps some layers in full precision
is left alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from kvsolve.model.expression import all_of, any_of, node
from kvsolve.upstream.reader import classes, iteration, serving
from kvsolve.upstream.reader.bags import flag
from kvsolve.upstream.reader.built import EXPERTS, LINEAR
from kvsolve.upstream.reader.choices import STORED
from kvsolve.upstream.reader.loading import is_served
from kvsolve.upstream.reader.state import Instance
from kvsolve.upstream.reader.values import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.model.expression import Operand
    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.premises import Premises
    from kvsolve.upstream.reader.run import Run
    from kvsolve.upstream.reader.values import ClassValue, Value

__all__ = ["read_quantised"]

_METHODS = "sglang.srt.layers.quantization"
_LAYER = "sglang.srt.layers.moe.fused_moe_triton.layer"
_RUNNER_CONFIG = ("sglang.srt.layers.moe.moe_runner.base", "MoeRunnerConfig")
_WITHIN = (
    "layers/quantization/",
    "layers/moe/moe_runner/runner.py",
    "layers/moe/fused_moe_triton/layer.py:_validate",
)
_CHECKS = ("_validate_hpc_ops_quant_method", "_validate_deepep_v2_quant_method")
"""What a layer of experts asks of its method before it makes weights."""
_UNREAD = ("sglang.kernels", "sglang.jit_kernel", "sglang.srt.models", "sglang.srt.distributed")
_SAID = "getattr(config, 'quantization_config', None)"
_ONLINE = (
    f"not {_SAID} and not getattr(config, 'compression_config', None)"
    " and not getattr(getattr(config, 'text_config', None), 'quantization_config', None)"
    " and not env.SGLANG_FP8_IGNORED_LAYERS"
)
"""The checkpoint says nothing of a quantisation: its weights are quantised as they are loaded."""
_STORED = (
    f"{_SAID} and not {_SAID}.get('ignored_layers') and not {_SAID}.get('modules_to_not_convert')"
    " and not env.SGLANG_FP8_IGNORED_LAYERS"
)
_WHOLE = f"{_STORED} and {_SAID}.get('weight_block_size') is None"
_BLOCKS = f"{_STORED} and {_SAID}.get('weight_block_size') == [128, 128]"
_OWN_EXPERTS = "kt_weight_path is None and not enable_paged_experts", "kt_weight_path is None"
"""Where experts are not kept elsewhere, by a method of its own around this one."""


@dataclass(frozen=True, slots=True)
class _Method:
    """A method that a quantisation answers with.

    Attributes:
        of: Name of the quantisation, None for none.
        kind: What it is for.
        place: Module below the package of quantisations, and its class.
        when: Further premise.
        config: Class of the configuration that it is made with.
        holds: What that configuration holds.
        flag: The flag that chooses among kernels, each of whose values is read by itself; without
            one only the constructor is read.
        among: Module and class of the enumeration of these values.
    """

    of: str | None
    kind: str
    place: tuple[str, str]
    when: str
    config: str = ""
    holds: Mapping[str, Value] = field(default_factory=dict)
    flag: str = ""
    among: tuple[str, str] = ("", "")


_DENSE: Mapping[str, Value] = {
    "use_mxfp8": False,
    "weight_block_size": None,
    "convert_mxfp8_to_block_fp8": None,
    "is_fp4_experts": False,
    "dequant_fp4_to_fp8": False,
}
_STORE: Mapping[str, Value] = {**_DENSE, "weight_block_size": (128, 128)}
_MX: Mapping[str, Value] = {**_DENSE, "use_mxfp8": True, "weight_block_size": (1, 32)}
_PRODUCTS = "fp8_gemm_runner_backend", (f"{_METHODS}.fp8_utils", "Fp8GemmRunnerBackend")
_RUNNERS = "moe_runner_backend", ("sglang.srt.layers.moe.utils", "MoeRunnerBackend")
_LINEAR, _MOE = ("fp8", "Fp8LinearMethod"), ("fp8", "Fp8MoEMethod")
_EIGHT = "not model.is_fp4_experts"
_OCP = f"{_SAID} and {_SAID}.get('quant_method') == 'mxfp4'"
_ROWS = (
    _Method("fp8", LINEAR, _LINEAR, _ONLINE, "Fp8Config", _DENSE, *_PRODUCTS),
    _Method("fp8", LINEAR, _LINEAR, _WHOLE, "Fp8Config", _DENSE, *_PRODUCTS),
    _Method("fp8", LINEAR, _LINEAR, _BLOCKS, "Fp8Config", _STORE, *_PRODUCTS),
    _Method("mxfp8", LINEAR, _LINEAR, _ONLINE, "Fp8Config", _MX, *_PRODUCTS),
    _Method("fp8", EXPERTS, _MOE, f"{_ONLINE} and {_EIGHT}", "Fp8Config", _DENSE),
    _Method("fp8", EXPERTS, _MOE, f"{_WHOLE} and {_EIGHT}", "Fp8Config", _DENSE),
    _Method("fp8", EXPERTS, _MOE, f"{_BLOCKS} and {_EIGHT}", "Fp8Config", _STORE),
    _Method(
        "fp8",
        EXPERTS,
        _MOE,
        f"({_ONLINE} or {_STORED}) and {_EIGHT}",
        "Fp8Config",
        {"is_fp4_experts": False, "dequant_fp4_to_fp8": False},
        *_RUNNERS,
    ),
    _Method("mxfp4", EXPERTS, ("mxfp4", "Mxfp4MoEMethod"), _OCP, "", {}, *_RUNNERS),
    _Method(
        None,
        EXPERTS,
        ("unquant", "UnquantizedFusedMoEMethod"),
        "not gpu.is_npu",
        "",
        {},
        *_RUNNERS,
    ),
)


def read_quantised(
    run: Run,
    later: Later,
    premises: Premises,
    served: Operand,
    built: Mapping[str, Operand],
) -> None:
    """Read every method that the release has.

    Args:
        run: The run.
        later: Where refusals go.
        premises: Premises of the release.
        served: The quantisation that is served.
        built: When a model makes layers of a kind with the configuration of its quantisation.
    """
    for row in _ROWS:
        cls = serving.class_named(run, f"{_METHODS}.{row.place[0]}", row.place[1])
        when, made = premises.first(row.when), built.get(row.kind, False)
        if cls is None or when is None or made is False:
            continue
        own: Operand = True
        if row.kind == EXPERTS:
            # Where the model tells of no experts, none of the flags for them is stored.
            own = all_of(premises.first(*_OWN_EXPERTS) or False, run.learned.get(STORED, False))
        for chosen in _choices(run, row):
            premise = all_of(is_served(served, row.of), chosen, made, when, own)
            action = partial(_make, run, row, cls)
            later.read("load", premise, action, _UNREAD, within=_WITHIN)


def _choices(run: Run, row: _Method) -> Iterator[Operand]:
    """Each value of the flag that chooses; once whatever it is, where none is read by itself."""
    if not row.flag:
        yield True
        return
    cls = serving.class_named(run, *row.among)
    if cls is None:
        return
    for name in iteration.enum_members(cls):
        yield node("eq", run.operand(flag(run, row.flag)), classes.held(run, cls, name))


def _make(run: Run, row: _Method, cls: ClassValue) -> Value:
    config = serving.class_named(run, f"{_METHODS}.{row.place[0]}", row.config)
    given: dict[str, Value] = {}
    if config is not None:
        given["quant_config"] = run.allocate(Instance(config, row.holds, whole=False))
    made = run.allocate(Instance(cls, {}, whole=False))
    if classes.method(run, cls, "__init__") is not None:
        serving.call_method(run, made, "__init__", given | _asked_by_layers(run))
    if row.kind != EXPERTS or not row.flag:
        return made
    for check in _CHECKS:
        serving.call_named(run, _LAYER, check, {"quant_method": made})
    told = serving.class_named(run, *_RUNNER_CONFIG)
    if told is None:
        raise Unreadable("the release has no MoeRunnerConfig")
    asked = run.allocate(Instance(told, {"silu_mul_keep_fp32": False}, whole=False))
    return serving.call_method(run, made, "create_moe_runner", {"moe_runner_config": asked})


def _asked_by_layers(run: Run) -> dict[str, Value]:
    """What a layer of experts tells a method without a configuration."""
    backend = serving.call_named(run, "sglang.srt.layers.moe.utils", "get_moe_runner_backend", {})

    def is_one_of(*names: str) -> Value:
        answers: list[Operand] = []
        for name in names:
            with suppress(Unreadable):  # a kernel that this release has not
                answers.append(run.operand(serving.call_method(run, backend, f"is_{name}", {})))
        return any_of(*answers)

    return {
        "use_triton_kernels": is_one_of("triton_kernels"),
        "use_flashinfer_trtllm_moe": is_one_of("flashinfer_trtllm", "flashinfer_trtllm_routed"),
        "use_deep_gemm": is_one_of("deep_gemm", "lora"),
    }
