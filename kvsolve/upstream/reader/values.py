"""What a variable can hold while a release is read.

A value is an operand of the entry language (a constant or a term), a Python tuple of values, or
one of the classes below. Objects with identity live in the state; :class:`HeapRef` points there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from kvsolve.model.expression import Expr, is_constant

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from kvsolve.upstream.reader.modules import Module

__all__ = [
    "ABSENT",
    "RECORD",
    "AnyFunction",
    "BoundMethod",
    "ClassValue",
    "ConfigObject",
    "Dead",
    "Ended",
    "EnvTable",
    "EnvVariable",
    "External",
    "Frame",
    "FunctionValue",
    "HeapRef",
    "ModuleValue",
    "Partial",
    "Platform",
    "Record",
    "Stash",
    "Super",
    "Union",
    "Unreadable",
    "Value",
    "View",
    "is_operand",
    "is_plain",
]

Value: TypeAlias = Any
AnyFunction: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"


class Unreadable(Exception):
    """The reader does not model this construct; the text says what."""


class Dead(Exception):
    """Evaluation cannot go on here: upstream raises the exception named in ``args[0]``."""


class Ended(Dead):
    """No path goes on: each one raised, and that is noted already."""

    def __init__(self) -> None:
        super().__init__("")


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class HeapRef:
    """An object with identity: list, set, dictionary or instance."""

    number: int


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a name is looked up.

    Attributes:
        module: The module whose globals are seen.
        number: The call whose locals are seen, or None at module level.
        nonlocals: Names that the function declares ``nonlocal``.
        owner: The class whose body is being read.
    """

    module: Module
    number: int | None = None
    nonlocals: frozenset[str] = frozenset()
    owner: ClassValue | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ClassValue:
    """A class of the release."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        """The class's own name."""
        return self.node.name


@dataclass(frozen=True, eq=False, slots=True)
class FunctionValue:
    """A function of the release, with what it closes over.

    Attributes:
        scope: Number of the call it was defined in, or None at module level.
        bound: What ``self`` or ``cls`` is, or ABSENT for a plain function.
        owner: The class it was found in.
    """

    module: Module
    node: AnyFunction
    scope: int | None = None
    bound: Value = ABSENT
    owner: ClassValue | None = None

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.node, "name", "<lambda>")

    @property
    def symbol(self) -> str:
        """``Class.method``, or the plain name."""
        return f"{self.owner.name}.{self.name}" if self.owner else self.name

    @property
    def dotted(self) -> str:
        """``module:symbol``, as the fact table spells it."""
        return f"{self.module.name}:{self.symbol}"


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module of the release."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something outside the release (or a builtin), known by its dotted name only."""

    name: str


class Record:
    """The server arguments themselves: reads and writes see the fields as written."""


RECORD = Record()


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """The fields overlaid by the declarations; a snapshot keeps the state it was taken in."""

    snapshot: Mapping[tuple[Any, ...], Value] | None = None


@dataclass(frozen=True, slots=True)
class ConfigObject:
    """A ModelConfig: ``root`` is ``model`` or ``draft``, under which its facts are named."""

    root: str


@dataclass(frozen=True, slots=True)
class EnvTable:
    """The release's table of environment variables."""


@dataclass(frozen=True, slots=True)
class EnvVariable:
    """One entry of that table."""

    name: str


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform object (``methods`` false) or the platform plug-in (``methods`` true)."""

    methods: bool


@dataclass(frozen=True, slots=True)
class Stash:
    """The list that upstream collects declarations in."""


@dataclass(frozen=True, eq=False, slots=True)
class Super:
    """``super()`` within a method: what the class ``owner`` inherits, on the object ``bound``."""

    owner: ClassValue
    bound: Value


@dataclass(frozen=True, eq=False, slots=True)
class BoundMethod:
    """A method of a modelled value that has no source of its own."""

    owner: Value
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Partial:
    """A callable with some arguments given already."""

    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Union:
    """One of two values that cannot be written as one term.

    Attributes:
        named: The slot that holds the value, where there is one; it prints shorter.
    """

    test: Expr
    then: Value
    other: Value
    named: Expr | None = field(default=None)


def is_operand(value: object) -> bool:
    """Tell whether a value is a constant or a term."""
    return isinstance(value, Expr) or is_constant(value)


def is_plain(value: object) -> bool:
    """Tell whether a value is a constant."""
    return is_constant(value)
