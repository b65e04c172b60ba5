"""Evaluation of upstream's expressions to values."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import (
    Expr,
    Operand,
    all_of,
    any_of,
    is_constant,
    negate,
    node,
    raw,
)
from kvsolve.upstream.reader import (
    attributes,
    calls,
    iteration,
    loops,
    names,
    operators,
    statements,
)
from kvsolve.upstream.reader.assumptions import MESSAGE
from kvsolve.upstream.reader.state import Sequence, Table, merge_values
from kvsolve.upstream.reader.values import (
    Dead,
    External,
    Frame,
    FunctionValue,
    HeapRef,
    Union,
    Unreadable,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.upstream.reader.run import Run

__all__ = ["condition", "evaluate", "prune", "truth"]


def evaluate(run: Run, tree: ast.expr, frame: Frame) -> Value:
    """The value of an expression.

    Raises:
        Unreadable: It uses something that the reader does not model.
        Dead: Upstream raises in it on this path, whatever the flags are.
    """
    method = _EVALUATE.get(type(tree))
    if method is None:
        raise Unreadable(f"expression {type(tree).__name__}")
    return method(run, tree, frame)


def condition(run: Run, tree: ast.expr, frame: Frame) -> Operand:
    """The truth of an expression, folded under what is assumed."""
    return run.assumed.condition(truth(run, evaluate(run, tree, frame)))


def truth(run: Run, value: Value) -> Operand:
    """Whether a value counts as true."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, HeapRef):
        payload = run.payload(value)
        if isinstance(payload, Sequence):
            return any_of(*(c for c, _ in payload.items))
        if isinstance(payload, Table):
            return any_of(*(c for c, _ in payload.entries.values()))
        return True
    if isinstance(value, Union):
        return node("if", value.test, truth(run, value.then), truth(run, value.other))
    if isinstance(value, (tuple, range)):
        return len(value) > 0
    if run.wary and operators.unsaid(run, value):
        return run.unknown()
    if isinstance(value, External) and run.beyond and value.name not in dir(builtins):
        # What another package or an object that nobody built holds there may be anything.
        return raw("opaque", value.name)
    return bool(value) if is_constant(value) else True


def prune(run: Run, value: Value) -> Value:
    """The side of a two-way value that the path decides."""
    while isinstance(value, Union):
        test = run.assumed.condition(value.test)
        if isinstance(test, Expr):
            return value
        value = value.then if test else value.other
    if isinstance(value, Expr) and value in run.assumed.levels[-1].pinned:
        return run.assumed.levels[-1].pinned[value]
    if isinstance(value, Expr) and value.op in ("if", "ref"):
        folded = run.assumed.simplify(value)
        return folded if not isinstance(folded, Expr) or value.op == "if" else value
    return value


def _constant(run: Run, tree: ast.Constant, frame: Frame) -> Value:
    return tree.value


def _name(run: Run, tree: ast.Name, frame: Frame) -> Value:
    return prune(run, names.lookup(run, tree.id, frame))


def _text(run: Run, tree: ast.JoinedStr, frame: Frame) -> Value:
    parts: list[Operand] = []
    literal = any(isinstance(p, ast.Constant) and p.value for p in tree.values)
    unknown = raw("opaque", MESSAGE if literal else "formatted value")
    for part in tree.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        if part.conversion != -1 or part.format_spec is not None:
            return unknown
        try:
            value = run.operand(evaluate(run, part.value, frame))
        except (Unreadable, Dead):
            return unknown
        parts.append(node("call", "str", value))
    text: Operand = parts[0] if parts else ""
    for piece in parts[1:]:
        text = node("add", text, piece)
    return text


def _tuple(run: Run, tree: ast.Tuple | ast.List | ast.Set, frame: Frame) -> tuple[Value, ...]:
    out: list[Value] = []
    for element in tree.elts:
        if not isinstance(element, ast.Starred):
            out.append(evaluate(run, element, frame))
            continue
        for there, item in iteration.items(run, evaluate(run, element.value, frame)):
            if there is not True:
                raise Unreadable("unpacking of items that may be absent")
            out.append(item)
    return tuple(out)


def _list(run: Run, tree: ast.List, frame: Frame) -> Value:
    if any(isinstance(e, ast.Starred) for e in tree.elts):
        return _starred_list(run, tree, frame)
    return run.new_list(_tuple(run, tree, frame))


