"""Make this process believe that it runs on one of the GPU profiles.

``install`` must run before sglang or transformers is imported. It answers for ``torch.cuda``,
``torch.xpu``, ``torch.npu``, ``torch.version`` and the vendors' command-line tools.
"""

from __future__ import annotations

import os
import subprocess
import sys
import types
from typing import TYPE_CHECKING, Any

from . import placeholders
from .gpu_profiles import GPU_PROFILES, GpuProfile
from .placeholders import Placeholder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["DEVICES", "FakeStream", "fake_sockets", "install"]

DEVICES = 8
HOST_MEMORY = 256 << 30
CUDA, ROCM, CUDNN, DRIVER = "13.0", "7.0.51831", 91501, "580.95.05"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}


def install(platform: str, site: Path) -> GpuProfile:
    """Fake the hardware of one profile for a release installed in ``site``."""
    profile = GPU_PROFILES[platform]
    _environment(profile)
    pins = placeholders.pinned_versions(site)
    placeholders.fake_metadata(pins)
    placeholders.fake_distributions()
    _vendor_tools(profile)
    _host()
    _torch(profile, pins.get("torch", ""))
    placeholders.install(placeholders.packages_of(profile), _fill(profile))
    return profile


def _environment(profile: GpuProfile) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "SGLANG_USE_CPU_ENGINE"):
        os.environ.pop(name, None)
    os.environ.update(OFFLINE)
    os.environ.update(profile.environment)
    if profile.kind == "cpu":
        os.environ["SGLANG_USE_CPU_ENGINE"] = "1"


def _host() -> None:
    """Give every profile the same host memory, half of it free."""
    import psutil

    real = psutil.virtual_memory
    psutil.virtual_memory = lambda: real()._replace(
        total=HOST_MEMORY, available=HOST_MEMORY // 2, used=HOST_MEMORY // 2, free=HOST_MEMORY // 2
    )


def fake_sockets(common: Any) -> None:
    """No known sockets and no limit of a container, so that all host memory counts.

    Args:
        common: The release's module ``sglang.srt.utils.common``.
    """
    for name, answer in (("get_instance_memory_status", None), ("get_cpu_ids_by_node", [])):
        if hasattr(common, name):
            setattr(common, name, lambda *_, answer=answer: answer)


def _torch(profile: GpuProfile, pinned: str) -> None:
    import torch
    import torch.utils._triton as triton_probe

    triton_probe.has_triton_package = triton_probe.has_triton = lambda *_, **__: False
    _lenient_operators(torch.library)
    torch.compile = lambda model=None, **_: model if model is not None else lambda f: f
    if pinned:
        suffix = {"cuda": "+cu130", "hip": "+rocm7.0", "cpu": "+cpu"}.get(profile.kind, "")
        torch.__version__ = type(torch.__version__)(pinned + suffix)
    fakes = {"cuda": _fake_cuda, "hip": _fake_cuda, "xpu": _fake_xpu, "npu": _fake_npu}
    if profile.kind in fakes:
        fakes[profile.kind](profile)


def _lenient_operators(library: Any) -> None:
    """Releases up to 0.5.6.post1 describe operators of a kernel package that is a placeholder."""
    real = library.register_fake

    def register_fake(op: Any, *arguments: Any, **named: Any) -> Any:
        register = real(op, *arguments, **named)

        def attempt(function: Any) -> Any:
            try:
                return register(function)
            except RuntimeError as error:
                if "does not exist" not in str(error):
                    raise
                return function

        return register if arguments or "func" in named else attempt

    library.register_fake = register_fake


class FakeStream:
    """A CUDA stream without a device."""

    cuda_stream = 0
    device = "cuda:0"

    def __init__(self, *_: object, **__: object) -> None: ...
    def synchronize(self) -> None: ...
    def wait_stream(self, stream: object) -> None: ...
    def wait_event(self, event: object) -> None: ...
    def query(self) -> bool:
        return True

    def record_event(self, *_: object) -> FakeEvent:
        return FakeEvent()

    def __enter__(self) -> FakeStream:
        return self

    def __exit__(self, *_: object) -> bool:
        return False


class FakeEvent:
    """A CUDA event that has always happened."""

    def __init__(self, *_: object, **__: object) -> None: ...
    def record(self, *_: object) -> None: ...
    def wait(self, *_: object) -> None: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool:
        return True

    def elapsed_time(self, _: object) -> float:
        return 0.0


