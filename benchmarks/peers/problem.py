"""What every solver is given: a specialised pack as plain data, and the questions about it.

Nothing here imports kvsolve, so that a peer can read a problem in an environment without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Model", "Problem", "Query", "Rule", "Switched"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry as a Python function.

    Attributes:
        scope: Positions of the flags that it reads.
        source: A function ``allows`` of their classes, in the order of the scope.
    """

    scope: tuple[int, ...]
    source: str

    def compiled(self) -> Any:
        """The function."""
        namespace: dict[str, Any] = {}
        exec(self.source, namespace)
        return namespace["allows"]


@dataclass(frozen=True, slots=True)
class Model:
    """Flags and what must hold of them.

    Attributes:
        flags: Dest of each flag.
        sizes: How many classes of values each has; class 0 is that of the first state.
        literals: For each flag the literal of each class; none where there is but one class.
        texts: The product's own exports, by name of the format.
        rules: The entries, for solvers that take functions.
    """

    flags: tuple[str, ...]
    sizes: tuple[int, ...]
    literals: tuple[tuple[int, ...], ...]
    texts: dict[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Switched:
    """Clauses in which every entry has a literal that switches it on.

    Attributes:
        clauses: The clauses; their literals of classes are those of the model.
        top: The largest variable.
        switches: The literals of the entries.
    """

    clauses: list[list[int]]
    top: int
    switches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A command.

    Attributes:
        typed: Dest and value of each flag that it gives.
        start: The class of each flag in it.
        costs: For each flag and class what it costs to go there; None where it may not.
        pins: Positions of the flags given.
    """

    typed: tuple[tuple[str, Any], ...]
    start: tuple[int, ...]
    costs: tuple[tuple[int | None, ...], ...]
    pins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A context and the questions about it.

    Attributes:
        release: As in ``0.5.23``.
        gpu: Name of the GPU profile.
        model: Model profile or Hub id.
        copies: How many disjoint copies of the program it consists of.
        refusing: Every modelled flag; what nothing refuses holds.
        valid: The same, but what lacks a fact does not hold either.
        switched: The entries of ``refusing``, each with a switch.
        scope: The flags of the first scope, all others held; a class for each value.
        product: A few flags whose values have about 400,000 combinations, all others held.
        wide: The same with more than a million valid ones.
        invalid: Commands that something refuses.
        stuck: Commands that cannot be mended while everything typed stays.
        partial: Valid commands, to be asked what else is open.
        pending: How many entries are in none of the models.
    """

    release: str
    gpu: str
    model: str
    copies: int
    refusing: Model
    valid: Model
    switched: Switched
    scope: Model
    product: Model
    wide: Model
    invalid: tuple[Query, ...]
    stuck: tuple[Query, ...]
    partial: tuple[Query, ...]
    pending: int

    @property
    def title(self) -> str:
        """How it is called in tables."""
        times = f", {self.copies} copies" if self.copies > 1 else ""
        return f"{self.release}, {self.gpu}, {self.model}{times}"
