"""Guards that cannot break: where a part of one could not be computed, it does not hold.

A guard past argument resolution speaks of attributes that a configuration may lack or leave unset.
Upstream would break there; what a configuration class fills in is not always known, so the refusal
is left out instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, all_of, children, node, raw, rebuild, walk
from kvsolve.upstream.reader import quantified
from kvsolve.upstream.reader.log import free_variables, weight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.reader.run import Run

__all__ = ["never", "plain", "safe_guard", "shared_out", "tight"]

_ARITHMETIC = frozenset(["add", "sub", "mul", "neg", "lt", "le", "gt", "ge"])
_DIVISION = frozenset(["floordiv", "mod", "truediv"])
_SAFE_CALLS = frozenset(["max", "min", "abs", "bool", "str", "len", "range", "json", "int"])
_BREAKING = frozenset(["slice", "pow", "bitor", "bitand", "lshift", "rshift"])
_PLATFORMS = frozenset(f"gpu.is_{kind}" for kind in ("cuda", "hip", "npu", "xpu", "cpu", "musa"))
"""A machine is of one of these at most."""
_PLAIN = frozenset(["attr", "getattr", "ref", "fact"])


def plain(guard: Operand) -> Operand:
    """A guard without what only its reading brought in.

    A loop over a range is entered where the range is not empty, and a model's configuration is an
    object, not a dictionary.
    """
    if not isinstance(guard, Expr):
        return guard
    parts = guard.args if guard.op == "and" else (guard,)
    return all_of(*(_entered(_as_object(part)) for part in parts))


def tight(operand: Operand, memo: dict[Expr, Operand] | None = None) -> Operand:
    """An operand without what a choice among names says twice.

    Where something equals one name it differs from every other.
    """
    memo = {} if memo is None else memo
    if not isinstance(operand, Expr):
        return operand
    if operand not in memo:
        inner = rebuild(operand, lambda part: tight(part, memo))
        memo[operand] = _chosen(inner) if isinstance(inner, Expr) else inner
    return memo[operand]


def never(operand: Operand) -> bool:
    """Whether the parts of a condition exclude each other, by platform or by the value of one."""
    if not isinstance(operand, Expr) or operand.op != "and":
        return operand is False
    parts = [p for p in operand.args if isinstance(p, Expr)]
    if sum(part.op == "fact" and part.args[0] in _PLATFORMS for part in parts) > 1:
        return True
    if any(p.op == "not" and _all_of_them(p.args[0], parts) for p in parts):
        return True
    named = {p.args[0]: p.args[1] for p in parts if _compares(p, "eq")}
    among = [p for p in parts if p.op == "in" and isinstance(p.args[1], tuple)]
    return any(named.get(p.args[0], p.args[1][0]) not in p.args[1] for p in among if p.args[1])


def _all_of_them(operand: Operand, parts: list[Expr]) -> bool:
    """Whether each part of a conjunction is among the parts of another one."""
    return isinstance(operand, Expr) and operand.op == "and" and set(operand.args) <= set(parts)


def _chosen(term: Expr) -> Operand:
    if term.op not in ("and", "or"):
        return term
    says, other = ("eq", "ne") if term.op == "and" else ("ne", "eq")
    named = {part.args[0]: part.args[1] for part in term.args if _compares(part, says)}
    kept = [p for p in term.args if not (_compares(p, other) and p.args[0] in named
                                         and named[p.args[0]] != p.args[1])]  # fmt: skip
    if any(_compares(p, says) and named[p.args[0]] != p.args[1] for p in kept):
        return term.op == "or"
    return term if len(kept) == len(term.args) else node(term.op, *kept)


def _compares(part: Operand, op: str) -> bool:
    return isinstance(part, Expr) and part.op == op and isinstance(part.args[1], str)


def _entered(part: Operand) -> Operand:
    if isinstance(part, Expr) and part.op == "call" and part.args[0] == "range":
        return node("gt", part.args[1], 0) if len(part.args) == 2 else part
    return part


def _as_object(operand: Operand) -> Operand:
    if not isinstance(operand, Expr):
        return operand
    if operand.op == "isinstance" and operand.args[0] == raw("fact", "config"):
        return False if operand.args[1:] == ("dict",) else operand
    if operand.op in ("is", "is_not") and operand.args == (raw("fact", "config"), None):
        return operand.op == "is_not"
    return rebuild(operand, _as_object)


def shared_out(operand: Operand) -> Operand:
    """An operand in which nothing is shared among fewer than one: flags divide as ``max(1, x)``.

    A width below one is refused elsewhere, and is no matter of what it divides.
    """
    if not isinstance(operand, Expr):
        return operand
    if operand.op not in _DIVISION:
        return rebuild(operand, shared_out)
    over = shared_out(operand.args[1])
    flags = isinstance(over, Expr) and any(t.op == "ref" for t in walk(over))
    if isinstance(over, Expr) and flags and not _at_least_one(over):
        over = raw("call", "max", 1, over)
    return node(operand.op, shared_out(operand.args[0]), over)


def safe_guard(run: Run, guard: Expr, *, strict: bool = False) -> Operand | None:
    """The guard with what it needs asked before it; None where that cannot be asked.

    Args:
        run: The run.
        guard: The guard.
        strict: Whether items and calls of conversions count as what cannot be asked.
    """
    shared = quantified.hoisted(shared_out(guard))
    if not isinstance(shared, Expr):
        return shared
    guard = shared
    if not quantified.simple(guard):
        return None
    needs: dict[Operand, None] = {}
    inside: dict[int, dict[Operand, None]] = {}
    for term in sorted(dict.fromkeys(walk(guard)), key=weight):
        if not _computable(term) or (strict and _converts(term)):
            return None
        for need in _needs(run, term):
            bound = free_variables(need)
            for number in bound:
                inside.setdefault(number, {})[need] = None
            if not bound:
                needs[need] = None
    lists = {number: list(found) for number, found in inside.items()}
    return all_of(*_leading(run, guard), *needs, quantified.guarded(guard, lists))


def _leading(run: Run, guard: Expr) -> Iterator[Operand]:
    """The parts of a condition that upstream asks before the first that needs anything.

    They stay in front: a fact that is missing is then not asked for where it has no part.
    """
    for part in guard.args if guard.op == "and" else ():
        if any(True for term in walk(part) for _ in _needs(run, term)):
            return
        yield part


def _converts(term: Expr) -> bool:
    return term.op == "item" or (term.op == "call" and term.args[0] in ("range", "json", "int"))


def _computable(term: Expr) -> bool:
    if term.op == "item":
        return _looked_up(term)
    if term.op == "call":
        return term.args[0] in _SAFE_CALLS or _of_constant(term)
    return term.op not in _BREAKING


def _of_constant(term: Expr) -> bool:
    return term.args[0] in ("list", "tuple", "set") and not isinstance(term.args[1], Expr)


def _looked_up(term: Expr) -> bool:
    """Whether it is an item that can be asked for before it is taken."""
    owner, key = term.args
    plain_owner = isinstance(owner, Expr) and owner.op in ("attr", "getattr", "fact", "item")
    variable = isinstance(key, Expr) and key.op == "var"
    return plain_owner and (variable or (isinstance(key, (str, int)) and key is not True))


def _needs(run: Run, term: Expr) -> Iterator[Operand]:
    if term.op == "attr":
        yield node("hasattr", term.args[0], term.args[1])
    elif term.op == "item":
        yield _given(term.args[0])
        yield _there(*term.args)
    elif term.op in _DIVISION:
        yield from (_given(c) for c in children(term) if _may_lack(run, c))
        if isinstance(term.args[1], Expr) and not _at_least_one(term.args[1]):
            yield node("ne", term.args[1], 0)
    elif term.op == "call" and term.args[0] == "int":
        yield from (node("isinstance", c, "int") for c in children(term) if isinstance(c, Expr))
    elif term.op in _ARITHMETIC or (term.op == "call" and term.args[0] != "bool"):
        yield from (_given(c) for c in children(term) if _may_lack(run, c))
    elif term.op == "method":
        if _may_lack(run, term.args[0]):
            yield _given(term.args[0])
    elif term.op in ("in", "not_in") and _may_lack(run, term.args[1]):
        yield _given(term.args[1])


def _there(owner: Operand, key: Operand) -> Operand:
    """Whether a list or dictionary has an item."""
    if isinstance(key, str):
        return node("in", key, owner)
    least = -key if isinstance(key, int) and key < 0 else node("add", key, 1)
    return node("ge", node("call", "len", owner), least)


def _at_least_one(term: Expr) -> bool:
    return term.op == "call" and term.args[:2] == ("max", 1)


def _may_lack(run: Run, operand: Operand) -> bool:
    return isinstance(operand, Expr) and operand.op in _PLAIN and run.may_be_none(operand)


def _given(operand: Operand) -> Operand:
    return node("is_not", operand, None)
