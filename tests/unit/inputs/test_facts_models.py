"""Where a model's facts come from, and what bad input says."""

from __future__ import annotations

import json
import struct

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import gpu_profile, gpu_profiles
from kvsolve.inputs.model_config import ConfigFileError, ModelFiles, load_config_json
from kvsolve.inputs.models import find_model, known_models, model_profiles, resolve_model
from tests.conformance.oracle.home import RELEASES

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
# Models that public reports and examples name.
NAMED = [
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "meta-llama/Llama-3.3-70B-Instruct",
    "Qwen/Qwen2.5-7B-Instruct",
    "Qwen/Qwen3-8B",
    "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8",
    "Qwen/Qwen3-Reranker-0.6B",
    "Qwen/Qwen3-Embedding-0.6B",
    "Qwen/Qwen3.5-35B-A3B",
    "Qwen/Qwen3.5-397B-A17B",
    "Qwen/Qwen3.5-397B-A17B-FP8",
    "Qwen/Qwen3.6-35B-A3B",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "deepseek-ai/DeepSeek-R1",
    "deepseek-ai/DeepSeek-V3-0324",
    "deepseek-ai/DeepSeek-V3.1",
    "deepseek-ai/DeepSeek-V3.2",
    "deepseek-ai/DeepSeek-V3.2-Exp",
    "deepseek-ai/DeepSeek-V4-Flash",
    "deepseek-ai/DeepSeek-V4-Pro",
    "deepseek-ai/DeepSeek-V4.1-Flash",
    "nvidia/DeepSeek-R1-FP4",
    "google/embeddinggemma-300m",
    "google/gemma-3-27b-it",
    "google/gemma-3-27b-it-int4-awq",
    "google/gemma-3n-E4B-it",
    "inclusionAI/Ling-3.0-flash",
    "inclusionAI/Ling-3.0-flash-dspark",
    "moonshotai/Kimi-K2-Instruct",
    "moonshotai/Kimi-K2.6",
    "moonshotai/Kimi-K3",
    "moonshotai/Kimi-Linear-48B-A3B-Instruct",
    "nvidia/Kimi-K2.5-NVFP4",
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16",
    "nvidia/Qwen3.5-397B-A17B-NVFP4",
    "nvidia/Qwen3.5-397B-A17B-NVFP4-V2",
    "openai/gpt-oss-20b",
    "openai/gpt-oss-120b",
    "stepfun-ai/Step-3.5-Flash-FP8",
    "zai-org/GLM-4.5-Air",
    "zai-org/GLM-5-FP8",
    "zai-org/GLM-5.1-FP8",
    "zai-org/GLM-5.2-FP8",
    "zai-org/GLM-5.3-Flash",
    "amd/GLM-5.2-FP8",
    "BAAI/bge-m3",
    "BAAI/bge-large-en-v1.5",
    "intfloat/e5-mistral-7b-instruct",
    "jamesliu1/sglang-EAGLE3-Llama-3.1-Instruct-8B",
    "lmsys/sglang-EAGLE-LLaMA3-Instruct-8B",
    "lmsys/EAGLE3-gpt-oss-120b-bf16",
]


def facts_of(config, release="0.5.23", gpu="h100", **changes):
    return context_facts(release, gpu_profile(gpu), ModelFiles(config, "m"), **changes)


@pytest.mark.parametrize("name", NAMED)
def test_a_model_that_reports_name_is_known(name):
    assert find_model(name) is not None


def test_well_known_names_are_unique_in_any_case():
    names = [name.lower() for name, _ in known_models()]
    assert len(names) == len(set(names)) > 300


@pytest.mark.parametrize("release", RELEASES)
def test_every_known_model_has_facts_in_every_release(release):
    for name, _ in known_models():
        facts = context_facts(release, gpu_profile("h100"), find_model(name))
        assert facts["model.attention_arch"].startswith("AttentionArch."), name
        assert facts["model.context_len"] > 0, name
        assert facts["config"].get("architectures"), name


