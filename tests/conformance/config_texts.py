"""Texts of ``--config`` files around everything that its reader can be asked."""

from __future__ import annotations

__all__ = ["COMMANDS", "TEXTS"]

TEXTS = (
    "",
    "# nothing\n",
    "{}",
    "tp-size: 2\nmodel-path: m\n",
    "tp_size: 2\n",
    "enable-metrics: true\nskip-tokenizer-init: false\nenable_metrics: yes\n",
    "tp-size: true\nhost: off\n",
    "served-model-name: null\nload-format: ~\n",
    "cuda-graph-bs-prefill: [1, 2, 3]\n",
    "cuda-graph-bs-decode: []\n",
    "cuda-graph-config: {decode: {max_bs: 4}}\n",
    "json-model-override-args: {a: [1, null, true, 0.5]}\n",
    "mem-fraction-static: 0.80\nport: 0x10\nnnodes: 010\nhost: 1.2.3.4\nseed: 1e3\n",
    "lora-paths: [a]\n",
    "lora_paths: a=b\n",
    "disable-cuda-graph: true\n",
    "cuda-graph-max-bs-decode: 8\n",
    "cuda-graph-max-bs: 8\n",
    "enable-dp-attention: true\n",
    "attn-dp-size: 2\n",
    "incremental-streaming-output: true\n",
    "dsa-prefill-backend: aiter\n",
    "monokernel-backend: amd\n",
    "enable-amd-monokernel: true\n",
    "config: other.yaml\n",
    "help: true\n",
    "dcp-replicate-q-proj: true\n",
    "date-of: 2026-01-02\n",
    "model: m\ntensor-parallel-size: 4\n",
    "- a\n- b\n",
    "just text\n",
    "3: x\n",
    "no-such-option: {b: 1, a: 2}\n",
    "a: 1\na: 2\n",
    "base: &b {x: 1}\ncuda-graph-config: {<<: *b, y: 2}\n",
)
"""One file each; every release is asked about all of them."""

COMMANDS = (
    ["--model-path", "m", "--config", "FILE", "--tp", "2"],
    ["--config", "FILE"],
)
"""Commands that name a file; the first serves every text, the second the first few."""
