"""Outcomes with all ordinary numbers taken for one, and all lists for one.

Enough to tell where a calculation has a value at all, and far fewer than its numbers.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from kvsolve.solve.lowering.evaluating import Bindings, apply, operation_of
from kvsolve.solve.lowering.gates import FALSE
from kvsolve.solve.lowering.listing import MARKS, Listing, Outcomes
from kvsolve.solve.lowering.terms import NUMERIC
from kvsolve.solve.network import CRASHED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kvsolve.model.expression import Expr, Operand
    from kvsolve.solve.lowering.gates import Gates
    from kvsolve.solve.lowering.outcomes import Encoder

__all__ = ["LIST", "NUMBER", "Kinds", "kinds_of"]

_HUGE = 1e100


class _Kind:
    """Stands for any value of a kind."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


NUMBER, LIST = _Kind("NUMBER"), _Kind("LIST")


class Kinds:
    """Finds the kinds of terms.

    Args:
        encoder: Gives the kinds and outcomes of the parts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.gates = encoder.gates

    def of(self, term: Expr, bound: Bindings) -> Outcomes:
        """The kinds of a term."""
        if self.encoder.varies(term):
            if term.op == "if":
                return self.encoder.combiner.conditional(term, bound, self.encoder.kinds)
            if term.op in NUMERIC:
                return self.of_operation(term, term.args, bound)
            if term.op == "call" and term.args[0] in NUMERIC:
                return self.of_operation(term, term.args[1:], bound)
        return self._exact(term, bound)

    def of_operation(self, term: Expr, operands: Sequence[Operand], bound: Bindings) -> Outcomes:
        """Kinds of an operation on numbers; computed exactly where something else takes part."""
        divides = term.op in ("floordiv", "mod", "truediv", "pow")
        maps = [self.encoder.kinds(operand, bound) for operand in operands]
        if divides:
            maps[-1] = self.encoder.outcomes(operands[-1], bound)
        operation = operation_of(term, self.encoder.facts)
        listing = Listing()
        for row in product(*(m.values() for m in maps)):
            literal = self.gates.both(*[under for _, under in row])
            if literal == FALSE:
                continue
            parts = [value for value, _ in row]
            result = _computed(term, operation, parts, divides)
            if result is None:
                return self._exact(term, bound)
            listing.note(*result, literal)
        return listing.joined(self.gates)

    def _exact(self, term: Expr, bound: Bindings) -> Outcomes:
        return kinds_of(self.encoder.outcomes(term, bound), self.gates)


def _computed(
    term: Expr, operation: Callable[..., Any], parts: Sequence[Any], divides: bool
) -> tuple[Any] | None:
    """The kind of an operation on kinds; None where kinds do not tell."""
    marks = [value for value in parts if value in MARKS]
    if marks:
        return (marks[0],)
    if all(_kind(part) is NUMBER for part in parts) and term.op != "pow":
        return (CRASHED if divides and not parts[-1] else NUMBER,)
    if term.op == "add" and all(_kind(part) is LIST for part in parts):
        return (LIST,)
    if any(_kind(part) is LIST or isinstance(part, (str, bytes)) for part in parts):
        return None
    return (_kind(apply(operation, tuple(1 if part is NUMBER else part for part in parts))),)


def kinds_of(outcomes: Outcomes, gates: Gates) -> Outcomes:
    """The kinds of some outcomes; one that several have holds where any of them does."""
    listing = Listing()
    for value, literal in outcomes.values():
        listing.note(_kind(value), literal)
    return listing.joined(gates)


def _kind(value: Any) -> Any:
    if isinstance(value, (int, float)) and -_HUGE < value < _HUGE:
        return NUMBER
    return LIST if isinstance(value, (list, tuple)) else value
