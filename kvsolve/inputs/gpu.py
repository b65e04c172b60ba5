"""GPU profiles and what a release makes of the machine they describe.

A profile is primary data (``profiles/gpus.toml``): vendor, capability, memory. The facts ``gpu.*``,
``host.*`` and ``packages.*`` that a release reads are derived here, by the rules that its platform
code has; the few that differ between releases say so.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.inputs.fact_functions import VersionNumber
from kvsolve.inputs.packages import package_facts
from kvsolve.model.noun import dataclass
from kvsolve.packs.files import constraints_directory, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kvsolve.model.fact import Facts

__all__ = ["GpuProfile", "UnknownGpuError", "gpu_facts", "gpu_profile", "gpu_profiles"]

KINDS = ("cuda", "hip", "cpu", "xpu", "npu", "plugin")
IMAGES = {"cuda": "cuda", "hip": "rocm"}
MIB = 1 << 20
PLUGIN_ANSWERS = (
    "supports_draft_backend",
    "supports_mamba_extra_buffer",
    "supports_piecewise_cuda_graph",
    "supports_speculative",
)
"""What an out-of-tree platform is asked; the platforms of the release itself say no."""
TRUE = frozenset({"true", "1", "yes", "y"})
AITER_VARIABLES = (
    "SGLANG_USE_AITER",
    "AITER_ENABLE_AOT_GLUON_PA_MQA_LOGITS",
    "SGLANG_DSA_HIP_DISABLE_PRESHUFFLE",
)


class UnknownGpuError(KvsolveError):
    """No GPU profile of that name; the text lists those there are."""


CUDNN = 91501
"""cuDNN of the CUDA 13 images; up to 0.5.10 a multimodal model is refused before 9.15."""


@dataclass(frozen=True, slots=True)
class GpuProfile:
    """A machine with one kind of device.

    Attributes:
        name: Name of the profile.
        kind: ``cuda``, ``hip``, ``cpu``, ``xpu``, ``npu`` or ``plugin``.
        device: What the driver calls the device.
        capability: Compute capability, None where the kind has none.
        memory_mib: Memory of one device in MiB.
        shared: Whether the memory is the host's.
        sm_count: Multiprocessors or compute units.
        gcn_arch: ROCm's name of the instruction set.
        fabric: Whether NVLink reaches over nodes.
        arm: Whether the host CPU is an ARM.
        cuda: CUDA version that torch was built for, None off CUDA.
        hip: The same for ROCm.
        driver: Driver version.
        env: Variables that the official image sets.
    """

    name: str
    kind: str
    device: str = ""
    capability: tuple[int, int] | None = None
    memory_mib: int = 0
    shared: bool = False
    sm_count: int = 0
    gcn_arch: str = ""
    fabric: bool = False
    arm: bool = False
    cuda: str | None = None
    hip: str | None = None
    driver: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


def gpu_profiles() -> Mapping[str, GpuProfile]:
    """Every shipped GPU profile by name."""
    return _profiles(constraints_directory() / "sglang" / "profiles" / "gpus.toml")


def gpu_profile(name: str) -> GpuProfile:
    """The profile of that name, in any case.

    Raises:
        UnknownGpuError: There is none.
    """
    profiles = gpu_profiles()
    found = profiles.get(name.lower())
    if found is None:
        raise UnknownGpuError(f"unknown GPU profile {name!r}; known: {', '.join(profiles)}")
    return found


@lru_cache(maxsize=4)
def _profiles(path: Path) -> Mapping[str, GpuProfile]:
    data = read_toml(path)
    return {name: _profile(name, row, data["images"]) for name, row in data["gpu"].items()}


def _profile(name: str, row: Mapping[str, Any], images: Mapping[str, Any]) -> GpuProfile:
    kind = row["kind"]
    if kind not in KINDS:
        raise KvsolveError(f"GPU profile {name}: unknown kind {kind!r}")
    image = images[row.get("image", IMAGES.get(kind, kind))]
    capability = row.get("capability")
    return GpuProfile(
        name=name,
        kind=kind,
        device=row.get("name", ""),
        capability=tuple(capability) if capability else None,
        cuda=image.get("cuda"),
        hip=image.get("hip"),
        driver=image.get("driver"),
        env=image["env"],
        **{
            key: row[key]
            for key in ("memory_mib", "shared", "sm_count", "gcn_arch", "fabric", "arm")
            if key in row
        },
    )


def gpu_facts(
    release: str,
    profile: GpuProfile,
    gpus: int = 8,
    env: Mapping[str, str] | None = None,
    packages: Mapping[str, bool] | None = None,
) -> Facts:
    """``gpu.*``, ``host.*`` and ``packages.*``.

    Args:
        release: Release of SGLang.
        profile: The machine.
        gpus: Devices a node.
        env: Environment variables; some probes read them.
        packages: Import names that are there, or not, unlike in the official image.
    """
    env = env or {}
    facts: Facts = package_facts(release, profile.kind, packages or {})
    facts |= _kind_facts(profile)
    facts |= _capability_facts(profile)
    facts |= _device_facts(profile, gpus)
    flashinfer = env.get("SGLANG_IS_FLASHINFER_AVAILABLE", "true").lower() in ("true", "1")
    facts["gpu.has_flashinfer"] = bool(
        facts["gpu.is_cuda"] and facts.get("packages.flashinfer") and flashinfer
    )
    facts["gpu.jit_deep_gemm"] = _jit_deep_gemm(profile, facts, env)
    facts["gpu.aiter_preshuffle_mqa"] = _aiter_preshuffle(facts, env)
    facts["gpu.aiter_mla_gluon"] = None
    facts |= _host_facts(profile)
    return facts


def _kind_facts(profile: GpuProfile) -> Facts:
    facts: Facts = {
        f"gpu.is_{kind}": profile.kind == kind for kind in ("cuda", "hip", "npu", "xpu", "cpu")
    }
    facts |= {f"gpu.is_{kind}": False for kind in ("mps", "musa", "hpu", "sail")}
    facts["gpu.is_out_of_tree"] = profile.kind == "plugin"
    if profile.kind != "plugin":
        facts |= {f"gpu.plugin_{name}": False for name in PLUGIN_ANSWERS}
    return facts


def _capability_facts(profile: GpuProfile) -> Facts:
    torch_cuda = profile.kind in ("cuda", "hip")
    capability = profile.capability if torch_cuda else None
    major = capability[0] if capability and profile.kind == "cuda" else 0
    version = tuple(int(part) for part in (profile.cuda or "0.0").split(".")[:2])
    rules = {
        "is_sm90": ({9}, (12, 3)),
        "is_hopper_with_cuda_12_3": ({9}, (12, 3)),
        "is_sm100": ({10}, (12, 8)),
        "is_sm110": ({11}, (12, 8)),
        "is_sm100_or_sm110": ({10, 11}, (12, 8)),
        "is_sm120": ({12}, (12, 8)),
        "is_blackwell": ({10, 11, 12}, (12, 8)),
    }
    facts: Facts = {
        f"gpu.{name}": major in majors and version >= least
        for name, (majors, least) in rules.items()
    }
    facts["gpu.device_capability"] = capability or (None, None)
    facts["gpu.device_sm"] = capability[0] * 10 + capability[1] if capability else 0
    facts["gpu.torch_cuda_available"] = torch_cuda
    if capability:
        facts["gpu.torch_capability"] = capability
    return facts


def _device_facts(profile: GpuProfile, gpus: int) -> Facts:
    torch_device = "cuda" if profile.kind == "hip" else profile.kind
    facts: Facts = {
        "gpu.profile": profile.name,
        "gpu.vendor": profile.kind,
        "gpu.name": profile.device or None,
        "gpu.device": torch_device,
        "gpu.count": gpus,
        "gpu.index": 0,
        "gpu.memory_mib": profile.memory_mib,
        "gpu.total_memory": profile.memory_mib * MIB,
        "gpu.free_and_total_memory": (None, profile.memory_mib * MIB),
        "gpu.sm_count": profile.sm_count,
        "gpu.gcn_arch": profile.gcn_arch,
        "gpu.is_gfx95_supported": profile.kind == "hip" and "gfx95" in profile.gcn_arch,
        "gpu.is_gfx942_supported": profile.kind == "hip" and "gfx942" in profile.gcn_arch,
        "gpu.is_gfx1250_supported": profile.kind == "hip" and "gfx1250" in profile.gcn_arch,
        "gpu.is_mnnvl_fabric": profile.fabric,
        "gpu.xpu_has_xmx": profile.kind == "xpu",
        "gpu.has_amx": False,
        "gpu.torch_cuda_version": profile.cuda,
        "gpu.torch_hip_version": profile.hip,
        "gpu.cudnn_version": CUDNN if profile.cuda else None,
        "gpu.driver_version_text": profile.driver,
        "gpu.driver_version": _version(profile.driver),
    }
    if profile.kind == "plugin":
        for name in ("memory_mib", "total_memory", "free_and_total_memory", "device"):
            del facts[f"gpu.{name}"]
    return facts


def _version(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")) if text else (0,)


def _jit_deep_gemm(profile: GpuProfile, facts: Facts, env: Mapping[str, str]) -> bool:
    """Whether DeepGEMM's kernels are compiled on demand here."""
    wanted = env.get("SGLANG_ENABLE_JIT_DEEPGEMM", "true").lower() in ("true", "1", "yes", "y")
    return bool(
        profile.kind == "cuda"
        and wanted
        and facts["gpu.device_sm"] >= 90
        and facts.get("packages.deep_gemm")
    )


def _aiter_preshuffle(facts: Facts, env: Mapping[str, str]) -> bool:
    """Whether AITER's paged kernels take whole pages: by its own kernels or a new enough Triton."""
    on = {name: env.get(name, "").lower() in TRUE for name in AITER_VARIABLES}
    use, aot, off = (on[name] for name in AITER_VARIABLES)
    if not facts["gpu.is_hip"] or not use or off:
        return False
    return aot or VersionNumber(facts["packages.version.triton"]) >= VersionNumber("3.5.0")


def _host_facts(profile: GpuProfile) -> Facts:
    return {
        "host.cpu_arm64": profile.arm,
        "host.cpu_x86": not profile.arm,
        "host.machine": "aarch64" if profile.arm else "x86_64",
        "host.use_mlx": False,
        "host.hub_offline": False,
    }
