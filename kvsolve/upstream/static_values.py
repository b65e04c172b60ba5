"""What an expression of a release's source can stand for when it is read and not run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

__all__ = [
    "Class",
    "External",
    "Function",
    "Growing",
    "Member",
    "Module",
    "Scope",
    "UnreadableError",
]


class UnreadableError(KvsolveError):
    """An expression of the release is outside of what can be read statically."""


@dataclass(frozen=True, slots=True)
class External:
    """Something outside of the release, known by its dotted name only."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration."""

    name: str
    value: Any


class Growing(set[Any]):
    """A set of choices that an environment variable may extend.

    Attributes:
        by_env: (variable, further value) pairs.
    """

    by_env: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, values: Iterable[Any]) -> Growing:
        """A copy that keeps the environment's part."""
        made = cls(values)
        made.by_env = getattr(values, "by_env", ())
        return made


@dataclass(slots=True)
class Scope:
    """Names that are visible at a place: local ones first, then the parent's."""

    module: str
    names: dict[str, Any] = field(default_factory=dict)
    parent: Scope | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the release."""

    path: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the release."""

    path: str
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the release."""

    path: str
    node: ast.FunctionDef
