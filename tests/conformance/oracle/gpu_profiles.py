"""The machines that the oracle can pretend to be, from public facts.

Sources: compute capabilities from NVIDIA's published table of CUDA GPUs; memory as ``nvidia-smi``
or ``rocminfo`` reports it in publicly posted outputs (MiB, below the marketing size); processor
counts from the architecture white papers and data sheets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GPU_PROFILES", "GpuProfile"]


@dataclass(frozen=True, slots=True)
class GpuProfile:
    """One kind of machine; eight such devices are visible.

    Attributes:
        kind: ``cuda``, ``hip``, ``cpu``, ``xpu`` or ``npu``.
        capability: Major and minor compute capability.
        memory: MiB of one device.
        processors: Streaming multiprocessors or compute units.
        architecture: The name ROCm gives the instruction set.
        smi_reports_memory: False where the memory is the CPU's, so that ``nvidia-smi`` prints no
            number.
        environment: Variables that the vendor's official image sets.
    """

    kind: str
    device: str = ""
    capability: tuple[int, int] = (0, 0)
    memory: int = 0
    processors: int = 0
    architecture: str = ""
    smi_reports_memory: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


def _cuda(device: str, capability: tuple[int, int], memory: int, processors: int) -> GpuProfile:
    return GpuProfile("cuda", device, capability, memory, processors)


def _shared(device: str, capability: tuple[int, int], memory: int, processors: int) -> GpuProfile:
    """A CUDA chip without memory of its own."""
    return GpuProfile("cuda", device, capability, memory, processors, smi_reports_memory=False)


def _hip(device: str, memory: int, processors: int, gfx: str, aiter: bool = False) -> GpuProfile:
    capability = (int(gfx[3]), int(gfx[4]))
    environment = {"SGLANG_USE_AITER": "1"} if aiter else {}
    architecture = f"{gfx}:sramecc+:xnack-"
    return GpuProfile(
        "hip", device, capability, memory, processors, architecture, environment=environment
    )


GPU_PROFILES: Mapping[str, GpuProfile] = {
    "t4": _cuda("Tesla T4", (7, 5), 15360, 40),
    "a100": _cuda("NVIDIA A100-SXM4-80GB", (8, 0), 81920, 108),
    "l4": _cuda("NVIDIA L4", (8, 9), 23034, 58),
    "l40s": _cuda("NVIDIA L40S", (8, 9), 46068, 142),
    "rtx4090": _cuda("NVIDIA GeForce RTX 4090", (8, 9), 24564, 128),
    "h20": _cuda("NVIDIA H20", (9, 0), 97871, 78),
    "h100": _cuda("NVIDIA H100 80GB HBM3", (9, 0), 81559, 132),
    "h200": _cuda("NVIDIA H200", (9, 0), 143771, 132),
    "b200": _cuda("NVIDIA B200", (10, 0), 183359, 148),
    "gb200": _cuda("NVIDIA GB200", (10, 0), 189471, 152),
    "b300": _cuda("NVIDIA B300 SXM6 AC", (10, 3), 275040, 148),
    "gb300": _cuda("NVIDIA GB300", (10, 3), 284208, 152),
    # 11.0 since CUDA 13; CUDA 12 called the same chip 10.1.
    "thor": _shared("NVIDIA Thor", (11, 0), 125772, 20),
    "rtx5090": _cuda("NVIDIA GeForce RTX 5090", (12, 0), 32607, 170),
    "rtxpro6000": _cuda("NVIDIA RTX PRO 6000 Blackwell Server Edition", (12, 0), 97887, 188),
    "gb10": _shared("NVIDIA GB10", (12, 1), 122570, 48),
    "mi300x": _hip("AMD Instinct MI300X", 196592, 304, "gfx942"),
    # The ROCm images of SGLang set the variable; the plain profiles leave it unset.
    "mi300x-aiter": _hip("AMD Instinct MI300X", 196592, 304, "gfx942", aiter=True),
    "mi325x": _hip("AMD Instinct MI325X", 262128, 304, "gfx942"),
    "mi355x": _hip("AMD Instinct MI355X", 294896, 256, "gfx950"),
    "cpu": GpuProfile("cpu", memory=262144),
    "xpu": GpuProfile("xpu", "Intel(R) Data Center GPU Max 1550", memory=65536, processors=448),
    "npu": GpuProfile("npu", "Ascend910B", memory=65536),
    "npu-32g": GpuProfile("npu", "Ascend910A", memory=32768),
}
