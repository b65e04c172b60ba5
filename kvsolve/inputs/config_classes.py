"""What a release's configuration classes add to a config.json, by ``model_type``.

The table is generated (``kvsolve.upstream.config_defaults``): one JSON line for the index, one for
each class. Only the lines asked for are parsed.
"""

from __future__ import annotations

import json
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.model.noun import dataclass
from kvsolve.packs.files import constraints_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["ClassTable", "ConfigClass", "class_table"]


@dataclass(frozen=True, slots=True)
class ConfigClass:
    """One configuration class.

    Attributes:
        names: Its name and the names of the classes it extends, nearest first.
        values: Attribute defaults.
        parts: Sub-configurations: attribute -> ``body`` (class number), ``auto`` (its own
            ``model_type`` decides), ``made`` (made even where the config.json has none).
        aliases: Other name -> attribute.
        rules: Attributes computed from others: name -> case (``missing``, ``null``, ``given``) ->
            formula.
        layers: How ``layer_types`` is filled, None where the class has none.
        rope: What becomes of the rotary settings: ``kind`` and ``default``.
        flat: Whether keys of the text part may stand at the top.
        swallowed: Keys that do not become attributes.
        renamed: Keys that become attributes of another name.
        architectures: What ``architectures`` becomes whatever the config.json says, else None.
        typed: Whether a part keeps the ``model_type`` that the config.json gives it.
        legacy: Whether old names of layer types are kept.
    """

    names: tuple[str, ...]
    values: Mapping[str, Any]
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    layers: Mapping[str, Any] | None = None
    rope: Mapping[str, Any] = field(default_factory=dict)
    flat: bool = False
    swallowed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    architectures: list[str] | None = None
    typed: bool = False
    legacy: bool = False


class ClassTable:
    """The classes of one release.

    Attributes:
        registered: Model types whose class the release itself registers.
        legacy_layer_types: Old layer type name -> the name this release's library uses.
    """

    def __init__(self, lines: list[str], release: str) -> None:
        index = json.loads(lines[0])["releases"][release]
        self._lines = lines
        self._types: dict[str, int] = index["types"]
        self._base: int = index["base"]
        self._made: dict[int, ConfigClass] = {}
        self.registered: frozenset[str] = frozenset(index["registered"])
        self.legacy_layer_types: dict[str, str] = index["legacy_layer_types"]

    def knows(self, model_type: str | None) -> bool:
        """Whether the release has a class for this model type."""
        return model_type in self._types

    def of_type(self, model_type: str | None) -> ConfigClass:
        """The class of a model type, the plain base class where the release knows none."""
        return self.numbered(self._types.get(model_type or "", self._base))

    def numbered(self, number: int) -> ConfigClass:
        """The class with this number."""
        if number not in self._made:
            self._made[number] = self._parse(number)
        return self._made[number]

    def _parse(self, number: int) -> ConfigClass:
        data = json.loads(self._lines[number + 1])
        values = data["values"]
        if number != self._base:
            values = {**self.numbered(self._base).values, **values}
        names = tuple(data.pop("class"))
        return ConfigClass(names, values, **{k: v for k, v in data.items() if k != "values"})


@lru_cache(maxsize=16)
def class_table(release: str) -> ClassTable:
    """The classes of a release, read once."""
    path: Path = constraints_directory() / "sglang" / "profiles" / "config-classes.jsonl"
    return ClassTable(_lines(path), release)


@lru_cache(maxsize=1)
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
