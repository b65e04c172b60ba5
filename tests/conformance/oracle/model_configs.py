"""The synthetic models: one directory with a config.json each, and no weights.

The numbers are those of the public models that the names recall. A validator reads nothing else
of a model before its weights are loaded.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["DRAFTS", "MODELS", "MODELS_DIRECTORY", "RARE_MODELS", "model_path"]

MODELS_DIRECTORY = Path(__file__).resolve().parents[1] / "models"

DRAFTS = ("llama-draft", "llama-eagle3")
"""Models that only serve as the draft of a speculative run."""

RARE_MODELS = (
    "bailing-v3", "beam", "cohere2-moe", "deepseek-v3-nextn", "deepseek-v4-bundled",
    "deepseek-v4-dspark", "deepseek-v4.1", "diffusion-gemma", "dots3", "embedding-gemma2",
    "embeddinggemma", "ernie4.5-vl", "exaone4", "gemma3-vl", "gemma3n", "gemma4",
    "gemma4-assistant", "gigachat3.5", "glm4-moe-lite", "glm5-next", "granite-hybrid", "hrm-text",
    "hy-v3", "hy-v4", "inkling", "interns2-mobius", "interns2-preview", "iquest-q1",
    "iquest-q1-mtp", "iquest-q1-mtp-deep", "iquest-q1-mtp-wide", "jet-nemotron", "kimi-k2.5",
    "kimi-k3", "lfm2", "llada2", "llama-dspark", "llama4-text", "longcat", "mimo-v2", "minicpm",
    "minicpm-sala", "minicpm-sala-lightning", "minicpm-sala-sparse", "minimax-m3-nvfp4",
    "minimax-m3-text", "minimax-m3-text-nvfp4", "mistral-large3", "mistral-native", "moss-vl",
    "muse-glimmer", "muse-spark", "nemotron-puzzle", "olmo2", "qwen3-vl", "qwen3-vl-moe",
    "qwen3.5-decision", "qwen3.5-decision-format", "qwen3.5-decision-mode",
    "qwen3.5-decision-pooling", "qwen3.5-dense", "qwen3.5-embed", "qwen3.5-joint", "qwen4-exp",
    "step3.5", "whisper",
)  # fmt: skip
"""Minimal configurations of architectures that only cases of entries ask for; not drawn."""

MODELS = tuple(
    sorted(
        path.parent.name
        for path in MODELS_DIRECTORY.glob("*/config.json")
        if path.parent.name not in {*DRAFTS, *RARE_MODELS}
    )
)


def model_path(token: str) -> str:
    """A command-line token with ``@model:NAME`` replaced by that model's directory."""
    option, mark, name = token.partition("@model:")
    named = mark and (not option or option.endswith("="))
    return f"{option}{MODELS_DIRECTORY / name}" if named else token
