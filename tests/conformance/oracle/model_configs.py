"""The synthetic models: one directory with a config.json each, and no weights.

The numbers are those of the public models that the names recall. A validator reads nothing else
of a model before its weights are loaded.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["DRAFTS", "MODELS", "MODELS_DIRECTORY", "model_path"]

MODELS_DIRECTORY = Path(__file__).resolve().parents[1] / "models"

DRAFTS = ("llama-draft", "llama-eagle3")
"""Models that only serve as the draft of a speculative run."""

MODELS = tuple(
    sorted(
        path.parent.name
        for path in MODELS_DIRECTORY.glob("*/config.json")
        if path.parent.name not in DRAFTS
    )
)


def model_path(token: str) -> str:
    """A command-line token with ``@model:NAME`` replaced by that model's directory."""
    option, mark, name = token.partition("@model:")
    named = mark and (not option or option.endswith("="))
    return f"{option}{MODELS_DIRECTORY / name}" if named else token
