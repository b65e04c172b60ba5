"""The complete facts of a context: release, machine, model, environment.

This is the door through which everything else gets facts::

    facts = context_facts("0.5.23", gpu_profile("h100"), find_model("meta-llama/Llama-3.1-8B"))

Facts of an unknown machine or model are absent; the evaluator then says that they are unknown.
"""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.inputs.environment import environment_facts
from kvsolve.inputs.gpu import GpuProfile, gpu_facts
from kvsolve.inputs.model_facts import context_length, model_facts
from kvsolve.inputs.models import find_model
from kvsolve.inputs.packages import package_spec
from kvsolve.inputs.quantization import quantization_override
from kvsolve.model.fact import ConfigObject, Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.inputs.model_config import ModelFiles

__all__ = ["context_facts", "model_part_facts", "platform_part_facts"]

URL = re.compile(r"(.+)://(.*)")
OBJECT_STORAGE = ("s3://", "gs://", "az://")
GGUF = b"GGUF"


def context_facts(
    release: str,
    gpu: GpuProfile | None,
    model: ModelFiles | None,
    *,
    gpus: int = 8,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    packages: Mapping[str, bool] | None = None,
) -> Facts:
    """Every fact of a context.

    Args:
        release: Release of SGLang that has a pack.
        gpu: The machine, None where unknown.
        model: The model's files, None where unknown.
        gpus: Devices a node.
        env: Environment variables that are set; the image's own come under them.
        overrides: ``--json-model-override-args``.
        packages: Import names that are there, or not, unlike in the official image.
    """
    facts = platform_part_facts(release, gpu, gpus=gpus, env=env, packages=packages)
    if model is not None:
        facts |= model_part_facts(release, model, overrides, facts)
    return facts


def platform_part_facts(
    release: str,
    gpu: GpuProfile | None,
    *,
    gpus: int = 8,
    env: Mapping[str, str] | None = None,
    packages: Mapping[str, bool] | None = None,
) -> Facts:
    """The facts that no model changes."""
    merged = {**(gpu.env if gpu else {}), **(env or {})}
    facts: Facts = environment_facts(release, merged, is_hip=bool(gpu and gpu.kind == "hip"))
    if gpu is not None:
        facts |= gpu_facts(release, gpu, gpus, facts["environ"], packages)
    facts |= _helpers(release, gpu, facts)
    return facts


def model_part_facts(
    release: str,
    model: ModelFiles,
    overrides: Mapping[str, Any] | None = None,
    platform: Facts | None = None,
) -> Facts:
    """The facts that follow from the model; ``platform`` gives the environment."""
    return model_facts(release, model, overrides, platform)


def _helpers(release: str, gpu: GpuProfile | None, facts: Facts) -> Facts:
    """Facts that depend on arguments."""
    helpers: dict[str, Callable[..., Any]] = {
        "context_length": context_length,
        "config_of": lambda path, *_: _config_of(release, path),
        "gguf_reference": lambda *_: None,
        "has_fp8_weights": has_fp8_weights,
        "has_hf_quant_config": _has_side_file("hf_quant_config.json"),
        "ib_devices": ib_devices,
        "is_gguf_file": is_gguf_file,
        "is_object_storage_uri": lambda path: str(path).startswith(OBJECT_STORAGE),
        "is_remote_url": lambda path: URL.match(path) is not None,
        "own_text_config": own_text_config,
        "package_spec": lambda name, *_: package_spec(facts, name),
        "path_exists": os.path.exists,
        "quantization_override": lambda declared, requested: quantization_override(
            declared, requested, facts
        ),
        "path_isdir": os.path.isdir,
        "path_isfile": os.path.isfile,
        "text_config": lambda config: _text_config(release, config),
        "url_scheme": url_scheme,
    }
    if gpu is not None and gpu.kind != "plugin":
        helpers["device_memory_mib"] = _device_memory(gpu)
    return {f"helper:{name}": function for name, function in helpers.items()}


