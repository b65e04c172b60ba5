"""Calls: functions of the release are read inline; the boundary becomes facts and helpers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kvsolve.model.expression import Expr, Operand, children, is_constant, node, raw, walk
from kvsolve.model.syntax import render
from kvsolve.upstream.reader import (
    builtins,
    classes,
    expressions,
    iteration,
    methods,
    special,
    statements,
)
from kvsolve.upstream.reader.nodes import nodes_of
from kvsolve.upstream.reader.run import Call, Run
from kvsolve.upstream.reader.state import State, joined, merge_values
from kvsolve.upstream.reader.values import (
    ABSENT,
    BoundMethod,
    ClassValue,
    ConfigObject,
    Dead,
    Ended,
    External,
    Frame,
    FunctionValue,
    Partial,
    Union,
    Unreadable,
    Value,
)

__all__ = ["Perhaps", "call", "call_tree", "external", "inline", "is_talk"]

_DEPTH = 70
_REPEATS = 3
_RESULT_NAMED_ABOVE = 6
_TALK = ("logger.", "warnings.", "logging.")


@dataclass(frozen=True, slots=True, eq=False)
class Perhaps:
    """A keyword argument that is only there under a condition."""

    there: Operand
    value: Value


def is_talk(name: str) -> bool:
    """Tell whether calling a dotted name only prints or logs."""
    return name.startswith(_TALK) or name == "print"


def call_tree(run: Run, function: Value, tree: ast.Call, frame: Frame) -> Value:
    """Evaluate the arguments of a call and read the call."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    for argument in tree.args:
        if not isinstance(argument, ast.Starred):
            args.append(expressions.evaluate(run, argument, frame))
            continue
        for there, item in iteration.items(run, expressions.evaluate(run, argument.value, frame)):
            if there is not True:
                raise Unreadable("arguments that may be absent")
            args.append(item)
    for keyword in tree.keywords:
        value = expressions.evaluate(run, keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        if isinstance(value, Expr) and isinstance(function, ClassValue):
            for name in classes.field_names(run, function):
                kwargs[name] = Perhaps(node("in", name, value), node("item", value, name))
            continue
        for name, (there, item) in iteration.table_of(run, value).entries.items():
            kwargs[name] = item if there is True else Perhaps(there, item)
    return call(run, function, args, kwargs)


def call(run: Run, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The value of a call; what it writes is in the state afterwards."""
    if isinstance(function, FunctionValue):
        return _function(run, function, args, kwargs)
    if isinstance(function, BoundMethod):
        return methods.call(run, function, args, kwargs)
    if isinstance(function, ClassValue):
        return classes.construct(run, function, args, kwargs)
    if isinstance(function, External):
        return builtins.call(run, function.name, args, kwargs)
    if isinstance(function, Partial):
        named = {**dict(function.kwargs), **kwargs}
        return call(run, function.function, [*function.args, *args], named)
    if isinstance(function, Union):
        return run.branch(
            function.test,
            lambda: call(run, function.then, args, dict(kwargs)),
            lambda: call(run, function.other, args, dict(kwargs)),
        )
    if isinstance(function, Expr) and function.op == "if" and run.beyond:
        test, then, other = function.args
        return run.branch(
            test,
            lambda: call(run, then, args, dict(kwargs)),
            lambda: call(run, other, args, dict(kwargs)),
        )
    if isinstance(function, Expr) and function.op == "crash" and run.beyond:
        raise Dead(function.args[0])
    if isinstance(function, Expr) and function.op == "opaque":
        return external(run, function.args[0], args, kwargs)
    if isinstance(function, Expr) and function.op == "attr":
        return methods.call(run, BoundMethod(*function.args), args, kwargs)
    if function is None:
        raise Dead("TypeError")
    kind = function.op if isinstance(function, Expr) else type(function).__name__
    raise Unreadable(f"a call of {kind}")


def whose(fact: str, args: list[Value]) -> str:
    """A fact of the model is the draft's where it is asked of the draft's configuration."""
    if fact.startswith("model.") and any(map(_is_of_draft, args)):
        return f"draft.{fact.removeprefix('model.')}"
    return fact


def _is_of_draft(value: Value) -> bool:
    read = walk(value) if isinstance(value, Expr) else ()
    terms = [(t.op, t.args[0]) for t in read if t.op in ("fact", "helper", "ref")]
    named = ("helper", "config_of") in terms and ("ref", "speculative_draft_model_path") in terms
    return named or ("fact", "draft.config") in terms


def external(run: Run, name: str, args: list[Value], kwargs: dict[str, Value]) -> Operand:
    """A call across the boundary: a mapped fact or helper, else an opaque term of that name."""
    mapped = run.names.functions.get(name) or run.names.expressions.get(f"{name}()")
    if mapped is not None:
        return raw("fact", whose(mapped, args))
    given = [run.operand(a) for a in args]
    kwargs = {k: v for k, v in kwargs.items() if not isinstance(v, Perhaps)}
    helper = run.names.helpers.get(name)
    if helper is not None:
        named = [run.operand(v) for v in kwargs.values()]
        return raw("helper", helper, *(given or named[:1]))
    given += [run.operand(v) for _, v in sorted(kwargs.items())]
    run.unmapped[name] += 1
    if any(isinstance(a, Expr) for a in given):
        return raw("helper", name, *given)
    return raw("opaque", f"{name}({', '.join(map(render, given))})")


def _function(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    if not isinstance(function.node, ast.Lambda):
        handler = special.SPECIAL.get(function.name)
        if handler is not None:
            value = handler(run, function, args, kwargs)
            if value is not NotImplemented:
                return value
        name = function.dotted
        if function.owner is None or isinstance(function.bound, ClassValue):
            if name in run.names.functions or name in run.names.helpers:
                return external(run, name, args, kwargs)
            if name in run.unreadable_functions and _boundary(run, function, args, kwargs):
                return external(run, name, args, kwargs)
    unread = function.owner is None and function.module.name.startswith(run.unread)
    if unread and function.name not in run.entered:
        return raw("opaque", function.name)
    repeats = sum(c.function.node is function.node for c in run.calls)
    if len(run.calls) > _DEPTH or repeats > _REPEATS:
        raise Unreadable(f"recursion in {function.name}")
    if _is_generator(run, function.node):
        raise Unreadable(f"the generator {function.name}")
    if _boundary(run, function, args, kwargs):
        return _attempt(run, function, args, kwargs)
    return inline(run, function, args, kwargs)


def _is_generator(run: Run, tree: ast.AST) -> bool:
    if tree not in run.generators:
        run.generators[tree] = any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for n in nodes_of(tree)
        )
    return run.generators[tree]


def _boundary(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> bool:
    """Whether a call depends on facts only, so that it can become one when it is unreadable."""
    if isinstance(function.node, ast.Lambda) or function.scope is not None:
        return False
    if function.bound is not ABSENT and not isinstance(function.bound, (ConfigObject, ClassValue)):
        return False
    return all(facts_only(run, a) for a in (*args, *kwargs.values()))


def facts_only(run: Run, value: Value) -> bool:
    """Tell whether no flag reaches a value."""
    if isinstance(value, (ConfigObject, External, ClassValue)) or is_constant(value):
        return True
    if isinstance(value, tuple):
        return all(facts_only(run, v) for v in value)
    if not isinstance(value, Expr):
        return False
    known = run.shared[0]
    key = ("facts_only", value)
    if key not in known:
        known[key] = False
        known[key] = _facts_only(run, value)
    return bool(known[key])


def _facts_only(run: Run, term: Expr) -> bool:
    if term.op == "ref":
        return term in run.log.meaning and facts_only(run, run.log.meaning[term])
    if term.op in ("opaque", "var", "crash"):
        return False
    return all(facts_only(run, c) for c in children(term))


def _attempt(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Read a call over facts; when something in it cannot be read, make the call itself a fact."""
    gaps, mark, depth, state = len(run.gaps), len(run.log.steps), run.depth(), run.state
    run.state = dict(state)
    given, named = list(args), dict(kwargs)
    caught = [len(h.caught) for h in run.handlers]
    reached, unmapped, lost = dict(run.reached), run.unmapped.copy(), run.lost
    try:
        value = inline(run, function, args, kwargs)
    except Unreadable as error:
        run.restore(depth)
        run.gap(str(error))
        value = None
    if len(run.gaps) == gaps:
        return value
    reason = f"{run.gaps[gaps].place.symbol}: {run.gaps[gaps].reason}"
    del run.gaps[gaps:]
    run.log.rollback(mark)
    for handler, count in zip(run.handlers, caught, strict=True):
        del handler.caught[count:]
    run.state, run.reached, run.unmapped, run.lost = state, reached, unmapped, lost
    run.unreadable_functions[function.dotted] = reason
    if isinstance(function.bound, ConfigObject):
        given.insert(0, function.bound)
    return external(run, function.dotted, given, named)


def inline(run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Read a function's body for this call."""
    number = run.next_object()
    run.parents[number] = function.scope
    _bind(run, function, number, args, dict(kwargs))
    if isinstance(function.node, ast.Lambda):
        return expressions.evaluate(run, function.node.body, Frame(function.module, number))
    frame = Frame(function.module, number, _nonlocals(run, function.node))
    run.calls.append(Call(function, function.node.lineno))
    try:
        outcomes = statements.block(run, function.node.body, frame)
        return _returned(run, function, number, outcomes)
    finally:
        run.calls.pop()


def _returned(
    run: Run, function: FunctionValue, number: int, outcomes: statements.Outcomes
) -> Value:
    """One value and state out of the ways in which a function returns."""
    names = _locals_of(run, function)
    ends = [
        (o.when, _without(o.state, number, names), o.value if o.kind == "return" else None)
        for o in outcomes
    ]
    if not ends:
        raise Ended
    _, run.state, value = ends[-1]
    for when, state, earlier in reversed(ends[:-1]):
        if not isinstance(when, Expr):
            if when:
                run.state, value = state, earlier
            continue
        run.state, join = joined(run, when, state, run.state)
        value = join(earlier, value)
    if run.quiet == 0 and isinstance(value, Expr) and value.op in ("if", "and", "or", "not"):
        run.calls[-1].line = function.node.lineno
        return run.named(function.name.strip("_"), value, _RESULT_NAMED_ABOVE)
    return value


def _locals_of(run: Run, function: FunctionValue) -> frozenset[str]:
    """Every name that a function can bind."""
    known = run.locals_of.get(function.node)
    if known is None:
        names = set[str]()
        for n in nodes_of(function.node):
            if isinstance(n, ast.arg):
                names.add(n.arg)
            elif isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                names.add(n.id)
            elif isinstance(n, ast.alias):
                names.add(n.asname or n.name.split(".")[0])
            elif isinstance(n, (ast.FunctionDef, ast.ExceptHandler)) and n.name:
                names.add(n.name)
        known = run.locals_of[function.node] = frozenset(names)
    return known


def _without(state: State, number: int, names: frozenset[str]) -> State:
    state = dict(state)
    for name in names:
        state.pop(("local", number, name), None)
    return state


def _nonlocals(run: Run, tree: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    if tree not in run.nonlocals_of:
        found = (x for n in nodes_of(tree) if isinstance(n, ast.Nonlocal) for x in n.names)
        run.nonlocals_of[tree] = frozenset(found)
    return run.nonlocals_of[tree]


def _bind(
    run: Run, function: FunctionValue, number: int, args: list[Value], kwargs: dict[str, Value]
) -> None:
    signature = function.node.args
    at = Frame(function.module, function.scope)
    positional = [a.arg for a in (*signature.posonlyargs, *signature.args)]
    if function.bound is not ABSENT:
        args = [function.bound, *args]
    without_default = len(positional) - len(signature.defaults)
    for position, name in enumerate(positional):
        if position < len(args):
            value = args[position]
        elif name in kwargs:
            value = kwargs.pop(name)
            if isinstance(value, Perhaps):
                value = _or_default(run, value, signature.defaults, position - without_default, at)
        elif position >= without_default:
            value = expressions.evaluate(run, signature.defaults[position - without_default], at)
        else:
            raise Unreadable(f"the argument {name} of {function.name} is not given")
        run.state["local", number, name] = value
    _bind_rest(run, function, number, args[len(positional) :], kwargs, at)


def _or_default(
    run: Run, given: Perhaps, defaults: list[ast.expr], position: int, at: Frame
) -> Value:
    if position < 0:
        raise Unreadable("an argument that may be absent")
    return merge_values(
        run, given.there, given.value, expressions.evaluate(run, defaults[position], at)
    )


def _bind_rest(
    run: Run,
    function: FunctionValue,
    number: int,
    rest: list[Value],
    kwargs: dict[str, Value],
    at: Frame,
) -> None:
    signature = function.node.args
    if signature.vararg:
        run.state["local", number, signature.vararg.arg] = tuple(rest)
    elif rest:
        raise Unreadable(f"too many arguments for {function.name}")
    for parameter, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        name = parameter.arg
        if name in kwargs:
            value = kwargs.pop(name)
            if isinstance(value, Perhaps):
                value = _or_default(
                    run, value, [default] if default else [], 0 if default else -1, at
                )
        elif default is not None:
            value = expressions.evaluate(run, default, at)
        else:
            raise Unreadable(f"the argument {name} of {function.name} is not given")
        run.state["local", number, name] = value
    if signature.kwarg:
        entries = {
            k: (v.there, v.value) if isinstance(v, Perhaps) else (True, v)
            for k, v in kwargs.items()
        }
        run.state["local", number, signature.kwarg.arg] = builtins.table(run, entries)
    elif kwargs:
        raise Unreadable(f"unknown arguments {sorted(kwargs)} for {function.name}")
