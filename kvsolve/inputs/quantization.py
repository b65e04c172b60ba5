"""The quantisation that a checkpoint declares, as the release understands the declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.inputs.config_object import DraftObject
    from kvsolve.inputs.model_config import ModelFiles

__all__ = ["apply_modelopt", "declared_quantization", "parse_modelopt"]

NVFP4_LAYERS = ("NVFP4", "W4A16_NVFP4")


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


def declared_quantization(config: DraftObject, files: ModelFiles) -> str | None:
    """The method's name in lower case, None for an unquantised checkpoint."""
    if files.modelslim:
        return "modelslim"
    own = config.get("quantization_config")
    if own is None:
        own = config.get("compression_config")
    if own is None and files.quantization is not None:
        own = parse_modelopt(files.quantization)
    if not isinstance(own, dict):
        return None
    return str(own.get("quant_method", "")).lower()