def url_scheme(url: str) -> str:
    """What stands before ``://``, empty where nothing does."""
    found = URL.match(url)
    return found.group(1) if found else ""


def is_gguf_file(path: object) -> bool:
    """Whether a path is a local file in GGUF format."""
    file = Path(str(path))
    if not file.is_file():
        return False
    if file.suffix == ".gguf":
        return True
    with file.open("rb") as handle:
        return handle.read(4) == GGUF


def own_text_config(config: Any) -> Any:
    """The language part that the model library itself would select."""
    for name in ("text_encoder", "decoder", "generator", "text_config"):
        part = config.get(name)
        if isinstance(part, ConfigObject):
            return part
    return config


def _text_config(release: str, config: Any) -> Any:
    """The language part that the release selects."""
    del release
    names = config.get("architectures") or [""]
    if names[0].startswith("Llava") and names[0].endswith("ForCausalLM"):
        return config
    thinker = config.get("thinker_config")
    if isinstance(thinker, ConfigObject):
        inner = thinker.get("text_config")
        return inner if isinstance(inner, ConfigObject) else thinker
    for name in ("llm_config", "language_config", "text_config"):
        if isinstance(config.get(name), ConfigObject):
            return config.get(name)
    return config


def _config_of(release: str, path: object) -> Any:
    """The configuration of another model, such as a draft model.

    Raises:
        LookupError: Nothing is known of it.
    """
    found = find_model(str(path))
    if found is None:
        raise LookupError(str(path))
    return model_facts(release, found)["config"]


def _device_memory(gpu: GpuProfile) -> Callable[..., Any]:
    def memory(device: str | None = None, *_: object) -> float | int | None:
        whole: float | int = gpu.memory_mib if gpu.shared else float(gpu.memory_mib)
        if gpu.kind in ("cuda", "hip"):
            return whole
        return gpu.memory_mib if device == gpu.kind else None

    return memory


def _has_side_file(name: str) -> Callable[[object], bool]:
    return lambda path: (Path(str(path)) / name).is_file()


def has_fp8_weights(path: object) -> bool:
    """Whether the first expert weight of a checkpoint is stored as FP8 (E4M3).

    A local checkpoint is read (its index and one header); of any other, the table of well-known
    models knows.
    """
    folder = Path(str(path))
    if not folder.is_dir():
        found = find_model(str(path))
        return bool(found and found.fp8_experts)
    try:
        return _fp8_in(folder)
    except (OSError, ValueError, KeyError, AttributeError, struct.error):
        return False


def _fp8_in(folder: Path) -> bool:
    import json

    index = folder / "model.safetensors.index.json"
    if index.is_file():
        placed = json.loads(index.read_text(encoding="utf-8")).get("weight_map", {})
        experts = sorted({v for k, v in placed.items() if "experts" in k and "weight" in k})
        shards = experts or sorted(set(placed.values()))
        if not shards:
            return False
        shard = folder / shards[0]
    else:
        shard = folder / "model.safetensors"
    with shard.open("rb") as handle:
        (length,) = struct.unpack("<Q", handle.read(8))
        header = json.loads(handle.read(length))
    for key, meta in header.items():
        if key != "__metadata__" and "experts" in key and "weight" in key:
            return bool(meta.get("dtype") == "F8_E4M3")
    return False


def ib_devices(text: str | None) -> Any:
    """Device names, or device number -> names, of an InfiniBand setting.

    Raises:
        ValueError: A mapping is malformed.
        RuntimeError: A file cannot be used.
    """
    import json

    if text is None or not text.strip():
        return None
    text = text.strip()
    if not text.endswith(".json") and not text.startswith("{"):
        return text
    if text.endswith(".json"):
        try:
            mapping = json.loads(Path(text).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RuntimeError(text) from error
    else:
        mapping = json.loads(text)
    if not isinstance(mapping, dict) or not mapping:
        raise ValueError(text)
    out = {}
    for key, value in mapping.items():
        if not str(key).isdigit() or not isinstance(value, str):
            raise ValueError(text)
        out[int(key)] = value.strip()
    return out