def _properties(profile: GpuProfile) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        name=profile.device,
        major=profile.capability[0],
        minor=profile.capability[1],
        total_memory=profile.memory << 20,
        multi_processor_count=profile.processors,
        gcnArchName=profile.architecture,
        is_integrated=int(not profile.smi_reports_memory),
        warp_size=64 if profile.kind == "hip" else 32,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448,
        shared_memory_per_multiprocessor=233472,
        L2_cache_size=50 << 20,
        uuid="GPU-00000000-0000-0000-0000-000000000000",
    )


def _device_functions(profile: GpuProfile, properties: object) -> dict[str, Callable[..., Any]]:
    """What every accelerator module of torch offers."""
    total = profile.memory << 20
    return {
        "is_available": lambda: True,
        "device_count": lambda: DEVICES,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "get_device_name": lambda device=None: profile.device,
        "get_device_properties": lambda device=None: properties,
        "mem_get_info": lambda device=None: (int(total * 0.99), total),
        "memory_allocated": lambda device=None: 0,
    }


def _answering(make: Callable[[], Any]) -> Callable[..., Any]:
    """A function of its own each time, since torch keeps rules by function object."""
    return lambda *_, **__: make()


def _fake_cuda(profile: GpuProfile) -> None:
    import torch

    replaced: dict[str, Any] = _device_functions(profile, _properties(profile))
    for name in ("init", "_lazy_init", "set_stream", "manual_seed", "manual_seed_all"):
        replaced[name] = _answering(lambda: None)
    for name in ("memory_reserved", "max_memory_allocated"):
        replaced[name] = _answering(lambda: 0)
    for name in ("current_stream", "default_stream"):
        replaced[name] = _answering(FakeStream)
    replaced |= {
        "is_initialized": lambda: True,
        "get_device_capability": lambda device=None: profile.capability,
        "get_arch_list": lambda: ["sm_80", "sm_90", "sm_100", "sm_120"],
        "is_bf16_supported": lambda *_, **__: True,
        "_get_nvml_device_index": lambda device=0: 0,
        "Stream": FakeStream,
        "Event": FakeEvent,
    }
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    torch.backends.cudnn.version = lambda: CUDNN
    torch.version.cuda = CUDA if profile.kind == "cuda" else None
    torch.version.hip = None if profile.kind == "cuda" else ROCM


def _fake_xpu(profile: GpuProfile) -> None:
    import torch

    properties = types.SimpleNamespace(
        name=profile.device,
        total_memory=profile.memory << 20,
        major=1,
        minor=0,
        multi_processor_count=profile.processors,
        gpu_subslice_count=profile.processors,
        max_compute_units=profile.processors,
        gpu_eu_count=profile.processors,
        has_fp64=True,
        version="1.6",
        driver_version="1.6",
        gcnArchName="",
        has_subgroup_matrix_multiply_accumulate=True,
    )
    for name, value in _device_functions(profile, properties).items():
        setattr(torch.xpu, name, value)
    capability = {"architecture": 13136561920, "version": "12.60.7"}
    torch.xpu.get_device_capability = lambda device=None: capability


def _fake_npu(profile: GpuProfile) -> None:
    import torch

    npu: Any = types.ModuleType("torch.npu")
    properties = types.SimpleNamespace(name=profile.device, total_memory=profile.memory << 20)
    for name, value in _device_functions(profile, properties).items():
        setattr(npu, name, value)
    npu.config = Placeholder(name="torch.npu.config")
    npu.npu = npu
    npu.Stream, npu.Event = FakeStream, FakeEvent
    torch.utils.rename_privateuse1_backend("npu")
    real = torch.get_device_module
    torch.get_device_module = lambda device=None: (
        npu if device is None or str(device).startswith("npu") else real(device)
    )
    torch.npu = npu
    sys.modules["torch.npu"] = npu


def _vendor_tools(profile: GpuProfile) -> None:
    """Answer nvidia-smi and rocminfo; the tools of other vendors are not installed."""
    run, check_output = subprocess.run, subprocess.check_output

    def faked_run(command: Any, *rest: Any, **options: Any) -> Any:
        answer = _tool_answer(profile, _spelled(command))
        if answer is None:
            return run(command, *rest, **options)
        text = _is_text(options)
        stdout, stderr = (answer, "") if text else (answer.encode(), b"")
        return subprocess.CompletedProcess(command, 0, stdout, stderr)

    def faked_check_output(command: Any, *rest: Any, **options: Any) -> Any:
        answer = _tool_answer(profile, _spelled(command))
        if answer is None:
            return check_output(command, *rest, **options)
        return answer if _is_text(options) else answer.encode()

    subprocess.run, subprocess.check_output = faked_run, faked_check_output


