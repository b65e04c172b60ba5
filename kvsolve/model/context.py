"""What a command does not say: release, GPU, model, environment; and the configuration itself."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Config", "Context"]


@dataclass(frozen=True, slots=True)
class Context:
    """A complete set of facts.

    Attributes:
        sglang: Release.
        gpu: GPU profile, None where unknown.
        gpus: GPUs a node.
        model: Name of the model or profile, None where unknown.
        model_from: Where the model facts come from, for the reader.
        facts: Every fact by name (``gpu.is_cuda``, ``model.head_dim``, ``config``, ``env.X``,
            ``environ``: the raw environment, ``helper:NAME``: functions).
        env: The environment variables that were set.
        doubts: What is not known of the context, so that nothing in it can be called valid.
    """

    sglang: str
    gpu: str | None
    gpus: int
    model: str | None
    model_from: str
    facts: Mapping[str, Any]
    env: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration: a value for every field of the release's server arguments.

    Attributes:
        values: By dest, defaults filled in.
        given: What the command line says: dest -> spelling typed; flags given at their default too.
    """

    values: Mapping[str, Any]
    given: Mapping[str, str] = field(default_factory=dict)

    def with_values(self, changes: Mapping[str, Any]) -> Config:
        """The same configuration with some values changed."""
        return Config({**self.values, **changes}, self.given)
