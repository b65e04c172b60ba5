"""The quantisation that a checkpoint declares, as the release understands the declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.inputs.config_object import DraftObject
    from kvsolve.inputs.model_config import ModelFiles

__all__ = [
    "apply_modelopt",
    "declared_quantization",
    "parse_modelopt",
    "quantization_override",
]

NVFP4_LAYERS = ("NVFP4", "W4A16_NVFP4")
MARLIN_GROUPS = (-1, 32, 64, 128)
MARLIN_SM = 80
AWQ_SM = 75
OWN_FORMAT = frozenset({"nvfp4_online", "quark_mxfp4"})
"""Requests to quantise again while loading, which a declaration does not overrule."""


def parse_modelopt(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The method behind a ModelOpt declaration, None where it names none that is known.

    Args:
        data: ``quantization_config`` of a config.json, or a side file ``hf_quant_config.json``.
    """
    found = data.get("quantization", data)
    if not isinstance(found, dict):
        return None
    nested = found.get("quantization")
    found = nested if isinstance(nested, dict) else found
    algorithm = found.get("quant_algo")
    if not algorithm:
        return None
    if algorithm == "MIXED_PRECISION":
        layers = (found.get("quantized_layers") or {}).values()
        named = {str(x.get("quant_algo", "")).upper() for x in layers if isinstance(x, dict)}
        method = "w4afp8" if named.isdisjoint(NVFP4_LAYERS) else "modelopt_mixed"
        return {"quant_method": method, "quant_algo": algorithm}
    if "FP4" in algorithm:
        return {"quant_method": "modelopt_fp4", "quant_algo": algorithm}
    if algorithm == "FP8":
        return {"quant_method": "modelopt_fp8", "quant_algo": algorithm}
    if algorithm == "MXFP8":
        return _mxfp8(found)
    return None


def _mxfp8(found: Mapping[str, Any]) -> dict[str, Any]:
    parsed: dict[str, Any] = {
        "quant_method": "mxfp8",
        "quant_algo": "MXFP8",
        "activation_scheme": "dynamic",
        "weight_block_size": [1, found.get("group_size", 32)],
        "scale_fmt": "ue8m0",
    }
    ignored = found.get("exclude_modules", found.get("ignore"))
    if ignored is not None:
        parsed["modules_to_not_convert"] = ignored
    if found.get("kv_cache_quant_algo") is not None:
        parsed["kv_cache_quant_algo"] = found["kv_cache_quant_algo"]
    return parsed


def apply_modelopt(config: DraftObject) -> None:
    """Add to ``quantization_config`` what the release adds to a ModelOpt declaration there."""
    own = config.get("quantization_config")
    if isinstance(own, dict) and own.get("quant_method", "modelopt") == "modelopt":
        parsed = parse_modelopt({"quantization": own})
        if parsed:
            config.set("quantization_config", {**own, **parsed})


def declared_quantization(config: DraftObject, files: ModelFiles) -> Mapping[str, Any] | None:
    """What the checkpoint declares, None for an unquantised one."""
    if files.modelslim:
        return {"quant_method": "modelslim"}
    own = config.get("quantization_config")
    if own is None:
        own = config.get("compression_config")
    if own is None and files.quantization is not None:
        own = parse_modelopt(files.quantization)
    return own if isinstance(own, dict) else None


def quantization_override(
    declared: Mapping[str, Any], requested: str | None, platform: Mapping[str, Any]
) -> str | None:
    """The method that takes a checkpoint over from the one that is declared or requested.

    Args:
        declared: What the checkpoint declares.
        requested: ``--quantization``.
        platform: Facts ``gpu.*``.
    """
    method = str(declared.get("quant_method", "")).lower()
    algorithm = str(declared.get("quant_algo") or "").upper()
    found = None
    if requested not in OWN_FORMAT:
        found = _modelopt(method, algorithm, requested)
    found = found or _marlin(declared, method, requested, platform)
    if found is None and requested == "moe_wna16" and _wna16(declared, method, platform):
        found = "moe_wna16"
    if found is None and requested == "humming" and method != "mxfp4":
        found = "humming"
    if found is None and method == "modelopt" and platform.get("gpu.is_hip"):
        found = "petit_nvfp4"
    return found or _mlx(declared, requested)


def _modelopt(method: str, algorithm: str, requested: str | None) -> str | None:
    if requested == "modelopt":
        if algorithm == "MXFP8":
            return "mxfp8"
        if algorithm == "FP8":
            return "modelopt_fp8"
        if "FP4" in algorithm:
            return "modelopt_fp4"
    return method if method in ("modelopt_fp8", "modelopt_fp4", "modelopt_mixed") else None


def _marlin(
    declared: Mapping[str, Any], method: str, requested: str | None, platform: Mapping[str, Any]
) -> str | None:
    if not platform.get("gpu.is_cuda") or platform.get("gpu.device_sm", 0) < MARLIN_SM:
        return None
    if declared.get("group_size") not in MARLIN_GROUPS:
        return None
    bits = declared.get("bits")
    if method == "awq" and requested in (None, "marlin", "awq_marlin"):
        return "awq_marlin" if bits == 4 and declared.get("zero_point") else None
    if method != "gptq" or requested not in (None, "marlin", "gptq_marlin"):
        return None
    marlin = declared.get("checkpoint_format") == "marlin" or declared.get("is_marlin_format")
    fits = bits in (4, 8) and declared.get("sym") is True and declared.get("desc_act") is not None
    return "gptq_marlin" if fits and not marlin else None


def _wna16(declared: Mapping[str, Any], method: str, platform: Mapping[str, Any]) -> bool:
    bits = declared.get("bits")
    if method == "gptq":
        return not declared.get("desc_act") and bits in (4, 8)
    return method == "awq" and bits == 4 and platform.get("gpu.device_sm", 0) >= AWQ_SM


def _mlx(declared: Mapping[str, Any], requested: str | None) -> str | None:
    if requested is not None or "quant_method" in declared:
        return None
    bits, group = declared.get("bits"), declared.get("group_size")
    if not isinstance(bits, int) or not isinstance(group, int):
        return None
    return {4: "mlx_q4", 8: "mlx_q8"}.get(bits)
