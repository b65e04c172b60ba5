"""The table that names predicates of the releases as facts (``facts.toml``)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["FactNames", "load_fact_names"]

_SECTIONS = (
    "functions",
    "platform",
    "platform_methods",
    "helpers",
    "constants",
    "expressions",
    "model",
)


@dataclass(frozen=True, slots=True)
class FactNames:
    """Dotted name of the release -> fact; see the comments in the file."""

    functions: Mapping[str, str] = field(default_factory=dict)
    platform: Mapping[str, str] = field(default_factory=dict)
    platform_methods: Mapping[str, str] = field(default_factory=dict)
    helpers: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    model: Mapping[str, str] = field(default_factory=dict)


def load_fact_names(path: Path) -> FactNames:
    """Read the table.

    Raises:
        KvsolveError: It is missing or malformed.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KvsolveError(f"{path.name}: the table of facts cannot be read: {error}") from None
    unknown = sorted(set(data) - set(_SECTIONS))
    if unknown:
        raise KvsolveError(f"{path.name}: unknown section {unknown[0]!r}.")
    return FactNames(**data)
