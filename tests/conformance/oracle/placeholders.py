"""Stand-ins for packages that need a GPU, so that a release can be imported without one.

A placeholder answers every attribute and call with another placeholder. While a check runs, each
call and each truth test is recorded, since a verdict that rests on one has to be taken with care.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import re
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .gpu_profiles import GpuProfile

__all__ = [
    "TOUCHES",
    "Placeholder",
    "PlaceholderFinder",
    "fake_distributions",
    "packages_of",
    "pinned_versions",
]

EVERYWHERE = """
torchvision torchaudio torchcodec triton triton_kernels sgl_kernel xgrammar outlines outlines_core
llguidance timm modelscope decord decord2 soundfile av kernels cuda nvidia cutlass
torch_memory_saver openai_harmony mistral_common gguf datasets blobfile compressed_tensors py_spy
smg_grpc_servicer smg_grpc_proto grpc_health grpc uvloop watchfiles zstandard numba easydict distro
build ninja anthropic pynvml tvm_ffi tvm
"""
BY_KIND = {
    "cuda": """
flashinfer flashinfer_cubin flashinfer_jit_cache deep_gemm deep_ep flash_attn flash_attn_interface
tilelang flash_mla quack humming cutlass tokenspeed_mla tvm_ffi apache_tvm_ffi cuda_tile cutile tvm
mathdx fast_hadamard_transform mooncake nixl
""",
    "hip": "aiter tilelang mori mooncake tvm_ffi tvm",
    "npu": """
torch_npu sgl_kernel_npu deep_ep custom_ops memfabric_hybrid torchair te mindspore acl
""",
    "xpu": "sgl_kernel",
    "cpu": "",
}
VERSIONS = {"triton": "3.6.0", "torchvision": "0.26.0", "torchaudio": "2.11.0"}
UNPINNED = "99.0.0"


class TouchLog:
    """What was asked of placeholders while a check ran."""

    def __init__(self) -> None:
        self.recording = False
        self._seen: set[str] = set()

    def start(self) -> None:
        self._seen.clear()
        self.recording = True

    def stop(self) -> list[str]:
        self.recording = False
        return sorted(self._seen)

    def note(self, text: str) -> None:
        if self.recording:
            self._seen.add(text)


TOUCHES = TouchLog()


class Placeholder:
    """Anything found inside a package that is not really there."""

    _name: str

    def __init__(self, *_: object, name: str = "placeholder", **__: object) -> None:
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = Placeholder(name=f"{self._name}.{name}")
        object.__setattr__(self, name, value)
        return value

    def __call__(self, *_: object, **__: object) -> Placeholder:
        TOUCHES.note(f"call {self._name}")
        return Placeholder(name=f"{self._name}()")

    def __bool__(self) -> bool:
        TOUCHES.note(f"bool {self._name}")
        return True

    def __eq__(self, other: object) -> bool:
        TOUCHES.note(f"eq {self._name}")
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, _: object) -> bool:
        return False

    def __getitem__(self, _: object) -> Placeholder:
        return Placeholder(name=f"{self._name}[]")

    def __setitem__(self, key: object, value: object) -> None: ...

    def __enter__(self) -> Placeholder:
        return self

    def __exit__(self, *_: object) -> bool:
        return False

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        return ()

    def __instancecheck__(self, _: object) -> bool:
        return False

    def __subclasscheck__(self, _: object) -> bool:
        return False

    def _same(self, *_: object) -> Placeholder:
        return self

    __or__ = __ror__ = __and__ = __rand__ = __neg__ = _same
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __floordiv__ = __rfloordiv__ = _same

    def _unordered(self, other: object) -> bool:
        raise TypeError(f"placeholder {self._name} compared with {type(other).__name__}")

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    def __repr__(self) -> str:
        return f"<placeholder {self._name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Placeholder, ())

    def __get_pydantic_core_schema__(self, *_: object) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()


class PlaceholderModule(types.ModuleType):
    """A module in which every name exists."""

    __path__: list[str] = []  # noqa: RUF012 - read by the import system, never written

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return VERSIONS.get(self.__name__.partition(".")[0], UNPINNED)
        if name.startswith("__"):
            raise AttributeError(name)
        value = Placeholder(name=f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class PlaceholderFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the packages that a profile has only as placeholders."""

    def __init__(
        self, packages: set[str], fill: dict[str, Callable[[types.ModuleType], None]]
    ) -> None:
        self.packages = packages
        self.fill = fill

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True, origin="placeholder")

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return PlaceholderModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ in self.fill:
            self.fill[module.__name__](module)


def packages_of(profile: GpuProfile) -> set[str]:
    """The packages that the official image of this kind of machine brings along."""
    return {*EVERYWHERE.split(), *BY_KIND[profile.kind].split()}


def pinned_versions(site: Path) -> dict[str, str]:
    """The versions that a release's metadata asks for, by normalised package name."""
    pins: dict[str, str] = {}
    for metadata in site.glob("sglang-*.dist-info/METADATA"):
        for line in metadata.read_text(encoding="utf-8").splitlines():
            found = re.match(r"Requires-Dist: ([\w.\-]+)(?:\[[^\]]*\])?\s*([^;]*)", line)
            if found and "extra ==" not in line:
                version = re.search(r"(?:==|>=)\s*([0-9][^,\s]*)", found.group(2))
                pins[_normal(found.group(1))] = version.group(1) if version else UNPINNED
    return pins


def fake_metadata(pins: dict[str, str]) -> None:
    """Let ``importlib.metadata.version`` answer the release's pins for absent packages."""
    real = importlib.metadata.version

    def version(name: str) -> str:
        try:
            return real(name)
        except importlib.metadata.PackageNotFoundError:
            if _normal(name) in pins:
                return pins[_normal(name)]
            raise

    importlib.metadata.version = version


class _NoDistributions(list[str]):
    """The distributions of a package that is a placeholder: none, and asking for one is a miss."""

    def __getitem__(self, place: Any) -> Any:
        raise KeyError(place)


class _Distributions(dict[str, list[str]]):
    """Import names with their distributions.

    Transformers 5.6 to 5.8 index this with packages that they found, as placeholders can be.
    """

    def __missing__(self, package: str) -> list[str]:
        return _NoDistributions()


def fake_distributions() -> None:
    """Let a look-up of a placeholder's distributions find none."""
    real = importlib.metadata.packages_distributions
    importlib.metadata.packages_distributions = lambda: _Distributions(real())


def install(packages: set[str], fill: dict[str, Callable[[types.ModuleType], None]]) -> None:
    """Put the placeholders in front of the import path."""
    sys.meta_path.insert(0, PlaceholderFinder(packages, fill))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