def _starred_list(run: Run, tree: ast.List, frame: Frame) -> Value:
    pairs: list[tuple[Operand, Value]] = []
    for element in tree.elts:
        if not isinstance(element, ast.Starred):
            pairs.append((True, evaluate(run, element, frame)))
            continue
        value = evaluate(run, element.value, frame)
        if len(tree.elts) == 1 and isinstance(value, Expr) and not iteration.iterable(run, value):
            return node("call", "list", value)
        pairs.extend(iteration.items(run, value))
    return run.allocate(Sequence("list", tuple(pairs)))


def _set(run: Run, tree: ast.Set, frame: Frame) -> Value:
    return run.new_list(_tuple(run, tree, frame), "set")


def _dict(run: Run, tree: ast.Dict, frame: Frame) -> Value:
    entries: dict[Any, tuple[Operand, Value]] = {}
    merged: Operand | None = None
    for key, value in zip(tree.keys, tree.values, strict=True):
        found = evaluate(run, value, frame)
        if key is not None:
            entries[run.operand(evaluate(run, key, frame))] = (True, found)
            continue
        try:
            spread = iteration.table_of(run, found)
        except Unreadable:
            merged = _overlaid(run, merged, entries)
            more = run.operand(found)
            merged, entries = more if merged is None else node("bitor", merged, more), {}
            continue
        for name, (there, item) in spread.entries.items():
            entries[name] = operators.overlay(run, entries.get(name), there, item)
    return run.allocate(Table(entries)) if merged is None else _overlaid(run, merged, entries)


def _overlaid(run: Run, merged: Operand, entries: dict[Any, tuple[Operand, Value]]) -> Operand:
    """A dictionary that is only known at run time, with known entries written over it."""
    if not entries:
        return merged
    more = run.operand(run.allocate(Table(entries)))
    return more if merged is None else node("bitor", merged, more)


def _lambda(run: Run, tree: ast.Lambda, frame: Frame) -> Value:
    return FunctionValue(frame.module, tree, frame.number)


def _walrus(run: Run, tree: ast.NamedExpr, frame: Frame) -> Value:
    value = evaluate(run, tree.value, frame)
    statements.assign(run, tree.target, value, frame)
    return value


def _attribute(run: Run, tree: ast.Attribute, frame: Frame) -> Value:
    return prune(run, attributes.read(run, evaluate(run, tree.value, frame), tree.attr))


def _subscript(run: Run, tree: ast.Subscript, frame: Frame) -> Value:
    owner = evaluate(run, tree.value, frame)
    if not isinstance(tree.slice, ast.Slice):
        return prune(run, attributes.item(run, owner, evaluate(run, tree.slice, frame)))
    bounds = [
        None if part is None else run.operand(evaluate(run, part, frame))
        for part in (tree.slice.lower, tree.slice.upper, tree.slice.step)
    ]
    return attributes.part(run, owner, *bounds)


def _bool_op(run: Run, tree: ast.BoolOp, frame: Frame) -> Value:
    first = evaluate(run, tree.values[0], frame)
    return _rest(run, first, tree.values[1:], isinstance(tree.op, ast.And), frame)


def _rest(run: Run, value: Value, rest: list[ast.expr], is_and: bool, frame: Frame) -> Value:
    """``value and rest...`` or ``value or rest...``."""
    if not rest:
        return value
    test = run.assumed.condition(truth(run, value))
    if not isinstance(test, Expr):
        if bool(test) is not is_and:
            return value
        return _rest(run, evaluate(run, rest[0], frame), rest[1:], is_and, frame)
    before = run.state
    run.state = dict(before)
    go_on = test if is_and else negate(test)
    with run.under(go_on):
        more = run.arm(lambda: _rest(run, evaluate(run, rest[0], frame), rest[1:], is_and, frame))
    run.state = run.merge(go_on, run.state, before)
    if (run.is_boolean(value) or isinstance(value, HeapRef)) and run.is_boolean(more):
        return all_of(test, more) if is_and else any_of(test, more)
    if run.is_boolean(value):
        return merge_values(run, test, more if is_and else True, False if is_and else more)
    return merge_values(run, test, *((more, value) if is_and else (value, more)))


def _unary(run: Run, tree: ast.UnaryOp, frame: Frame) -> Value:
    value = evaluate(run, tree.operand, frame)
    if isinstance(tree.op, ast.Not):
        return negate(run.assumed.condition(truth(run, value)))
    if isinstance(tree.op, ast.USub):
        return node("neg", run.operand(value))
    if isinstance(tree.op, ast.UAdd):
        return value
    raise Unreadable("operator ~")


