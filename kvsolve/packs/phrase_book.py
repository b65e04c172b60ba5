"""Phrases, the wordings that a pack brings, and how values and lists are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Phrase", "PhraseBook", "UnphrasedError", "listed", "shown_value"]

_ENUM = re.compile(r"^[A-Z][A-Za-z]+\.(?=[A-Z_0-9]+$)")
_NUMBER = re.compile(r"_\d+$")
_MOST_LISTED = 4


class UnphrasedError(Exception):
    """A condition has no short wording."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A worded condition: its role and its text."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class PhraseBook:
    """Wordings of a pack, from ``phrases.toml``.

    Attributes:
        holds: Fact or named result -> (phrase where true, phrase where false); a phrase starts
            with its preposition, as in "on AMD GPUs".
        values: Fact, attribute or named result -> noun phrase for its value.
        premises: Conditions that hold in every ordinary launch and are left out: fact or result.
        breaks: Fact or named result that makes upstream break -> (reason, remedy).
        widths: Flags that say over how many ranks something is shared out.
        counts: Attribute of a model's configuration -> what its number counts, a plural.
    """

    holds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    premises: frozenset[str] = frozenset()
    breaks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    widths: frozenset[str] = frozenset()
    counts: Mapping[str, str] = field(default_factory=dict)

    def held(self, name: str) -> tuple[str, str] | None:
        """The phrases of a fact or result, found also under its name without a number."""
        return self.holds.get(name) or self.holds.get(_NUMBER.sub("", name))

    def broken(self, name: str) -> tuple[str, str] | None:
        """Reason and remedy of a break that a fact or result makes."""
        return self.breaks.get(name) or self.breaks.get(_NUMBER.sub("", name))

    def value(self, name: str) -> str | None:
        """The noun phrase of a fact, result or attribute."""
        return self.values.get(name) or self.values.get(_NUMBER.sub("", name))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> PhraseBook:
        """The book from the parsed ``phrases.toml``."""
        holds = {name: (pair[0], pair[1]) for name, pair in data.get("holds", {}).items()}
        breaks = {name: (pair[0], pair[1]) for name, pair in data.get("breaks", {}).items()}
        values, premises = dict(data.get("values", {})), frozenset(data.get("premises", ()))
        widths, counts = frozenset(data.get("widths", ())), dict(data.get("counts", {}))
        return cls(holds, values, premises, breaks, widths, counts)


def listed(items: list[str], word: str = "or", most: int = _MOST_LISTED) -> str:
    """Items joined for reading; a long list is cut and the rest counted.

    >>> listed(["a", "b", "c"])
    'a, b or c'
    """
    if len(items) > most:
        items = [*items[: most - 1], f"{len(items) - most + 1} others"]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}"


def shown_value(value: object) -> str:
    """A constant as a person would type it on the command line."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (tuple, frozenset)):
        items = sorted(value, key=str) if isinstance(value, frozenset) else list(value)
        return "[" + ", ".join(shown_value(v) for v in items) + "]"
    if isinstance(value, str):
        return _ENUM.sub("", value) if value else "an empty text"
    return f"{value:g}" if isinstance(value, float) else str(value)
