"""The settings in which entries are looked for, the most telling ones first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.model_configs import MODELS, RARE_MODELS
from .witness_search import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["settings"]

PLAIN = "llama-mha"
TELLING = ("deepseek-v3.2", "deepseek-v4", "qwen3-next", "gpt-oss", "qwen3-moe", "deepseek-v3")
MACHINES = ("h100", "b200", "mi355x", "cpu", "npu", "xpu", "a100", "rtx5090", "mi300x")


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
    for machine in MACHINES[:2]:
        yield from (Setting(machine, model) for model in (*RARE_MODELS, *MODELS))
    yield from (Setting(machine, model) for machine in MACHINES for model in TELLING)
    yield from (Setting(machine, model) for machine in others for model in (PLAIN, *TELLING))
    yield from (Setting(machine, model) for machine in MACHINES for model in RARE_MODELS)