def _spelled(command: Any) -> str:
    return command if isinstance(command, str) else " ".join(map(str, command))


def _is_text(options: dict[str, Any]) -> bool:
    return bool(options.get("text") or options.get("universal_newlines") or options.get("encoding"))


def _tool_answer(profile: GpuProfile, command: str) -> str | None:
    """What the tool prints, None if the command is none of the vendors' tools."""
    if "nvidia-smi" in command:
        return _only_on("cuda", profile, "nvidia-smi", _nvidia_smi(profile, command))
    if any(tool in command for tool in ("rocminfo", "rocm-smi", "amd-smi")):
        return _only_on("hip", profile, "rocm-smi", f"{profile.memory * 1024}(0x0)\n" * DEVICES)
    if any(tool in command for tool in ("hl-smi", "npu-smi", "xpu-smi", "mthreads-gmi")):
        raise FileNotFoundError(command.split()[0])
    return None


def _only_on(kind: str, profile: GpuProfile, tool: str, answer: str) -> str:
    if profile.kind != kind:
        raise FileNotFoundError(tool)
    return answer


def _nvidia_smi(profile: GpuProfile, command: str) -> str:
    if "memory.total" in command:
        row = str(profile.memory) if profile.smi_reports_memory else "[N/A]"
    elif "compute_cap" in command:
        row = "{}.{}".format(*profile.capability)
    elif "driver_version" in command:
        row = DRIVER
    elif "topo" in command:
        return ""
    else:
        row = profile.device
    return f"{row}\n" * DEVICES


def _fill(profile: GpuProfile) -> dict[str, Callable[[Any], None]]:
    """The few names of placeholder packages whose values matter."""
    return {
        "triton": _fill_triton,
        "triton.runtime": lambda module: _fill_triton_runtime(module, profile),
        "flashinfer": lambda module: setattr(module, "utils", _imported("flashinfer.utils")),
        "flashinfer.utils": lambda module: _fill_flashinfer(module, profile),
        "aiter": lambda module: _fill_aiter(module, profile),
        "aiter.ops.triton.utils.types": lambda module: _fill_aiter_types(module, profile),
    }


def _imported(name: str) -> types.ModuleType:
    import importlib

    return importlib.import_module(name)


def _fill_triton(module: Any) -> None:
    module.runtime = _imported("triton.runtime")
    module.cdiv = lambda a, b: -(-a // b)
    module.next_power_of_2 = lambda n: 1 << (int(n) - 1).bit_length()


def _fill_triton_runtime(module: Any, profile: GpuProfile) -> None:
    target = types.SimpleNamespace(backend=profile.kind, arch=90, warp_size=32)
    active = types.SimpleNamespace(
        get_current_target=lambda: target,
        get_current_device=lambda: 0,
        utils=Placeholder(name="triton.driver.utils"),
    )
    module.driver = types.SimpleNamespace(active=active)


def _fill_flashinfer(module: Any, profile: GpuProfile) -> None:
    module.get_device_sm_count = lambda device=None: profile.processors
    module.get_trtllm_gen_multi_ctas_kv_counter_bytes = lambda _, heads, sms: 4 * max(sms, 1)
    module.is_sm90a_supported = lambda *_: profile.capability == (9, 0)
    module.is_sm100a_supported = lambda *_: profile.capability[0] == 10
    module.get_compute_capability = lambda *_: profile.capability


def _fill_aiter(module: Any, profile: GpuProfile) -> None:
    import torch

    module.dtypes = types.SimpleNamespace(
        fp8=_fp8(profile)[0],
        fp32=torch.float32,
        bf16=torch.bfloat16,
        fp16=torch.float16,
        i32=torch.int32,
        i8=torch.int8,
        u8=torch.uint8,
        fp4x2=getattr(torch, "float4_e2m1fn_x2", None),
        fp8_e8m0=getattr(torch, "float8_e8m0fnu", None),
    )


def _fill_aiter_types(module: Any, profile: GpuProfile) -> None:
    module.e4m3_dtype, module.e5m2_dtype = _fp8(profile)


def _fp8(profile: GpuProfile) -> tuple[Any, Any]:
    """Only the gfx94x generation uses the variants without negative zero."""
    import torch

    if profile.architecture.startswith("gfx94"):
        return torch.float8_e4m3fnuz, torch.float8_e5m2fnuz
    return torch.float8_e4m3fn, torch.float8_e5m2
