"""Derived facts equal those recorded from the real objects of each release."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import gpu_profile
from kvsolve.inputs.model_config import ModelFiles, load_config_json
from kvsolve.inputs.models import model_profiles
from kvsolve.model.fact import ConfigObject
from tests.conformance.oracle.home import RELEASES
from tests.conformance.record_facts import facts_of, facts_path, read_facts

RECORDED = [release for release in RELEASES if facts_path(release).exists()]
MODELS = Path(__file__).parents[2] / "conformance" / "models"

# Attributes of configurations that a program or a later stage reads.
READ = frozenset(
    [
        "architectures",
        "attention_chunk_size",
        "attention_projection_layout",
        "attn_config",
        "audio_config",
        "bos_token_id",
        "compress_ratios",
        "dtype",
        "dual_chunk_attention_config",
        "eos_token_id",
        "first_k_dense_replace",
        "full_attention_layer_ids",
        "has_lightning_layers",
        "head_dim",
        "hidden_act",
        "hidden_size",
        "index_head_dim",
        "index_n_heads",
        "index_topk",
        "index_topk_freq",
        "index_topk_pattern",
        "is_encoder_decoder",
        "is_hybrid_swa",
        "kv_lora_rank",
        "layer_types",
        "learnable_sink",
        "linear_attn_config",
        "linear_num_key_heads",
        "linear_num_value_heads",
        "mamba_chunk_size",
        "max_position_embeddings",
        "mlp_hidden_act",
        "model_type",
        "moe_intermediate_size",
        "n_group",
        "n_routed_experts",
        "num_attention_heads",
        "num_experts",
        "num_hidden_layers",
        "num_key_value_heads",
        "num_kv_heads",
        "num_local_experts",
        "num_nextn_predict_layers",
        "num_shared_experts",
        "qk_nope_head_dim",
        "qk_rope_head_dim",
        "quantization_config",
        "rope_scaling",
        "routed_expert_hidden_size",
        "sliding_window",
        "sliding_window_pattern",
        "swa_head_dim",
        "swa_v_head_dim",
        "text_config",
        "topk_group",
        "use_bidirectional_attention",
        "v_head_dim",
        "vocab_size",
    ]
)
HELPERS = {
    "cpu_has_amx_support": "gpu.has_amx",
    "get_device": "gpu.device",
    "get_device_capability": "gpu.device_capability",
    "get_device_name": "gpu.name",
    "get_device_sm": "gpu.device_sm",
    "get_nvidia_driver_version": "gpu.driver_version",
    "is_blackwell_supported": "gpu.is_blackwell",
    "is_cpu": "gpu.is_cpu",
    "is_cuda": "gpu.is_cuda",
    "is_flashinfer_available": "gpu.has_flashinfer",
    "is_gfx1250_supported": "gpu.is_gfx1250_supported",
    "is_gfx942_supported": "gpu.is_gfx942_supported",
    "is_gfx95_supported": "gpu.is_gfx95_supported",
    "is_hip": "gpu.is_hip",
    "is_hopper_with_cuda_12_3": "gpu.is_hopper_with_cuda_12_3",
    "is_mnnvl_fabric_device": "gpu.is_mnnvl_fabric",
    "is_mps": "gpu.is_mps",
    "is_musa": "gpu.is_musa",
    "is_npu": "gpu.is_npu",
    "is_sm100_or_sm110_supported": "gpu.is_sm100_or_sm110",
    "is_sm100_supported": "gpu.is_sm100",
    "is_sm110_supported": "gpu.is_sm110",
    "is_sm120_supported": "gpu.is_sm120",
    "is_sm90_supported": "gpu.is_sm90",
    "is_triton_kernels_available": "packages.triton_kernels",
    "is_xpu": "gpu.is_xpu",
    "xpu_has_xmx_support": "gpu.xpu_has_xmx",
}
# The official images have these; the recording environment does not.
IN_THE_IMAGE = frozenset({"mooncake", "nixl"})
FAMILIES = {1: "AttentionArch.MLA", 2: "AttentionArch.MHA", 3: "AttentionArch.SSM"}
# No program reads it, and the two libraries name the part differently from time to time.
ELSEWHERE = frozenset({"vision_config.model_type", "rope_parameters", "rope_scaling"})


@lru_cache(maxsize=1)
def recording(release: str) -> dict[str, Any]:
    return read_facts(release)


def platforms(release: str) -> list[str]:
    return sorted(recording(release)["platforms"])


def plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def differences(real: dict[str, Any], derived: ConfigObject, at: str = "") -> list[str]:
    """Attributes that are read and differ, by path."""
    found = []
    attributes = real["attributes"]
    for name in sorted(READ & ({*attributes} | {*derived})):
        there = attributes.get(name, "absent")
        here = derived.get(name, "absent")
        if isinstance(there, dict) and "__raised__" in there:
            there = "absent"
        if isinstance(there, dict) and "__object__" in there:
            assert isinstance(here, ConfigObject), f"{at}{name} is no configuration"
            found += differences(there, here, f"{name}.")
        elif not (isinstance(there, dict) and "__same_as__" in there) and there != here:
            found.append(f"{at}{name}")
    return [path for path in found if path not in ELSEWHERE]


@pytest.mark.parametrize("release", RECORDED)
def test_platform_facts(release):
    wrong = []
    for name in platforms(release):
        facts = context_facts(release, gpu_profile(name), None)
        arm = gpu_profile(name).arm
        model = next(iter(recording(release)["models"]))
        real = facts_of(recording(release), name, model)
        told = {
            HELPERS[key.rsplit(".", 1)[1]]: value
            for key, value in real["platform_helpers"].items()
            if key.startswith("utils.common.") and key.rsplit(".", 1)[1] in HELPERS
        }
        told |= {f"gpu.{key}": value for key, value in real.get("platform_context", {}).items()}
        told |= {f"env.{key}": row["value"] for key, row in real["environment"].items()}
        told |= {
            f"packages.{key}": value
            for key, value in real["packages"].items()
            if key not in IN_THE_IMAGE
        }
        if not arm:
            told["host.cpu_arm64"] = False
        home = str(Path("~").expanduser())
        for fact, value in told.items():
            if isinstance(value, str) and "/.cache/" in value:
                value = home + value[value.index("/.cache/") :]
            if plain(value) != facts.get(fact, fact.startswith("packages.") and False):
                wrong.append((name, fact, value, facts.get(fact)))
    assert not wrong


@pytest.mark.parametrize("release", RECORDED)
def test_device_memory(release):
    for name in platforms(release):
        facts = context_facts(release, gpu_profile(name), None)
        model = next(iter(recording(release)["models"]))
        helpers = facts_of(recording(release), name, model)["platform_helpers"]
        real = helpers["utils.common.get_device_memory_capacity"]
        assert facts["helper:device_memory_mib"](None) == real, name


@pytest.mark.parametrize("model", sorted(model_profiles()))
@pytest.mark.parametrize("release", RECORDED)
def test_model_facts(release, model):
    if model not in recording(release)["models"]:
        pytest.fail(f"{model} is not recorded for {release}")
    config = load_config_json(MODELS / model)
    for name in platforms(release):
        real = facts_of(recording(release), name, model)
        if "__raised__" in real["model_config"]:
            continue
        facts = context_facts(release, gpu_profile(name), ModelFiles(config, model))
        assert differences(real["hf_config"], facts["config"]) == [], name
        if "__object__" in real["hf_text_config"]:
            derived = facts["model.hf_text_config"]
            assert differences(real["hf_text_config"], derived) == [], name
        assert model_attributes(real, facts) == [], name


def model_attributes(real: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    found = []
    for name, value in real["model_config"]["attributes"].items():
        fact = f"model.{name}"
        if fact not in facts or name in ("hf_text_config", "model_path"):
            continue
        if name == "attention_arch":
            value = FAMILIES[value]
        if isinstance(value, dict) and "__object__" in value:
            value = value["attributes"]
            derived = {key: facts[fact].get(key, "absent") for key in value}
        else:
            derived = facts[fact]
        if derived != value:
            found.append(name)
    return found


def test_every_release_with_a_pack_of_facts_was_recorded():
    assert RECORDED
