"""A mapping that differs in little from one that many share."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping
from typing import Any

__all__ = ["Overlay", "Shared"]


class Shared:
    """What many mappings have in common; must not be changed.

    Attributes:
        values: Names and values, in order.
        texts: What a renderer made of each entry, for it to keep; empty until then.
    """

    __slots__ = ("texts", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self.texts: dict[str, str] = {}


class Overlay(Mapping[str, Any]):
    """Shared values, some of them replaced; made when somebody first looks into it.

    Args:
        make: Gives the values underneath, and those that replace some of them; it adds no name.
    """

    __slots__ = ("_all", "_make", "_parts")

    def __init__(self, make: Callable[[], tuple[Shared, Mapping[str, Any]]]) -> None:
        self._make = make
        self._parts: tuple[Shared, Mapping[str, Any]] | None = None
        self._all: dict[str, Any] | None = None

    @property
    def parts(self) -> tuple[Shared, Mapping[str, Any]]:
        """The values underneath, and those that replace some of them."""
        if self._parts is None:
            self._parts = self._make()
        return self._parts

    def _dict(self) -> dict[str, Any]:
        if self._all is None:
            shared, changes = self.parts
            self._all = {**shared.values, **changes}
        return self._all

    def keys(self) -> KeysView[str]:
        """As of a dict: the views of a Mapping look every name up one by one."""
        return self._dict().keys()

    def items(self) -> ItemsView[str, Any]:
        """The same for the pairs."""
        return self._dict().items()

    def __getitem__(self, name: str) -> Any:
        if self._all is not None:
            return self._all[name]
        shared, changes = self.parts
        return changes[name] if name in changes else shared.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dict())

    def __len__(self) -> int:
        return len(self._dict())
