"""The attribute names that releases may read from a model's configuration.

``python -m kvsolve.upstream.config_names DIRECTORY... > names.json`` lists, for unpacked releases,
every attribute name and every word-like text in the code that resolves arguments, builds the
configuration of a model and sizes the pools. The list is generous on purpose: it only bounds what
:mod:`kvsolve.upstream.config_defaults` notes of a class.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

__all__ = ["names_read"]

PATTERNS = (
    "server_args.py",
    "arg_groups/**/*.py",
    "configs/hybrid_arch.py",
    "configs/linear_attn_model_registry.py",
    "configs/model_config.py",
    "layers/attention/attention_registry.py",
    "layers/attention/dsa/utils.py",
    "layers/attention/qsa/config.py",
    "layers/cp/*.py",
    "layers/layernorm_sp.py",
    "mem_cache/kv_cache_configurator.py",
    "mem_cache/kv_cache_dtype.py",
    "model_executor/model_runner_kv_cache_mixin.py",
    "model_executor/pool_configurator.py",
    "speculative/dflash_utils.py",
    "speculative/dspark_components/dspark_config.py",
    "utils/hf_transformers/c*.py",
)
WORD = re.compile(r"[a-z_][a-zA-Z0-9_]{1,40}")
NOT_DATA = frozenset(
    {
        "allow_global_per_layer_attribute_access",
        "attention",
        "default",
        "fields",
        "get_text_config",
        "hex",
        "id2label",
        "is_heterogeneous",
        "label2id",
        "mamba2_cache_params",
        "name",
        "parameters",
        "parent",
        "per_layer_attributes",
        "per_layer_config",
    }
)
"""Names that no configuration holds as data, and views of its own."""
ELSEWHERE = frozenset(
    {
        "activation_situ_beta",
        "activation_situ_linear_beta",
        "canvas_length",
        "dspark_use_dense_ffn",
        "expert_capacity",
        "hidden_act",
        "intermediate_size",
        "moe_intermediate_size",
        "multi_gate",
        "n_shared_experts",
        "num_experts_per_token",
        "num_shared_experts",
        "q_lora_rank",
        "routed_expert_hidden_size",
        "router_type",
    }
)
"""Names that the programs read in functions of other files."""


def names_read(srt: Path) -> set[str]:
    """The names in one release's ``sglang/srt``."""
    found: set[str] = set()
    for pattern in PATTERNS:
        for path in sorted(srt.glob(pattern)):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8-sig"))):
                if isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return {name for name in found if WORD.fullmatch(name) and not name.startswith("__")} - NOT_DATA


def main(*directories: str) -> None:
    """Print the names of several releases as one JSON list."""
    found: set[str] = set(ELSEWHERE)
    for directory in directories:
        found |= names_read(Path(directory) / "sglang" / "srt")
    print(json.dumps(sorted(found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
