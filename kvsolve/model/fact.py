"""Facts of a context: named values, and the configuration object of a model.

A *fact* is what the command does not say. Facts lie in one flat dictionary: ``gpu.is_cuda``,
``model.head_dim``, ``packages.triton``, ``env.NAME`` (typed as upstream types it), ``environ`` (the
raw environment), ``config`` (a :class:`ConfigObject`) and ``helper:NAME`` (a function). A fact that
is not known is absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ConfigObject", "Facts"]

Facts: TypeAlias = dict[str, Any]


class ConfigObject:
    """A bag of attributes, as a model library makes it from a config.json.

    Unlike a plain dictionary, what it holds are attributes: present or absent, with aliases. It is
    immutable and compares by identity, as upstream's configuration objects do.

    Attributes:
        class_names: Name of its class and of the classes that one extends, nearest first.
    """

    __slots__ = ("_aliases", "_attributes", "class_names")

    class_names: tuple[str, ...]
    _attributes: dict[str, Any]
    _aliases: dict[str, str]

    def __init__(
        self,
        attributes: Mapping[str, Any],
        class_names: tuple[str, ...] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        table = dict(attributes)
        aliases = aliases or {}
        table.update({a: table[name] for a, name in aliases.items() if name in table})
        object.__setattr__(self, "_attributes", table)
        object.__setattr__(self, "_aliases", dict(aliases))
        object.__setattr__(self, "class_names", class_names)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a configuration object is not changed: {name}")

    def __repr__(self) -> str:
        kind = self.class_names[0] if self.class_names else "ConfigObject"
        return f"<{kind} of {self._attributes.get('model_type')}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __contains__(self, name: object) -> bool:
        return name in self._attributes

    def __getitem__(self, name: str) -> Any:
        return self._attributes[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The attribute, or ``default`` where it is absent (not where it is None)."""
        return self._attributes.get(name, default)

    def attributes_of(self) -> dict[str, Any]:
        """Every attribute by name, aliases included; not to be changed."""
        return self._attributes

    def is_a(self, class_name: str) -> bool:
        """Whether its class is, or extends, the named one."""
        return class_name in self.class_names

    def with_attributes(self, changes: Mapping[str, Any]) -> ConfigObject:
        """The same object with some attributes set; an alias sets the attribute it stands for."""
        own = {k: v for k, v in self._attributes.items() if k not in self._aliases}
        own.update({self._aliases.get(k, k): v for k, v in changes.items()})
        return ConfigObject(own, self.class_names, self._aliases)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: parts that are configuration objects become dictionaries, aliases go."""
        return {
            name: value.to_dict() if isinstance(value, ConfigObject) else value
            for name, value in self._attributes.items()
            if name not in self._aliases
        }