def test_an_approximate_model_says_so():
    found = resolve_model("zai-org/GLM-5.3-Flash", env={})
    assert found.approximate
    assert "zai-org/GLM-5.2-FP8" in found.origin
    assert not resolve_model("deepseek-ai/DeepSeek-V3", env={}).approximate


def test_a_hub_name_is_found_in_any_case():
    assert find_model("QWEN/qwen3-8b") is not None


def test_nothing_is_known_of_an_unknown_model():
    found = resolve_model("somebody/something", env={})
    assert found.files is None
    assert found.origin.startswith("unknown")


def test_the_file_comes_before_the_profile_and_the_profile_before_the_name(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    both = resolve_model("deepseek-ai/DeepSeek-V3", config=tmp_path, family="bert", env={})
    assert both.files is not None
    assert both.files.config["model_type"] == "llama"
    family = resolve_model("deepseek-ai/DeepSeek-V3", family="bert", env={})
    assert family.files is not None
    assert family.files.config["model_type"] == "bert"


def test_a_local_path_of_the_command_is_read(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    side = {"quantization": {"quant_algo": "NVFP4"}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(side))
    found = resolve_model(str(tmp_path), env={})
    assert found.files is not None
    assert found.files.quantization == side
    facts = context_facts("0.5.23", gpu_profile("b200"), found.files)
    assert facts["model.quantization"] == "modelopt_fp4"


def test_the_hub_cache_comes_before_the_table(tmp_path):
    folder = tmp_path / "models--deepseek-ai--DeepSeek-V3"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("abc\n")
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "snapshots" / "abc" / "config.json").write_text(json.dumps(LLAMA))
    found = resolve_model("deepseek-ai/DeepSeek-V3", env={"HF_HUB_CACHE": str(tmp_path)})
    assert found.origin == "the local Hub cache"
    assert found.files is not None
    assert found.files.config["model_type"] == "llama"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"model_type": "llama",\n "hidden_size": }', "line 2, column 17"),
        ("[1]", "must be a JSON object, not an array"),
        ('"x"', "must be a JSON object, not a text"),
        ('{"architectures": "LlamaForCausalLM"}', "architectures must be a list of names"),
        ('{"hidden_size": "big"}', "hidden_size must be a whole number"),
        ('{"num_attention_heads": -1}', "num_attention_heads must be a whole number"),
        ('{"model_type": 3}', "model_type must be a text"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_config_is_one_sentence(tmp_path, text, says):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigFileError, match=r"config\.json") as told:
        load_config_json(path)
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_a_missing_config_and_one_that_is_no_text(tmp_path):
    with pytest.raises(ConfigFileError, match="No such file"):
        load_config_json(tmp_path / "nowhere")
    (tmp_path / "config.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ConfigFileError, match="not UTF-8"):
        load_config_json(tmp_path)


def test_unknown_profiles_name_the_known_ones():
    with pytest.raises(KvsolveError, match=r"unknown GPU profile 'h999'; known: .*h100"):
        gpu_profile("h999")
    with pytest.raises(KvsolveError, match=r"unknown model profile 'x'; known: .*llama-mha"):
        resolve_model(family="x")


def test_profile_names():
    assert {"a100", "b300", "thor", "mi355x", "cpu", "out-of-tree"} <= set(gpu_profiles())
    assert {"llama-mha", "deepseek-v4", "kimi-linear"} <= set(model_profiles())


def test_a_profile_is_found_in_any_case() -> None:
    found, same = (resolve_model("m", family=name) for name in ("DeepSeek-V3", "deepseek-v3"))
    assert found == same
    assert all(name == name.lower() for name in model_profiles())


def test_defaults_of_the_class_and_overrides():
    facts = facts_of(LLAMA)
    assert facts["config"]["head_dim"] == 128
    changed = facts_of(LLAMA, overrides={"num_attention_heads": 64, "architectures": ["X"]})
    assert changed["model.num_attention_heads"] == 64
    assert changed["model.architectures"] == ["X"]


def test_an_override_of_a_part_is_merged_or_put_in_its_place():
    config = find_model("google/gemma-3-27b-it").config
    change = {"text_config": {"sliding_window": 64}}
    merged = facts_of(config, overrides=change)["model.hf_text_config"]
    assert (merged["sliding_window"], merged["num_hidden_layers"]) == (64, 62)
    replaced = facts_of(config, "0.5.16", overrides=change)["model.hf_text_config"]
    assert replaced["sliding_window"] == 64
    assert "num_hidden_layers" not in replaced


def test_environment_is_typed_as_declared():
    env = {
        "SGLANG_USE_AITER": "yes",
        "SGLANG_GRPC_WORKER_THREADS": "many",
        "SGL_USE_MODELSCOPE": "1",
    }
    facts = facts_of(LLAMA, env=env)
    assert facts["env.SGLANG_USE_AITER"] is True
    assert (
        facts["env.SGLANG_GRPC_WORKER_THREADS"] == facts_of(LLAMA)["env.SGLANG_GRPC_WORKER_THREADS"]
    )
    assert facts["env.SGLANG_USE_MODELSCOPE"] is True
    assert facts["environ"]["SGLANG_USE_AITER"] == "yes"


def test_packages_can_be_taken_away():
    assert facts_of(LLAMA)["gpu.has_flashinfer"] is True
    without = facts_of(LLAMA, packages={"flashinfer": False})
    assert without["gpu.has_flashinfer"] is False
    assert without["helper:package_spec"]("flashinfer.decode") is None


def test_the_context_length_heeds_linear_scaling_only():
    scaled = {**LLAMA, "rope_scaling": {"type": "linear", "factor": 4.0}}
    assert facts_of(scaled)["model.context_len"] == 32768
    yarn = {**LLAMA, "rope_scaling": {"type": "yarn", "factor": 4.0}}
    assert facts_of(yarn)["model.context_len"] == 8192


def test_awq_becomes_marlin_where_the_gpu_has_it():
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
    config = {**LLAMA, "quantization_config": awq}
    assert facts_of(config, gpu="a100")["model.quantization"] == "awq_marlin"
    assert facts_of(config, gpu="t4")["model.quantization"] == "awq"
    assert facts_of(config, gpu="mi300x")["model.quantization"] == "awq"


def test_facts_of_a_draft():
    facts = facts_of(LLAMA, draft=find_model("lmsys/sglang-EAGLE-LLaMA3-Instruct-8B"))
    assert facts["draft.config"]["architectures"] == ["LlamaForCausalLMEagle"]
    assert facts["draft.vocab_size"] == 128256
    assert facts["draft.is_draft_model"] is True


def test_another_models_configuration_is_had_by_name():
    facts = facts_of(LLAMA, model_path="the/command")
    assert facts["helper:config_of"]("the/command") is facts["config"]
    assert facts["helper:config_of"]("Qwen/Qwen3-8B")["model_type"] == "qwen3"


def write_shard(path, dtype):
    header = json.dumps({"model.layers.0.mlp.experts.0.up_proj.weight": {"dtype": dtype}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


@pytest.mark.parametrize(("dtype", "fp8"), [("F8_E4M3", True), ("BF16", False)])
def test_the_weights_of_a_local_checkpoint_are_looked_at(tmp_path, dtype, fp8):
    write_shard(tmp_path / "model.safetensors", dtype)
    assert facts_of(LLAMA)["helper:has_fp8_weights"](str(tmp_path)) is fp8


def test_a_broken_checkpoint_has_no_fp8_weights(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 12)
    assert facts_of(LLAMA)["helper:has_fp8_weights"](str(tmp_path)) is False


def test_known_fp8_experts():
    facts = facts_of(LLAMA)
    assert facts["helper:has_fp8_weights"]("deepseek-ai/DeepSeek-V3") is True
    assert facts["helper:has_fp8_weights"]("moonshotai/Moonlight-16B-A3B-Instruct") is False
