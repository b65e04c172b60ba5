"""The complete facts of a context: release, machine, model, environment.

This is the door through which everything else gets facts::

    model = resolve_model("meta-llama/Llama-3.1-8B-Instruct")
    facts = context_facts("0.5.23", gpu_profile("h100"), model.files)

Facts of an unknown machine or model are absent; the evaluator then says that they are unknown.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.inputs.environment import environment_facts
from kvsolve.inputs.fact_functions import NAMESPACE_URL, PURE, fp8_in_checkpoint
from kvsolve.inputs.gpu import GpuProfile, gpu_facts
from kvsolve.inputs.model_facts import context_length, model_facts
from kvsolve.inputs.models import find_model
from kvsolve.inputs.packages import package_spec
from kvsolve.inputs.quantization import quantization_override
from kvsolve.inputs.side_files import kv_events, local_json, local_yaml
from kvsolve.model.expression import Crash, Unknown
from kvsolve.model.fact import ConfigObject, Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.inputs.model_config import ModelFiles

__all__ = [
    "context_facts",
    "draft_part_facts",
    "model_part_facts",
    "platform_part_facts",
]

HUB = "hub:"
KV_EVENTS = "sglang.srt.disaggregation.kv_events.KVEventsConfig.model_validate_json"
SIDE_FILE = "hf_quant_config.json"


def context_facts(
    release: str,
    gpu: GpuProfile | None,
    model: ModelFiles | None,
    *,
    gpus: int = 8,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    packages: Mapping[str, bool] | None = None,
    draft: ModelFiles | None = None,
    model_path: str | None = None,
    stands_in: bool = False,
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
        draft: The draft model's files, None where there is none or nothing is known of it.
        model_path: How the command spells the model, where its facts come from elsewhere.
        stands_in: The model stands for any of which nothing is known, whatever it is called.
    """
    facts = platform_part_facts(release, gpu, gpus=gpus, env=env, packages=packages)
    if model is not None:
        facts |= model_part_facts(release, model, overrides, facts, model_path, stands_in)
    if draft is not None:
        facts |= draft_part_facts(release, draft, facts)
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
    facts |= {f"helper:{name}": function for name, function in PURE.items()}
    facts["host.uuid_namespace_url"] = NAMESPACE_URL
    facts["helper:package_spec"] = lambda name, *_: package_spec(facts, name)
    facts["helper:context_length"] = context_length
    facts["helper:quantization_override"] = lambda declared, requested: quantization_override(
        declared, requested, facts
    )
    if gpu is not None and gpu.kind != "plugin":
        facts["helper:device_memory_mib"] = _device_memory(gpu)
        properties = _properties(gpu)
        facts["helper:torch.cuda.get_device_properties"] = lambda *_: properties
    facts |= _file_helpers(release, None, {}, None)
    return facts


def model_part_facts(
    release: str,
    model: ModelFiles,
    overrides: Mapping[str, Any] | None = None,
    platform: Facts | None = None,
    model_path: str | None = None,
    stands_in: bool = False,
) -> Facts:
    """The facts that follow from the model; ``platform`` gives machine and environment."""
    facts = model_facts(release, model, overrides, platform)
    facts |= _file_helpers(release, model, facts, model_path, stands_in)
    return facts


def draft_part_facts(release: str, draft: ModelFiles, platform: Facts | None = None) -> Facts:
    """``draft.config`` and ``draft.*``: the facts of a draft model's own configuration."""
    own = model_facts(release, draft, None, platform)
    facts: Facts = {f"draft.{name.removeprefix('model.')}": value for name, value in own.items()}
    facts["draft.is_draft_model"] = True
    return facts


def _properties(gpu: GpuProfile) -> ConfigObject:
    major, minor = gpu.capability or (0, 0)
    return ConfigObject(
        {
            "gcnArchName": gpu.gcn_arch,
            "major": major,
            "minor": minor,
            "multi_processor_count": gpu.sm_count,
            "name": gpu.device,
            "total_memory": gpu.memory_mib << 20,
        }
    )


def _device_memory(gpu: GpuProfile) -> Callable[..., Any]:
    def memory(device: str | None = None, *_: object) -> float | int | None:
        if gpu.kind in ("cuda", "hip"):
            return gpu.memory_mib if gpu.shared else float(gpu.memory_mib)
        return gpu.memory_mib if device == gpu.kind else None

    return memory


def _file_helpers(
    release: str,
    model: ModelFiles | None,
    facts: Facts,
    model_path: str | None,
    stands_in: bool = False,
) -> Facts:
    """Facts about files: of the context's model, of a local path, of a well-known model."""
    own = {name for name in (model_path, model.name if model else None) if name}

    def is_own(path: object) -> bool:
        return path in own or (stands_in and find_model(str(path)) is None)

    def files_of(path: object) -> ModelFiles | None:
        return model if model is not None and is_own(path) else find_model(str(path))

    def config_of(path: object, *_: object) -> ConfigObject:
        if "config" in facts and is_own(path):
            return facts["config"]  # type: ignore[no-any-return]
        found = find_model(str(path))
        if found is None:
            raise Unknown("config_of")
        return model_facts(release, found)["config"]  # type: ignore[no-any-return]

    def has_fp8_weights(path: object, *_: object) -> bool:
        folder = Path(str(path))
        if folder.is_dir():
            return fp8_in_checkpoint(folder)
        found = files_of(path)
        return bool(found and found.fp8_experts)

    def has_hf_quant_config(path: object, *_: object) -> bool:
        found = files_of(path)
        return bool(found and found.quantization is not None)

    def download(name: object, _offline: object, path: object, *_: object) -> str:
        if name == SIDE_FILE and has_hf_quant_config(path):
            return f"{HUB}{path}"
        raise Crash("LocalEntryNotFoundError")

    def load(path: object, *_: object) -> Any:
        if isinstance(path, str) and path.startswith(HUB):
            found = files_of(path.removeprefix(HUB))
            return found.quantization if found else None
        return local_json(path)

    return {
        "helper:config_of": config_of,
        "helper:has_fp8_weights": has_fp8_weights,
        "helper:has_hf_quant_config": has_hf_quant_config,
        "helper:huggingface_hub.HfApi().model_info": lambda *_: _listing(),
        "helper:huggingface_hub.hf_hub_download": download,
        "helper:json.load": load,
        "helper:open": lambda path, *_: path,
        f"helper:{KV_EVENTS}": kv_events,
        "helper:yaml.safe_load": local_yaml,
    }


def _listing() -> ConfigObject:
    """A Hub repository in the ordinary layout, which every well-known model has."""
    names = ("config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors")
    return ConfigObject({"siblings": [ConfigObject({"rfilename": name}) for name in names]})