def _binary(run: Run, tree: ast.BinOp, frame: Frame) -> Value:
    left = evaluate(run, tree.left, frame)
    return operators.binary(run, type(tree.op), left, evaluate(run, tree.right, frame))


def _compare(run: Run, tree: ast.Compare, frame: Frame) -> Value:
    left = evaluate(run, tree.left, frame)
    results: list[Operand] = []
    for operator, right_tree in zip(tree.ops, tree.comparators, strict=True):
        right = evaluate(run, right_tree, frame)
        results.append(operators.compare(run, type(operator), left, right))
        left = right
    return results[0] if len(results) == 1 else all_of(*results)


def _if_expression(run: Run, tree: ast.IfExp, frame: Frame) -> Value:
    test = condition(run, tree.test, frame)
    if not isinstance(test, Expr):
        return evaluate(run, tree.body if test else tree.orelse, frame)
    return run.branch(
        test,
        lambda: evaluate(run, tree.body, frame),
        lambda: evaluate(run, tree.orelse, frame),
    )


def _comprehend(
    run: Run,
    generators: list[ast.comprehension],
    frame: Frame,
    emit: Callable[[Operand], None],
) -> None:
    """Unroll the generators of a comprehension; ``emit`` gets the condition of each round."""
    if not generators:
        emit(True)
        return
    first = generators[0]
    for there, item in iteration.items(run, evaluate(run, first.iter, frame)):
        statements.assign(run, first.target, item, frame)
        kept: Operand = run.assumed.condition(there)
        for test in first.ifs:
            kept = all_of(kept, condition(run, test, frame)) if kept is not False else False
        if kept is False:
            continue
        with run.under(kept):
            _comprehend(run, generators[1:], frame, lambda c, k=kept: emit(all_of(k, c)))  # type: ignore[misc]


def _comprehension(kind: str) -> Callable[[Run, Any, Frame], Value]:
    def build(run: Run, tree: Any, frame: Frame) -> Value:
        if len(tree.generators) == 1:
            quantified = _quantified(run, tree, frame, kind)
            if quantified is not None:
                return quantified
        out: list[tuple[Operand, Value]] = []
        _comprehend(
            run, tree.generators, frame, lambda c: out.append((c, evaluate(run, tree.elt, frame)))
        )
        return run.allocate(Sequence(kind, tuple(out)))

    return build


def _quantified(run: Run, tree: Any, frame: Frame, kind: str) -> Operand | None:
    """A comprehension over a list that is only known at run time, or None for another one."""
    generator = tree.generators[0]
    source = evaluate(run, generator.iter, frame)
    if not isinstance(source, (Expr, Union)) or iteration.iterable(run, source):
        return None
    iterable = run.operand(source)

    def body(variable: Expr) -> tuple[int, Operand, Operand]:
        statements.assign(run, generator.target, variable, frame)
        kept = all_of(*(condition(run, test, frame) for test in generator.ifs))
        with run.under(kept):
            return variable.args[0], kept, run.operand(evaluate(run, tree.elt, frame))

    number, kept, element = loops.each(run, iterable, body)
    return raw("collect", kind, number, iterable, kept, element)


def _dict_comprehension(run: Run, tree: ast.DictComp, frame: Frame) -> Value:
    entries: dict[Any, tuple[Operand, Value]] = {}

    def emit(there: Operand) -> None:
        key = evaluate(run, tree.key, frame)
        if not is_constant(key):
            raise Unreadable("dictionary comprehension over unknown keys")
        entries[key] = (there, evaluate(run, tree.value, frame))

    _comprehend(run, tree.generators, frame, emit)
    return run.allocate(Table(entries))


def _call(run: Run, tree: ast.Call, frame: Frame) -> Value:
    function = evaluate(run, tree.func, frame)
    if isinstance(function, External) and calls.is_talk(function.name):
        return None
    return prune(run, calls.call_tree(run, function, tree, frame))


def _await(run: Run, tree: ast.Await, frame: Frame) -> Value:
    raise Unreadable("await")


_EVALUATE: dict[type[ast.expr], Callable[[Run, Any, Frame], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.JoinedStr: _text,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.IfExp: _if_expression,
    ast.ListComp: _comprehension("list"),
    ast.GeneratorExp: _comprehension("list"),
    ast.SetComp: _comprehension("set"),
    ast.DictComp: _dict_comprehension,
    ast.Call: _call,
    ast.Await: _await,
}
