"""Methods of values that have no source in the release: lists, dictionaries, texts, environment."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import (
    METHODS,
    Expr,
    Operand,
    all_of,
    any_of,
    if_,
    is_constant,
    negate,
    node,
    raw,
)
from kvsolve.upstream.reader import attributes, calls, iteration, operators, record
from kvsolve.upstream.reader.environment import parsed
from kvsolve.upstream.reader.state import Sequence, Table, merge_values
from kvsolve.upstream.reader.values import (
    BoundMethod,
    Dead,
    EnvVariable,
    HeapRef,
    Platform,
    Stash,
    Union,
    Unreadable,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.upstream.reader.run import Run

__all__ = ["call"]

Args = list[Value]
Kwargs = dict[str, Value]


def call(run: Run, method: BoundMethod, args: Args, kwargs: Kwargs) -> Value:
    """``owner.name(*args, **kwargs)``."""
    owner, name = method.owner, method.name
    if isinstance(owner, EnvVariable):
        return _environment(run, owner.name, name, args)
    if isinstance(owner, Platform):
        return _platform(run, name, args, kwargs)
    if isinstance(owner, Stash):
        return _stash(run, name, args)
    if isinstance(owner, HeapRef):
        return _object(run, owner, name, args, kwargs)
    if isinstance(owner, Union):
        return calls.call(run, attributes.read(run, owner, name), args, kwargs)
    if isinstance(owner, Expr):
        return _asked(run, owner, name, args, kwargs)
    return _constant(run, owner, name, args, kwargs)


def _environment(run: Run, name: str, method: str, args: Args) -> Value:
    written, value = run.state.get(("env", name), (False, None))
    if method == "get":
        base = raw("fact", f"env.{name}")
        if written is False:
            return base
        return if_(written, parsed(run, name, run.operand(value)), base)
    if method == "is_set":
        return if_(written, node("is_not", run.operand(value), None), raw("env_is_set", name))
    if method == "set":
        run.state["env", name] = (True, _as_text(run, args[0]))
        return None
    if method == "clear":
        run.state["env", name] = (True, None)
        return None
    raise Unreadable(f"environment variable .{method}")


def _as_text(run: Run, value: Value) -> Operand:
    return node("call", "str", run.operand(value))


def _platform(run: Run, name: str, args: Args, kwargs: Kwargs) -> Value:
    mapped = run.names.platform_methods.get(name)
    if mapped is not None:
        return raw("fact", mapped)
    return calls.external(run, f"current_platform.{name}", [], {})


def _stash(run: Run, name: str, args: Args) -> Value:
    entries = [args[0]] if name == "append" else []
    if name == "extend" and not isinstance(args[0], Stash):
        entries = [x for _, x in iteration.items(run, args[0])]
    if name in ("append", "extend"):
        for entry in entries:
            if not isinstance(entry, tuple) or len(entry) != 2:
                raise Unreadable("a declaration that is no pair")
            record.declare_all(run, entry[1])
        return None
    raise Unreadable(f"declarations .{name}")


def _object(run: Run, owner: HeapRef, name: str, args: Args, kwargs: Kwargs) -> Value:
    payload = run.payload(owner)
    if isinstance(payload, Sequence):
        method: Any = _SEQUENCE.get(name)
        if method is not None:
            return method(run, owner, payload, args)
    elif isinstance(payload, Table):
        if name == "update":
            return _update(run, owner, payload, args, kwargs)
        method = _TABLE.get(name)
        if method is not None:
            return method(run, owner, payload, args)
    if name in METHODS:
        return node("method", run.operand(owner), name, *(run.operand(a) for a in args))
    raise Unreadable(f"method {name} of a collection")


def _append(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    run.store(owner, Sequence(payload.kind, (*payload.items, (True, args[0])), payload.label))
    return None


def _extend(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    more = [pair for a in args for pair in iteration.items(run, a)]
    run.store(owner, Sequence(payload.kind, (*payload.items, *more), payload.label))
    return None


def _remove(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    kept = [(all_of(c, negate(operators.equal(run, x, args[0]))), x) for c, x in payload.items]
    items = tuple((c, x) for c, x in kept if c is not False)
    run.store(owner, Sequence(payload.kind, items, payload.label))
    return None


def _insert(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    if args[0] != 0:
        raise Unreadable("insert elsewhere than at the front")
    run.store(owner, Sequence(payload.kind, ((True, args[1]), *payload.items), payload.label))
    return None


def _sort(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    if not payload.certain or not all(is_constant(x) for _, x in payload.items):
        raise Unreadable("sort of unknown items")
    items = tuple((True, x) for x in sorted(x for _, x in payload.items))
    run.store(owner, Sequence(payload.kind, items, payload.label))
    return None


def _sequence_copy(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    return run.allocate(Sequence(payload.kind, payload.items))


def _union(run: Run, owner: HeapRef, payload: Sequence, args: Args) -> Value:
    unknown = [a for a in args if isinstance(a, Expr) and not iteration.iterable(run, a)]
    if unknown:
        known = _union(run, owner, payload, [a for a in args if a not in unknown])
        parts = [run.operand(known), *(node("call", "set", a) for a in unknown)]
        return functools.reduce(lambda a, b: node("bitor", a, b), parts)
    more = [pair for a in args for pair in iteration.items(run, a)]
    return run.allocate(Sequence("set", (*payload.items, *more)))


def _issubset(run: Run, owner: Value, payload: Sequence, args: Args) -> Value:
    pairs = payload.items
    return all_of(*(any_of(negate(c), operators.contains(run, x, args[0])) for c, x in pairs))


def _isdisjoint(run: Run, owner: Value, payload: Sequence, args: Args) -> Value:
    pairs = payload.items
    return negate(any_of(*(all_of(c, operators.contains(run, x, args[0])) for c, x in pairs)))


def _issuperset(run: Run, owner: Value, payload: Sequence, args: Args) -> Value:
    pairs = iteration.items(run, args[0])
    return all_of(*(any_of(negate(c), operators.contains(run, x, owner)) for c, x in pairs))


_SEQUENCE: dict[str, Callable[[Run, HeapRef, Sequence, Args], Value]] = {
    "append": _append,
    "add": _append,
    "extend": _extend,
    "update": _extend,
    "remove": _remove,
    "discard": _remove,
    "insert": _insert,
    "sort": _sort,
    "copy": _sequence_copy,
    "union": _union,
    "intersection": lambda run, owner, payload, args: operators.filtered(run, owner, args[0], True),
    "difference": lambda run, owner, payload, args: operators.filtered(run, owner, args[0], False),
    "issubset": _issubset,
    "issuperset": _issuperset,
    "isdisjoint": _isdisjoint,
}


def _get(run: Run, owner: HeapRef, payload: Table, args: Args) -> Value:
    default = args[1] if len(args) > 1 else None
    if not is_constant(args[0]):
        return attributes.search(run, payload, run.operand(args[0]), default)
    there, value = payload.entries.get(args[0], (False, None))
    return merge_values(run, there, value, default)


def _pop(run: Run, owner: HeapRef, payload: Table, args: Args) -> Value:
    there, value = payload.entries.get(args[0], (False, None))
    if there is False and len(args) == 1:
        raise Dead("KeyError")
    rest = {k: v for k, v in payload.entries.items() if k != args[0]}
    run.store(owner, Table(rest, payload.label))
    return merge_values(run, there, value, args[1] if len(args) > 1 else raw("crash", "KeyError"))


def _setdefault(run: Run, owner: HeapRef, payload: Table, args: Args) -> Value:
    there, value = payload.entries.get(args[0], (False, None))
    kept = merge_values(run, there, value, args[1] if len(args) > 1 else None)
    run.store(owner, Table({**payload.entries, args[0]: (True, kept)}, payload.label))
    return kept


def _update(run: Run, owner: HeapRef, payload: Table, args: Args, kwargs: Kwargs) -> Value:
    entries = dict(payload.entries)
    for source in args:
        for key, (there, value) in iteration.table_of(run, source).entries.items():
            entries[key] = operators.overlay(run, entries.get(key), there, value)
    for key, value in kwargs.items():
        there = value.there if isinstance(value, calls.Perhaps) else True
        plain = value.value if isinstance(value, calls.Perhaps) else value
        entries[key] = operators.overlay(run, entries.get(key), there, plain)
    run.store(owner, Table(entries, payload.label))
    return None


def _rows(pick: Callable[[Any, Value], Value]) -> Callable[[Run, HeapRef, Table, Args], Value]:
    def rows(run: Run, owner: HeapRef, payload: Table, args: Args) -> Value:
        items = tuple((there, pick(k, v)) for k, (there, v) in payload.entries.items())
        return run.allocate(Sequence("list", items))

    return rows


_TABLE: dict[str, Callable[[Run, HeapRef, Table, Args], Value]] = {
    "get": _get,
    "pop": _pop,
    "setdefault": _setdefault,
    "items": _rows(lambda key, value: (key, value)),
    "keys": _rows(lambda key, value: key),
    "values": _rows(lambda key, value: value),
    "copy": lambda run, owner, payload, args: run.allocate(Table(payload.entries)),
}


def _asked(run: Run, owner: Expr, name: str, args: Args, kwargs: Kwargs) -> Value:
    """A method of a term; what it answers to objects of the process that serves is not known."""
    try:
        return _term(run, owner, name, args, kwargs)
    except Unreadable:
        if not run.wary:
            raise
        return run.unknown()


def _term(run: Run, owner: Expr, name: str, args: Args, kwargs: Kwargs) -> Value:
    if name == "get_text_config":
        return raw("helper", "text_config", owner)
    if name == "copy" and not args:
        return owner
    if owner.op == "if" and not kwargs and any(is_constant(a) for a in owner.args[1:]):
        sides = [
            run.arm(lambda s=side: calls.call(run, attributes.read(run, s, name), args, {}))
            for side in owner.args[1:]
        ]
        return merge_values(run, owner.args[0], *sides)
    if name in METHODS and not kwargs:
        return node("method", owner, name, *(run.operand(a) for a in args))
    if owner.op in ("fact", "helper", "attr", "getattr", "item", "opaque"):
        return calls.external(run, f"{_path(owner)}.{name}", args, kwargs)
    raise Unreadable(f"method {name} of {owner.op}")


def _path(owner: Expr) -> str:
    if owner.op in ("attr", "getattr"):
        inner = owner.args[0]
        return f"{_path(inner) if isinstance(inner, Expr) else inner}.{owner.args[1]}"
    return str(owner.args[0]) if isinstance(owner.args[0], str) else owner.op


def _constant(run: Run, owner: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    if name in ("join", "format"):
        return _joined(run, owner, name, args)
    if isinstance(owner, frozenset) and name in _SEQUENCE:
        copy = run.new_list(sorted(owner, key=repr), "set")
        return _SEQUENCE[name](run, copy, run.payload(copy), args)
    if all(is_constant(a) for a in args) and not kwargs:
        try:
            value = getattr(owner, name)(*args)
        except Exception as error:
            raise Dead(type(error).__name__) from None
        return run.new_list(value) if isinstance(value, list) else value
    if name in METHODS:
        return node("method", run.operand(owner), name, *(run.operand(a) for a in args))
    raise Unreadable(f"method {name} of {type(owner).__name__}")


def _joined(run: Run, owner: Value, name: str, args: Args) -> Value:
    if name == "join" and isinstance(owner, str) and iteration.iterable(run, args[0]):
        found = iteration.items(run, args[0])
        if all(c is True and isinstance(x, str) for c, x in found):
            return owner.join(x for _, x in found)
    return raw("opaque", "formatted text")
