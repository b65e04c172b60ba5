"""The growing program: steps in upstream's order, slot versions, and names of results."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field

from kvsolve.model.expression import FUNCTIONS, METHODS, Expr, Operand, children, raw
from kvsolve.model.program import Let, Need, Place, Refuse, Set, Step
from kvsolve.model.syntax import FACT_ROOTS

__all__ = ["Log", "free_variables", "weight"]

_RESERVED = frozenset(
    [
        *FACT_ROOTS,
        *FUNCTIONS,
        *METHODS,
        *keyword.kwlist,
        "raw",
        "given",
        "environ",
        "is_set",
        "helper",
        "opaque",
        "crash",
        "pick",
        "table",
        "isinstance",
        "getattr",
        "hasattr",
    ]
)
_weights: dict[Expr, int] = {}
_variables: dict[Expr, frozenset[int]] = {}


def weight(operand: Operand) -> int:
    """Printed size of an operand in nodes; it is not shared in print, so it may be large."""
    if isinstance(operand, tuple):
        return 1 + sum(weight(part) for part in operand)
    if not isinstance(operand, Expr):
        return 1
    found = _weights.get(operand)
    if found is None:
        found = _weights[operand] = 1 + sum(weight(c) for c in children(operand))
    return found


def free_variables(operand: Operand) -> frozenset[int]:
    """Numbers of the variables that an operand leaves unbound."""
    if isinstance(operand, tuple):
        return frozenset().union(*map(free_variables, operand))
    if not isinstance(operand, Expr):
        return frozenset()
    found = _variables.get(operand)
    if found is None:
        if operand.op == "var":
            found = frozenset({operand.args[0]})
        else:
            found = frozenset().union(*map(free_variables, children(operand)))
            if operand.op in ("any", "collect"):
                found -= {operand.args[0 if operand.op == "any" else 1]}
        _variables[operand] = found
    return found


@dataclass(slots=True)
class Log:
    """Steps so far.

    Attributes:
        fields: Names that belong to flags.
        meaning: The value behind each slot version or named result.
    """

    fields: frozenset[str]
    steps: list[Step] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    meaning: dict[Expr, Operand] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    def let(self, wish: str, value: Operand, when: Operand, place: Place | None) -> Expr:
        """Name a result; gives the term that reads it."""
        name = self.free_name(wish)
        self.steps.append(Let(name, value, when, place))
        self.versions[name] = 1
        reference = raw("ref", name, 1)
        self.meaning[reference] = value
        return reference

    def set(self, name: str, value: Operand, when: Operand, place: Place, mode: str) -> Expr:
        """Write a slot; gives the term that reads its new version."""
        self.steps.append(Set(name, value, when, place, mode))
        self.versions[name] = self.versions.get(name, 0) + 1
        reference = self.current(name)
        self.meaning[reference] = value
        return reference

    def current(self, name: str) -> Expr:
        """The term that reads the newest version of a slot."""
        return raw("ref", name, self.versions.get(name, 0))

    def refuse(self, raises: str, when: Operand, place: Place, words: tuple[str, ...]) -> None:
        """Upstream raises."""
        self.steps.append(Refuse(raises, when, place, words=words))

    def need(self, value: Operand, when: Operand, place: Place) -> None:
        """Upstream evaluates something that can fail."""
        self.steps.append(Need(value, when, place))

    def rollback(self, mark: int) -> None:
        """Take back every step since the log had ``mark`` of them."""
        for step in self.steps[mark:]:
            if isinstance(step, (Let, Set)):
                self.versions[step.name] -= 1
        del self.steps[mark:]

    def free_name(self, wish: str) -> str:
        """The wished name made unique: letters, digits and underscores, numbered when repeated."""
        base = re.sub(r"\W+", "_", wish).strip("_").lower() or "result"
        if base[0].isdigit() or re.fullmatch(r"v\d+", base):
            base = f"of_{base}"
        if base in _RESERVED or base in self.fields:
            base += "_value"
        number = self.taken.get(base, 0) + 1
        self.taken[base] = number
        name = base if number == 1 else f"{base}_{number}"
        return name if number == 1 or name not in self.taken else self.free_name(name)
