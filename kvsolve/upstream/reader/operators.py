"""Arithmetic, comparisons and membership over values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, Operand, all_of, any_of, is_constant, negate, node, raw
from kvsolve.upstream.reader import attributes, iteration
from kvsolve.upstream.reader.safety import tight
from kvsolve.upstream.reader.state import Sequence, Table, merge_values
from kvsolve.upstream.reader.values import (
    ClassValue,
    Dead,
    External,
    HeapRef,
    Union,
    Unreadable,
    Value,
    is_operand,
)

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = ["binary", "compare", "contains", "equal", "identical", "is_set", "overlay"]

_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.BitOr: "bitor",
    ast.BitAnd: "bitand",
    ast.BitXor: "bitxor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


def binary(run: Run, operator: type[ast.operator], a: Value, b: Value) -> Value:
    """``a operator b``."""
    op = _ARITHMETIC.get(operator)
    if op is None:
        raise Unreadable(f"operator {operator.__name__}")
    if op == "mod" and (isinstance(a, str) or _is_text(a)):
        return raw("opaque", "formatted text")
    if isinstance(a, Union):
        return merge_values(
            run, a.test, binary(run, operator, a.then, b), binary(run, operator, a.other, b)
        )
    if isinstance(a, HeapRef) or isinstance(b, HeapRef):
        return _collections(run, op, a, b)
    if isinstance(a, tuple) and isinstance(b, tuple) and op == "add":
        return a + b
    if op == "bitor" and isinstance(b, (ClassValue, External)):
        return (*(a if isinstance(a, tuple) else (a,)), b)
    result = node(op, run.operand(a), run.operand(b))
    if isinstance(result, Expr) and result.op == "crash":
        raise Dead(result.args[0])
    return result


def _is_text(value: Value) -> bool:
    return isinstance(value, Expr) and value.op == "opaque" and value.args[0] == "formatted text"


def _collections(run: Run, op: str, a: Value, b: Value) -> Value:
    if op == "add":
        if iteration.iterable(run, a) and iteration.iterable(run, b):
            pairs = (*iteration.items(run, a), *iteration.items(run, b))
            return run.allocate(Sequence("list", pairs))
        return node("add", *(node("call", "list", run.operand(x)) for x in (a, b)))
    payload = run.payload(a) if isinstance(a, HeapRef) else None
    if op == "bitor" and isinstance(payload, Table):
        merged = dict(payload.entries)
        for key, (there, item) in iteration.table_of(run, b).entries.items():
            merged[key] = overlay(run, merged.get(key), there, item)
        return run.allocate(Table(merged))
    if op == "bitor":
        return run.allocate(Sequence("set", (*iteration.items(run, a), *iteration.items(run, b))))
    if op in ("bitand", "sub"):
        return filtered(run, a, b, op == "bitand")
    if op == "mul" and isinstance(b, int) and isinstance(payload, Sequence):
        return run.allocate(Sequence("list", payload.items * b))
    return node(op, run.operand(a), run.operand(b))


def filtered(run: Run, a: Value, b: Value, inside: bool) -> Value:
    """The set of the items of ``a`` that are (or are not) in ``b``."""
    if not iteration.iterable(run, a):
        return node(
            "bitand" if inside else "sub", *(node("call", "set", run.operand(x)) for x in (a, b))
        )
    pairs = []
    for there, item in iteration.items(run, a):
        held = contains(run, item, b)
        pairs.append((all_of(there, held if inside else negate(held)), item))
    return run.allocate(Sequence("set", tuple((c, x) for c, x in pairs if c is not False)))


def overlay(
    run: Run, old: tuple[Operand, Value] | None, there: Operand, item: Value
) -> tuple[Operand, Value]:
    """A dictionary entry after another one, that may be absent, was written over it."""
    if old is None or there is True:
        return there, item
    return any_of(there, old[0]), merge_values(run, there, item, old[1])


def is_set(run: Run, value: Value) -> bool:
    """Tell whether a value is a set of known items."""
    if isinstance(value, HeapRef):
        payload = run.payload(value)
        return isinstance(payload, Sequence) and payload.kind == "set"
    return isinstance(value, frozenset)


def compare(run: Run, operator: type[ast.cmpop], a: Value, b: Value) -> Operand:
    """``a operator b`` for one comparison operator."""
    if operator is ast.In:
        return contains(run, a, b)
    if operator is ast.NotIn:
        return negate(contains(run, a, b))
    if operator is ast.Eq:
        return equal(run, a, b)
    if operator is ast.NotEq:
        return negate(equal(run, a, b))
    if operator is ast.Is:
        return identical(run, a, b)
    if operator is ast.IsNot:
        return negate(identical(run, a, b))
    if is_set(run, a) and is_set(run, b):
        return _subset(run, operator, a, b)
    return run.assumed.simplify(node(_ORDER[operator], run.operand(a), run.operand(b)))


def _subset(run: Run, operator: type[ast.cmpop], a: Value, b: Value) -> Operand:
    small, large = (b, a) if operator in (ast.GtE, ast.Gt) else (a, b)
    pairs = iteration.items(run, small)
    inside = all_of(*(any_of(negate(c), contains(run, x, large)) for c, x in pairs))
    if operator in (ast.LtE, ast.GtE):
        return inside
    others = iteration.items(run, large)
    return all_of(inside, any_of(*(all_of(c, negate(contains(run, x, small))) for c, x in others)))


def contains(run: Run, item: Value, collection: Value) -> Operand:
    """``item in collection``."""
    if isinstance(collection, Union):
        return node("if", collection.test, contains(run, item, collection.then),
                    contains(run, item, collection.other))  # fmt: skip
    if isinstance(item, Union):
        return node("if", item.test, contains(run, item.then, collection),
                    contains(run, item.other, collection))  # fmt: skip
    if isinstance(collection, External) and collection.name == "os.environ":
        return node("is_not", attributes.environment(run, item, None), None)
    if isinstance(collection, (HeapRef, tuple, frozenset)):
        return _among(run, item, iteration.items(run, collection))
    container = run.operand(collection)
    if container is None or isinstance(container, (int, float)):
        raise Dead("TypeError")
    return run.assumed.simplify(node("in", run.operand(item), container))


def _among(run: Run, item: Value, pairs: list[tuple[Operand, Value]]) -> Operand:
    if is_operand(item) and all(c is True and is_constant(x) for c, x in pairs):
        return run.assumed.simplify(node("in", item, tuple(x for _, x in pairs)))
    return any_of(*(all_of(c, equal(run, item, x)) for c, x in pairs))


def equal(run: Run, a: Value, b: Value) -> Operand:
    """``a == b``."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Union):
            return node("if", x.test, equal(run, x.then, y), equal(run, x.other, y))
    if isinstance(a, tuple) and isinstance(b, tuple) and not (is_constant(a) and is_constant(b)):
        if len(a) != len(b):
            return False
        return all_of(*(equal(run, x, y) for x, y in zip(a, b, strict=True)))
    if isinstance(a, HeapRef) and a == b:
        return True
    if isinstance(a, External) and isinstance(b, External):
        return run.unknown() if run.wary and a.name != b.name else a.name == b.name
    told = node("eq", run.operand(a), run.operand(b))
    return run.assumed.simplify(tight(told) if run.wary else told)


def unsaid(run: Run, value: Value) -> bool:
    """Whether a value stands for something that was not followed."""
    if isinstance(value, External):
        return True
    return isinstance(value, Expr) and not run.known(value)


def identical(run: Run, a: Value, b: Value) -> Operand:
    """``a is b``."""
    if run.wary and (unsaid(run, a) or unsaid(run, b)):
        return run.unknown()
    if run.wary and b is None and a == raw("fact", "config"):
        return False
    if run.wary and (isinstance(a, str) or isinstance(b, str)):
        return equal(run, a, b)  # members of enumerations, which texts stand for here
    if isinstance(a, Union):
        return node("if", a.test, identical(run, a.then, b), identical(run, a.other, b))
    if b is None or isinstance(b, bool):
        return run.assumed.simplify(node("is", a, b)) if is_operand(a) else False
    if isinstance(a, Expr) or isinstance(b, Expr):
        return node("is", run.operand(a), run.operand(b))
    if is_operand(a) and is_operand(b):
        return node("is", a, b)
    return a is b or (type(a) is type(b) and bool(_same_thing(a, b)))


def _same_thing(a: Any, b: Any) -> bool:
    return a == b or getattr(a, "node", a) is getattr(b, "node", None)
