"""Guards with a loop in them: what does not ask for the element is asked outside of the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, all_of, node, rebuild, walk
from kvsolve.upstream.reader.log import free_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["guarded", "hoisted", "simple"]

_LISTS = frozenset(["attr", "getattr"])


def hoisted(operand: Operand) -> Operand:
    """The operand with the constant conjuncts of each loop's body before the loop."""
    if not isinstance(operand, Expr):
        return operand
    if operand.op != "any":
        return rebuild(operand, hoisted)
    number, iterable, body = operand.args
    body = hoisted(body)
    parts = body.args if isinstance(body, Expr) and body.op == "and" else (body,)
    outside = [p for p in parts if not free_variables(p)]
    inside = all_of(*(p for p in parts if free_variables(p)))
    if inside is not True:
        return all_of(*outside, node("any", number, iterable, inside))
    ranged = isinstance(iterable, Expr) and iterable.op == "call" and len(iterable.args) == 2
    return all_of(*outside, node("gt", iterable.args[1], 0) if ranged else iterable)


def simple(guard: Expr) -> bool:
    """Whether each loop runs over a range or a list of the model, and asks no flag within."""
    for term in walk(guard):
        if term.op != "any":
            continue
        _, iterable, body = term.args
        ranged = (
            isinstance(iterable, Expr) and iterable.op == "call" and iterable.args[0] == "range"
        )
        if not ranged and not (isinstance(iterable, Expr) and iterable.op in _LISTS):
            return False
        if any(inner.op in ("any", "ref") for inner in walk(body)):
            return False
    return True


def guarded(operand: Operand, needs: Mapping[int, Sequence[Operand]]) -> Operand:
    """The operand in which each loop asks what its body needs before the body."""
    if not isinstance(operand, Expr):
        return operand
    if operand.op != "any":
        return rebuild(operand, lambda part: guarded(part, needs))
    number, iterable, body = operand.args
    return node("any", number, iterable, all_of(*needs.get(number, ()), body))
