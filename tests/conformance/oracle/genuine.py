"""Which failures of the later stages a real launch would meet too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .placeholders import Placeholder
from .places import Place, frames, innermost, is_raised

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

__all__ = ["is_genuine"]

# A raise below these folders is about the launch; elsewhere (process groups, kernels) it is ours.
ABOUT_THE_LAUNCH = [
    "mem_cache/",
    "layers/attention/",
    "configs/",
    "model_executor/",
    "arg_groups/",
    "server_args.py",
    "speculative/",
    "runtime_context.py",
    "layers/quantization/",
    "disaggregation/",
    "managers/",
    "layers/moe/",
    "layers/cp/",
    "lora/",
    "../kernels/ops/attention/",
    "hardware_backend/",
]

# These only say that the stand-ins for process groups or for the draft are incomplete.
OURS = {("runtime_context.py", "_read"), ("runtime_context.py", "__getattr__")}

# Packages of other vendors' hardware: a real machine of this kind has them no more than we do.
FOREIGN = {
    "cuda": ["torch_npu", "aiter", "sgl_kernel_npu", "wave_lang", "acl"],
    "hip": [
        "torch_npu",
        "flashinfer",
        "deep_gemm",
        "flash_attn",
        "sgl_kernel_npu",
        "tokenspeed_mla",
        "acl",
        "flash_mla",
        "cutlass",
        "wave_lang",
    ],
    "cpu": ["torch_npu", "aiter", "flashinfer", "deep_gemm", "flash_attn"],
    "xpu": ["torch_npu", "aiter", "flashinfer", "deep_gemm", "flash_attn"],
    "npu": ["aiter", "flashinfer", "deep_gemm", "flash_attn"],
}


def is_genuine(error: BaseException, root: Path, kind: str) -> bool:
    """Whether the scheduler process of a real machine of this kind would die here too.

    Args:
        error: What a step of the later stages raised.
        root: The release's ``sglang`` directory.
        kind: The kind of the GPU profile.
    """
    if "placeholder" in str(error):
        return False
    file, line, _ = innermost(error.__traceback__)
    inside = frames(error.__traceback__, root) if file.is_relative_to(root) else []
    place, frame = inside[-1] if inside else (None, None)
    if place is not None and _is_ours(place):
        return False
    raised = place is not None and is_raised(file, line)
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] in FOREIGN[kind] or raised
    return _is_crash(error, place, kind) or (
        raised
        and place is not None
        and frame is not None
        and place.file.startswith(tuple(ABOUT_THE_LAUNCH))
        and not _holds_placeholder(frame)
    )


def _is_ours(place: Place) -> bool:
    name = place.symbol.rpartition(".")[2]
    return (place.file, name) in OURS or name.startswith("_fused_draft_for")


def _is_crash(error: BaseException, place: Place | None, kind: str) -> bool:
    """An unguarded exception that does not depend on our stand-ins."""
    text = str(error)
    if "'sgl_kernel' object has no attribute" in text and kind != "cpu":
        return True
    if place is None:
        return False
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return True  # a name that the release only imports on another platform
    if isinstance(error, ZeroDivisionError):
        return place.file.startswith("configs/")
    return isinstance(error, AttributeError) and "'ModelConfig' object" in text


def _holds_placeholder(frame: FrameType) -> bool:
    return any(isinstance(value, Placeholder) for value in frame.f_locals.values())
