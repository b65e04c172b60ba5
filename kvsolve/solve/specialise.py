"""Partial evaluation of a program in a context: facts and held flags are folded away.

Two results are made from one pass. The *residual program* keeps upstream's order with the surviving
steps and runs fast on many configurations. The *inlined* view writes every condition as one term
over the given values only (single assignment undone), which is what constraints are made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kvsolve.model.expression import (
    Expr,
    Operand,
    all_of,
    if_,
    is_constant,
    raw,
    substitute,
    walk,
)
from kvsolve.model.program import Let, Need, Program, Refuse, Set, Step

__all__ = ["Inlined", "Residual", "inline", "specialise"]


@dataclass(frozen=True, slots=True)
class Residual:
    """What is left of a program once facts and held flags are folded away.

    Attributes:
        program: The surviving steps.
        origin: For each surviving step its position in the full program.
        constants: Final values of slots that are the same for every configuration.
    """

    program: Program
    origin: tuple[int, ...]
    constants: Mapping[str, Any]


class _Folder:
    """Rewrites terms under known facts and slot values."""

    def __init__(self, facts: Mapping[str, Any], held: Mapping[str, Any]) -> None:
        self.facts = facts
        self.slots: dict[tuple[str, int], Operand] = {
            (name, 0): value for name, value in held.items() if is_constant(value)
        }
        self.memo: dict[Expr, Operand] = {}

    def fold(self, operand: Operand) -> Operand:
        return substitute(operand, self.leaf, self.memo)

    def leaf(self, term: Expr) -> Operand:
        if term.op == "ref":
            return self.slots.get((term.args[0], term.args[1]), term)
        if term.op == "fact":
            value = self.facts.get(term.args[0], term)
            return value if is_constant(value) else term
        if term.op == "env":
            found = self.facts["environ"].get(term.args[0])
            return term.args[1] if found is None else str(found)
        if term.op == "env_is_set":
            return term.args[0] in self.facts["environ"]
        return term


def _fold_facts(term: Operand, facts: Mapping[str, Any]) -> Operand:
    """Evaluate a term that reads facts only, if it gives a constant."""
    from kvsolve.packs.evaluate import Interpreter

    if not isinstance(term, Expr):
        return term
    try:
        value = Interpreter({}, facts).value(term)
    except Exception:
        return term
    if isinstance(value, list) and is_constant(tuple(value)):
        return term
    return value if is_constant(value) else term


class _FactFolder(_Folder):
    """Also evaluates whole terms that only read facts, such as attributes of the model's config."""

    def __init__(self, facts: Mapping[str, Any], held: Mapping[str, Any]) -> None:
        super().__init__(facts, held)
        self.free: dict[Expr, bool] = {}

    def fold(self, operand: Operand) -> Operand:
        return self.reduce(substitute(operand, self.leaf, self.memo))

    def reduce(self, operand: Operand) -> Operand:
        return operand
