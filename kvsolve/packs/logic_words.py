"""Conditionals and choices of the entry language as the logic that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import (
    Expr,
    Operand,
    all_of,
    any_of,
    is_constant,
    negate,
    raw,
    same,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["as_logic", "conjuncts", "exclusions_joined", "members", "without_implied"]


def members(value: Any) -> list[Any]:
    """The values of a constant collection in a stable order; a single value as a list of one."""
    if isinstance(value, frozenset):
        return sorted(value, key=str)
    return list(value) if isinstance(value, tuple) else [value]


def as_logic(operand: Expr) -> Expr:
    """A conditional between a condition and itself or a constant, as what it is: logic; a choice
    between values of one thing, as membership."""
    if operand.op == "or":
        return _membership_of(operand) or operand
    if operand.op != "if":
        return operand
    test, then, other = operand.args
    if same(then, test) or then is True:
        return _logic("or", test, other)
    if same(other, test) or other is False:
        return _logic("and", test, then)
    if then is False:
        return _logic("and", negate(test), other)
    if other is True:
        return _logic("or", negate(test), then)
    return operand


def _membership_of(operand: Expr) -> Expr | None:
    """``x == a or x in (b, c)`` as ``x in (a, b, c)``."""
    subject: Operand = None
    values: list[Any] = []
    for part in operand.args:
        if not isinstance(part, Expr) or part.op not in ("eq", "in"):
            return None
        if not is_constant(part.args[1]) or (values and not same(part.args[0], subject)):
            return None
        subject = part.args[0]
        values += members(part.args[1]) if part.op == "in" else [part.args[1]]
    return raw("in", subject, tuple(dict.fromkeys(values)))


def _logic(op: str, *parts: Operand) -> Expr:
    found = any_of(*parts) if op == "or" else all_of(*parts)
    return found if isinstance(found, Expr) else raw(op, *parts)


def conjuncts(operand: Operand, holds: bool = True) -> list[Operand]:
    """The conditions that must all hold, through negations and conditionals that are logic."""
    if not isinstance(operand, Expr):
        return [operand]
    term = as_logic(operand)
    if term.op == "not":
        return conjuncts(term.args[0], not holds)
    if term.op == "call" and term.args[0] == "bool":
        return conjuncts(term.args[1], holds)
    if term.op == ("and" if holds else "or"):
        return [part for a in term.args for part in conjuncts(a, holds)]
    return [term if holds else negate(term)]


def exclusions_joined(parts: list[Operand]) -> Iterator[Operand]:
    """Conditions with those that keep one thing from several values made one, at the first."""
    values: dict[Operand, list[Any]] = {}
    for part in parts:
        if (excluded := _excluded(part)) is not None:
            values.setdefault(excluded[0], []).extend(excluded[1])
    told: set[Operand] = set()
    for part in parts:
        excluded = _excluded(part)
        if excluded is None or len(values[excluded[0]]) == 1:
            yield part
        elif excluded[0] not in told:
            told.add(excluded[0])
            yield raw("not_in", excluded[0], tuple(dict.fromkeys(values[excluded[0]])))


def _excluded(part: Operand) -> tuple[Operand, list[Any]] | None:
    """What a condition speaks of and the values that it keeps it from."""
    if not isinstance(part, Expr) or part.op not in ("ne", "not_in"):
        return None
    subject, value = part.args
    if not isinstance(subject, Expr) or not is_constant(value):
        return None
    many = part.op == "not_in" and isinstance(value, (tuple, frozenset))
    return subject, sorted(value, key=str) if many else [value]


def without_implied(parts: list[Operand]) -> list[Operand]:
    """Conditions without those that an equality beside them makes plain."""
    decided = {
        p.args[0]
        for p in parts
        if isinstance(p, Expr) and p.op in ("eq", "in") and is_constant(p.args[1])
    }
    return [p for p in parts if not (isinstance(p, Expr) and _is_implied(p, decided))]


def _is_implied(part: Expr, decided: set[Operand]) -> bool:
    if part.op == "not" and isinstance(part.args[0], Expr) and part.args[0].op == "or":
        return all(isinstance(p, Expr) and _is_unset(p, decided) for p in part.args[0].args)
    if part.op not in ("ne", "not_in", "is_not") or not is_constant(part.args[1]):
        return False
    return part.args[0] in decided


def _is_unset(part: Expr, decided: set[Operand]) -> bool:
    return part.op == "is" and part.args[1] is None and bool(decided)
