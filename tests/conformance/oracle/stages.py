"""The steps of a run, without any library that the release needs."""

from __future__ import annotations

__all__ = ["STAGES"]

STAGES = {
    "parse": "parse",
    "args": "args",
    "check": "args",
    "publish": "load",
    "parallel": "load",
    "model_config": "load",
    "speculative_algorithm": "load",
    "runner": "load",
    "speculative_aux": "load",
    "layers": "load",
    "sliding_window": "load",
    "kv_dtype": "load",
    "kv_configurator": "pool",
    "prefill_only_family": "pool",
    "mamba_size": "pool",
    "pool_sizes": "pool",
    "pool": "pool",
    "index_translator": "attention",
    "backend_names": "attention",
    "backend": "attention",
    "done": "attention",
}
"""The design's stage of each step."""
