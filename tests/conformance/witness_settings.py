"""The settings in which entries are looked for, the most telling ones first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.model_configs import MODELS, RARE_MODELS
from .witness_search import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["settings"]

PLAIN = "llama-mha"
TELLING = ("deepseek-v3.2", "deepseek-v4", "qwen3-next", "gpt-oss", "qwen3-moe", "deepseek-v3")
MACHINES = ("h100", "b200", "mi355x", "cpu", "npu", "xpu", "a100", "rtx5090", "mi300x")


VARIABLES: tuple[tuple[Mapping[str, str], Sequence[str]], ...] = (
    ({"SGLANG_ENABLE_PP_SPEC": "1"}, ("h100 llama-mha", "h100 deepseek-v3.2", "npu llama-mha")),
    (
        {"SGLANG_FLASHINFER_CUTEDSL_NVFP4_W4A16": "1"},
        ("b200 llama-nvfp4", "h100 llama-nvfp4", "b200 deepseek-v3", "b200 muse-spark"),
    ),
    ({"SGLANG_RUST_SERVER": "1"}, ("h100 llama-mha", "h100 qwen2.5-vl")),
    ({"SGLANG_MINICPM_FORCE_DENSE": "1"}, ("h100 minicpm-sala", "b200 minicpm-sala")),
    (
        {"SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION": "1"},
        ("h100 llama-mha", "h100 deepseek-v3", "h100 deepseek-v4"),
    ),
    ({"SGLANG_DISAGG_STAGING_BUFFER": "1"}, ("h100 llama-mha", "h100 deepseek-v3.2")),
    ({"SGLANG_RAGGED_VERIFY_MODE": "nonsense"}, ("h100 llama-mha", "h100 kimi-k3")),
    (
        {"SGLANG_RAGGED_VERIFY_MODE": "cap-accept"},
        ("h100 llama-mha", "b200 kimi-k3", "h100 minimax-m3", "b200 minimax-m3"),
    ),
    (
        {"SGLANG_RAGGED_VERIFY_MODE": "compact"},
        ("h100 llama-mha", "b200 kimi-k3", "h100 minimax-m3", "b200 minimax-m3"),
    ),
    (
        {"SGLANG_ENABLE_OVERLAP_PLAN_STREAM": "1", "SGLANG_RAGGED_VERIFY_MODE": "compact"},
        ("h100 llama-mha",),
    ),
    (
        {"SGLANG_FLASHINFER_MEGAMOE_COMBINE_DTYPE": "nonsense"},
        ("b200 deepseek-v3", "b200 deepseek-v4", "b200 llama-nvfp4"),
    ),
    (
        {"SGLANG_FLASHINFER_MEGAMOE_COMBINE_DTYPE": "nvfp4"},
        ("b200 deepseek-v3", "b200 deepseek-v4", "b200 llama-nvfp4"),
    ),
    (
        {
            "SGLANG_FLASHINFER_MEGAMOE_COMBINE_DTYPE": "nvfp4",
            "SGLANG_FLASHINFER_MEGAMOE_IN_KERNEL_FC2_REDUCE": "1",
        },
        ("b200 deepseek-v3", "b200 llama-nvfp4"),
    ),
    (
        {"SGLANG_MOE_NVFP4_DISPATCH": "1"},
        ("b200 llama-nvfp4", "b200 deepseek-v3", "b200 muse-spark", "h100 deepseek-v3"),
    ),
    (
        {"SGLANG_OPT_DEEPGEMM_MEGA_MOE_NUM_MAX_TOKENS_PER_RANK": "0"},
        ("b200 muse-spark", "b200 deepseek-v4", "h100 muse-spark"),
    ),
    (
        {"SGLANG_OPT_DEEPGEMM_MEGA_MOE_NUM_MAX_TOKENS_PER_RANK": "64"},
        ("b200 muse-spark", "b200 deepseek-v4", "h100 muse-spark"),
    ),
    *(
        (
            {"SGLANG_AMD_USE_FLYDSL_MEGA_MOE": "1", **more},
            ("mi355x muse-spark", "mi355x deepseek-v4"),
        )
        for more in (
            {},
            {"SGLANG_AMD_FLYDSL_MEGA_MOE_DECODE_MTPR": "64"},
            {"SGLANG_AMD_FLYDSL_MEGA_MOE_MTPR": "64"},
        )
    ),
    (
        {"SGLANG_HACK_FLASHMLA_BACKEND": "unified_kv_triton"},
        ("mi355x deepseek-v4", "mi300x deepseek-v4", "h100 deepseek-v4"),
    ),
    ({"SGLANG_DISAGGREGATION_SAMPLING_MASK_MAX_TOKENS": "0"}, ("h100 llama-mha",)),
    ({"SGLANG_DISAGGREGATION_SAMPLING_MASK_MAX_TOKENS": "nonsense"}, ("h100 llama-mha",)),
    ({"SGLANG_GRPC_PORT": "40000"}, ("h100 llama-mha",)),
    ({"SGLANG_SCHEDULER_DECREASE_PREFILL_IDLE": "1"}, ("h100 llama-mha",)),
    ({"SGLANG_PREFILL_DELAYER_MAX_DELAY_PASSES": "7"}, ("h100 llama-mha",)),
    ({"SGLANG_PREFILL_DELAYER_TOKEN_USAGE_LOW_WATERMARK": "0.25"}, ("h100 llama-mha",)),
    ({"SGLANG_MOONCAKE_CUSTOM_MEM_POOL": "NVLINK"}, ("h100 llama-mha",)),
    ({"SGLANG_ENABLE_POST_CAPTURE_KV_SIZING": "1"}, ("h100 llama-mha", "h100 deepseek-v3")),
    ({"MOONCAKE_PROTOCOL": "efa"}, ("h100 llama-mha",)),
    ({"SGLANG_USE_AITER": "1"}, ("mi355x llama-mha", "mi355x deepseek-v3", "mi300x qwen3-moe")),
    ({"SGLANG_DEEPEP_BF16_DISPATCH": "1"}, ("b200 llama-nvfp4", "b200 deepseek-v3")),
    ({"SGLANG_DISABLE_M3_FP8_ATTN_GEMM": "1"}, ("b200 minimax-m3", "h100 minimax-m3")),
    ({"SGLANG_M3_ALLOW_CUSTOM_AR": "1"}, ("h100 minimax-m3",)),
    (
        {"SGLANG_USE_AITER": "1", "SGLANG_USE_AITER_UNIFIED_ATTN": "1"},
        ("mi355x qwen3-vl-moe", "mi355x qwen3-vl", "mi355x llama-mha"),
    ),
    (
        {"SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD": "1024"},
        ("h100 deepseek-v3.2", "b200 deepseek-v3.2"),
    ),
    ({"SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE": "1"}, ("b200 deepseek-v3", "b200 llama-nvfp4")),
    ({"SGLANG_EMBEDDINGS_SPARSE_HEAD": "1"}, ("h100 qwen3-embedding", "h100 bert")),
    ({"SGLANG_SKIP_SOFTMAX_PREFILL_THRESHOLD_SCALE_FACTOR": "1"}, ("rtx5090 llama-mha",)),
    ({"SGLANG_UNIFIED_RADIX_TREE_CORE_BACKEND": "nonsense"}, ("h100 llama-mha",)),
    ({"SGLANG_DISABLE_LAZY_COMPACTION": "1"}, ("h100 llama-mha",)),
    ({"SGLANG_IS_IN_CI": "1"}, ("h100 llama-mha",)),
    ({"SGLANG_ENABLE_UNIFIED_RADIX_TREE": "1"}, ("h100 llama-mha", "h100 qwen3-next")),
    ({"SGLANG_ENABLE_UNIFIED_RADIX_TREE": "0"}, ("h100 llama-mha", "h100 qwen3-next")),
    ({"SGLANG_ENABLE_SPEC_V2": "0"}, ("h100 llama-mha", "h100 deepseek-v3")),
    ({"SGLANG_ENABLE_CP_V2": "1"}, ("h100 llama-mha", "h100 deepseek-v3.2")),
    ({"SGLANG_DSV4_KV_LAYOUT": "nonsense"}, ("h100 deepseek-v4",)),
    ({"SGLANG_VLM_CACHE_SIZE_MB": "100"}, ("h100 qwen2.5-vl",)),
    ({"SGLANG_MM_FEATURE_CACHE_MB": "0"}, ("h100 qwen2.5-vl",)),
    ({"SGLANG_USE_CUDA_IPC_TRANSPORT": "1"}, ("h100 qwen2.5-vl",)),
    ({"SGLANG_SIMULATE_ACC_LEN": "2"}, ("h100 llama-mha",)),
)
"""Environment variables that guards read, with values that make a difference, and where."""


DRAFTED: tuple[tuple[str, Sequence[str]], ...] = (
    ("llama-eagle3", ("h100 llama-mha", "b200 llama-mha", "h100 qwen3-next", "npu llama-mha")),
    ("llama-draft", ("h100 llama-mha", "b200 llama-mha", "h100 deepseek-v3", "cpu llama-mha")),
    ("deepseek-v4-dspark", ("h100 deepseek-v4", "b200 deepseek-v4", "mi355x deepseek-v4")),
    ("deepseek-v3-nextn", ("h100 deepseek-v3", "b200 deepseek-v3.2")),
    ("llama-eagle3", ("h100 minimax-m3", "b200 kimi-k3", "h100 iquest-q1", "h100 gemma4")),
)
"""Draft models, and where they are tried."""


def settings() -> Iterator[Setting]:
    """GPU and model profiles, no pair twice."""
    seen: set[Setting] = set()
    for setting in _ordered():
        if setting not in seen:
            seen.add(setting)
            yield setting


def _ordered() -> Iterator[Setting]:
    others = [name for name in GPU_PROFILES if name not in MACHINES]
    yield from (Setting(MACHINES[0], model) for model in (PLAIN, *TELLING))
    yield from (Setting(machine, PLAIN) for machine in MACHINES)
    for env, places in VARIABLES:
        for place in places:
            yield Setting(*place.split(), env=tuple(env.items()))
    for draft, places in DRAFTED:
        for place in places:
            told = ("--speculative-draft-model-path", f"@model:{draft}")
            yield Setting(*place.split(), argv=told)
    for machine in MACHINES[:2]:
        yield from (Setting(machine, model) for model in (*RARE_MODELS, *MODELS))
    yield from (Setting(machine, model) for machine in MACHINES for model in TELLING)
    yield from (Setting(machine, model) for machine in others for model in (PLAIN, *TELLING))
    yield from (Setting(machine, model) for machine in MACHINES for model in RARE_MODELS)
