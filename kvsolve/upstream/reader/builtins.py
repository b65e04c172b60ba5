"""Calls of builtins and of the standard library functions that argument resolution uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import (
    FUNCTIONS,
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
    classes,
    expressions,
    iteration,
    operators,
    statements,
)
from kvsolve.upstream.reader.state import Instance, Sequence, Table, merge_values
from kvsolve.upstream.reader.values import (
    ABSENT,
    BoundMethod,
    ClassValue,
    ConfigObject,
    Dead,
    External,
    FunctionValue,
    HeapRef,
    Partial,
    Record,
    Stash,
    Super,
    Union,
    Unreadable,
    Value,
    View,
    is_operand,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.upstream.reader.run import Run

__all__ = ["call", "table"]

Args = list[Value]
Kwargs = dict[str, Value]
_EXCEPTIONS = ("Error", "Exception", "Warning")
_TORCH_CUDA = ("cuda", "hip")
_TYPES = frozenset(
    {"int", "str", "list", "dict", "float", "bool", "tuple", "set", "frozenset", "bytes"}
)


def call(run: Run, name: str, args: Args, kwargs: Kwargs) -> Value:
    """The value of a call of something outside of the release."""
    function = _BUILTINS.get(name)
    if function is not None:
        return function(run, args, kwargs)
    short = name.split(".")[-1]
    if name.split(".")[0] in ("math", short) and short in FUNCTIONS:
        return _plain(run, short, args, kwargs)
    if "." not in name and short.endswith(_EXCEPTIONS):
        return raw("opaque", "exception")
    return calls.external(run, name, args, kwargs)


def table(run: Run, entries: Mapping[Any, tuple[Operand, Value]]) -> Value:
    """A new dictionary."""
    return run.allocate(Table(entries))


def _plain(run: Run, name: str, args: Args, kwargs: Kwargs) -> Value:
    if kwargs:
        raise Unreadable(f"{name} with keyword arguments")
    if name in ("max", "min", "sum") and len(args) == 1 and isinstance(args[0], HeapRef):
        found = iteration.items(run, args[0])
        if name != "sum" and found and all(c is True for c, _ in found):
            args = [x for _, x in found]
    if any(isinstance(a, Union) for a in args):
        at = next(i for i, a in enumerate(args) if isinstance(a, Union))
        union = args[at]
        sides = [
            run.arm(lambda s=side: _plain(run, name, [*args[:at], s, *args[at + 1 :]], {}))
            for side in (union.then, union.other)
        ]
        return merge_values(run, union.test, *sides)
    if name == "str" and args and isinstance(args[0], (FunctionValue, ClassValue, External)):
        return raw("opaque", "text of an object")
    if name in ("int", "float") and len(args) == 1 and run.known(run.operand(args[0])):
        readable = node("call", f"reads_as_{name}", run.operand(args[0]))
        statements.raise_if_caught(run, "ValueError", negate(readable))
    result = node("call", name, *(run.operand(a) for a in args))
    if isinstance(result, Expr) and result.op == "crash":
        raise Dead(result.args[0])
    return result


def _bool(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return node("call", "bool", expressions.truth(run, args[0])) if args else False


def _len(run: Run, args: Args, kwargs: Kwargs) -> Value:
    value = args[0]
    if isinstance(value, (tuple, range, str, frozenset)):
        return len(value)
    if isinstance(value, HeapRef):
        payload = run.payload(value)
        if isinstance(payload, Instance):
            raise Unreadable("len of an instance")
        rows = payload.entries.values() if isinstance(payload, Table) else payload.items
        there = [c for c, _ in rows]
        distinct = not isinstance(payload, Sequence) or payload.kind == "list"
        if distinct:
            return len(there) if all(c is True for c in there) else node("call", "count", *there)
    if value is None or isinstance(value, (bool, int, float)):
        raise Dead("TypeError")
    return _plain(run, "len", args, {})


def _quantifier(run: Run, args: Args, is_any: bool) -> Value:
    source = args[0]
    if isinstance(source, Expr) and source.op == "collect":
        _, number, iterable, condition, element = source.args
        body = element if is_any else negate(element)
        found = raw("any", number, iterable, all_of(condition, body))
        return found if is_any else negate(found)
    if isinstance(source, Expr) and not iteration.iterable(run, source):
        return node("call", "any" if is_any else "all", source)
    pairs = [(c, expressions.truth(run, x)) for c, x in iteration.items(run, source)]
    if is_any:
        return any_of(*(all_of(c, x) for c, x in pairs))
    return all_of(*(any_of(negate(c), x) for c, x in pairs))


def _collection(name: str) -> Callable[[Run, Args, Kwargs], Value]:
    def build(run: Run, args: Args, kwargs: Kwargs) -> Value:
        if not args:
            return (
                {"tuple": (), "frozenset": frozenset()}.get(name)
                if name in ("tuple", "frozenset")
                else run.new_list([], name)
            )
        source = args[0]
        if isinstance(source, Stash):
            return source
        if not iteration.iterable(run, source) or (name == "sorted" and kwargs):
            if source is None or isinstance(source, (int, float)):
                raise Dead("TypeError")
            return node("call", "list" if name == "reversed" else name, run.operand(source))
        return _copied(run, name, iteration.items(run, source))

    return build


def _copied(run: Run, name: str, found: iteration.Items) -> Value:
    certain = all(c is True for c, _ in found)
    constant = certain and all(is_constant(x) for _, x in found)
    if name == "tuple" and certain:
        return tuple(x for _, x in found)
    if name == "frozenset" and constant:
        return frozenset(x for _, x in found)
    if name == "sorted":
        if not constant:
            return node("call", "sorted", run.operand(run.allocate(Sequence("list", tuple(found)))))
        found = [(True, x) for x in sorted(x for _, x in found)]
    if name == "reversed":
        found = found[::-1]
    return run.allocate(Sequence("set" if name in ("set", "frozenset") else "list", tuple(found)))


def _dict(run: Run, args: Args, kwargs: Kwargs) -> Value:
    entries: dict[Any, tuple[Operand, Value]] = {}
    if args:
        if isinstance(args[0], Expr) and not kwargs:
            return args[0]
        entries.update(_rows(run, args[0]))
    for key, value in kwargs.items():
        pair = (value.there, value.value) if isinstance(value, calls.Perhaps) else (True, value)
        entries[key] = pair
    return table(run, entries)


def _rows(run: Run, source: Value) -> Mapping[Any, tuple[Operand, Value]]:
    payload = run.payload(source) if isinstance(source, HeapRef) else None
    if isinstance(payload, Sequence):
        return {run.operand(pair[0]): (c, pair[1]) for c, pair in payload.items}
    return iteration.table_of(run, source).entries


def _range(run: Run, args: Args, kwargs: Kwargs) -> Value:
    if all(isinstance(a, int) for a in args):
        return range(*args)
    return node("call", "range", *(run.operand(a) for a in args))


def _enumerate(run: Run, args: Args, kwargs: Kwargs) -> Value:
    found = iteration.items(run, args[0])
    return run.allocate(Sequence("list", tuple((c, (i, x)) for i, (c, x) in enumerate(found))))


def _zip(run: Run, args: Args, kwargs: Kwargs) -> Value:
    columns = [iteration.items(run, a) for a in args]
    rows = [tuple(x for _, x in row) for row in zip(*columns, strict=False)]
    return run.new_list(rows)


def _next(run: Run, args: Args, kwargs: Kwargs) -> Value:
    value = args[1] if len(args) > 1 else raw("crash", "StopIteration")
    if isinstance(args[0], Expr) and not iteration.iterable(run, args[0]):
        items = args[0]
        return merge_values(run, node("call", "bool", items), node("item", items, 0), value)
    for there, item in reversed(iteration.items(run, args[0])):
        value = merge_values(run, there, item, value)
    return value


def _getattr(run: Run, args: Args, kwargs: Kwargs) -> Value:
    if not isinstance(args[1], str):
        return _computed(run, args[0], run.operand(args[1]), args[2] if len(args) > 2 else ABSENT)
    return attributes.read(run, args[0], args[1], args[2] if len(args) > 2 else ABSENT)


def _computed(run: Run, owner: Value, name: Operand, default: Value) -> Value:
    """``getattr`` whose name is one of a few constants."""
    if isinstance(name, Expr) and name.op == "if":
        test, then, other = name.args
        return merge_values(
            run, test, _computed(run, owner, then, default), _computed(run, owner, other, default)
        )
    if isinstance(name, Expr) and name.op == "ref" and name in run.log.meaning:
        return _computed(run, owner, run.log.meaning[name], default)
    if not isinstance(name, str):
        raise Unreadable("getattr of a computed name")
    return attributes.read(run, owner, name, default)


def _hasattr(run: Run, args: Args, kwargs: Kwargs) -> Value:
    owner, name = args
    if isinstance(owner, ConfigObject):
        return True
    if run.wary and (operators.unsaid(run, owner) or isinstance(owner, HeapRef)):
        return run.unknown()
    if isinstance(owner, Expr):
        return node("hasattr", owner, name)
    if isinstance(owner, Union):
        return node(
            "if",
            owner.test,
            _hasattr(run, [owner.then, name], {}),
            _hasattr(run, [owner.other, name], {}),
        )
    try:
        attributes.read(run, owner, name)
    except (Unreadable, Dead):
        return False
    return True


def _setattr(run: Run, args: Args, kwargs: Kwargs) -> Value:
    owner, name, value = args
    if not isinstance(name, str):
        raise Unreadable("setattr of a computed name")
    attributes.write(run, owner, name, value)
    return None


_ABSTRACT = {
    "Sequence": ("list", "tuple", "str"),
    "Mapping": ("dict",),
    "MutableMapping": ("dict",),
    "Integral": ("int",),
    "Real": ("int", "float"),
    "Number": ("int", "float"),
}
"""Abstract classes as the plain types that a flag or a configuration can hold."""


def _isinstance(run: Run, args: Args, kwargs: Kwargs) -> Value:
    kinds = args[1] if isinstance(args[1], tuple) else (args[1],)
    names = (_type_name(k) for k in kinds)
    return _is_of(run, args[0], [n for name in names for n in _ABSTRACT.get(name, (name,))])


def _type_name(kind: Value) -> str:
    return getattr(kind, "name", "?").split(".")[-1]


def _is_of(run: Run, value: Value, kinds: list[str]) -> Operand:
    if run.wary and operators.unsaid(run, value):
        return run.unknown()
    if isinstance(value, Union):
        return node(
            "if", value.test, _is_of(run, value.then, kinds), _is_of(run, value.other, kinds)
        )
    if isinstance(value, Expr):
        if value.op == "if":
            test, then, other = value.args
            return node("if", test, _is_of(run, then, kinds), _is_of(run, other, kinds))
        if run.wary and _is_typed(run, value, kinds):
            return True
        if run.beyond and kinds == ["str"] and _is_text_flag(run, value):
            return True
        basic = [k for k in kinds if k in _TYPES or k == "NoneType" or _configures(value, k)]
        return node("isinstance", value, *basic) if basic else False
    if isinstance(value, str) and value in run.enums:
        return run.enums[value][0].name in kinds or "Enum" in kinds
    if isinstance(value, HeapRef):
        payload = run.payload(value)
        if isinstance(payload, Instance):
            return bool(set(classes.lineage(run, payload.cls)) & set(kinds))
        return ("dict" if isinstance(payload, Table) else payload.kind) in kinds
    if isinstance(value, Record):
        return "ServerArgs" in kinds
    if isinstance(value, View):
        return "ResolvedView" in kinds or "ResolvingConfig" in kinds
    if isinstance(value, External) and run.beyond and "." in value.name:
        return run.unknown()  # an object of another package
    if is_operand(value):
        return bool(node("isinstance", value, *kinds))
    return isinstance(value, tuple) and "tuple" in kinds


def _is_typed(run: Run, value: Expr, kinds: list[str]) -> bool:
    """Whether a value is a flag that is never unset and always of such a type, as its default."""
    if value.op != "ref" or run.may_be_none(value):
        return False
    return type(run.fields.get(value.args[0])).__name__ in kinds


def _configures(value: Expr, kind: str) -> bool:
    """Whether a term is a model's configuration and the class one of those it may be of."""
    while value.op in ("attr", "getattr", "item") and isinstance(value.args[0], Expr):
        value = value.args[0]
    root = str(value.args[0]) if value.op in ("fact", "helper") else ""
    return kind.endswith("Config") and (
        root.split(".")[-1].endswith("config") or root == "config_of"
    )


def _type(run: Run, args: Args, kwargs: Kwargs) -> Value:
    value = args[0]
    if isinstance(value, HeapRef) and isinstance(payload := run.payload(value), Instance):
        return payload.cls
    return run.record if isinstance(value, (Record, View)) else External("type")


def _replace(run: Run, args: Args, kwargs: Kwargs) -> Value:
    value = args[0]
    if isinstance(value, Union):
        then = _replace(run, [value.then], kwargs)
        return merge_values(run, value.test, then, _replace(run, [value.other], kwargs))
    payload = run.payload(value) if isinstance(value, HeapRef) else None
    if not isinstance(payload, Instance):
        raise Unreadable("replace on something that is no instance")
    attributes = dict(payload.attributes)
    for name, given in kwargs.items():
        if isinstance(given, calls.Perhaps):
            given = merge_values(run, given.there, given.value, attributes[name])
        attributes[name] = given
    return run.allocate(Instance(payload.cls, attributes))


def _copy(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return _deep(run, args[0])


def _deep(run: Run, value: Value) -> Value:
    if isinstance(value, Union):
        return Union(value.test, _deep(run, value.then), _deep(run, value.other))
    if not isinstance(value, HeapRef):
        return value
    payload = run.payload(value)
    if isinstance(payload, Instance):
        parts = {k: _deep(run, v) for k, v in payload.attributes.items()}
        return run.allocate(Instance(payload.cls, parts, payload.label))
    if isinstance(payload, Table):
        entries = {k: (c, _deep(run, v)) for k, (c, v) in payload.entries.items()}
        return run.allocate(Table(entries, payload.label))
    items = tuple((c, _deep(run, v)) for c, v in payload.items)
    return run.allocate(Sequence(payload.kind, items, payload.label))


def _environ_get(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return attributes.environment(run, args[0], args[1] if len(args) > 1 else None)


def _environ_setdefault(run: Run, args: Args, kwargs: Kwargs) -> Value:
    present = attributes.environment(run, args[0], None)
    value = run.operand(args[1])
    run.state["env", args[0]] = (True, node("if", node("is", present, None), value, present))
    return None


def _environ_pop(run: Run, args: Args, kwargs: Kwargs) -> Value:
    present = attributes.environment(run, args[0], args[1] if len(args) > 1 else None)
    run.state["env", args[0]] = (True, None)
    return present


def _partial(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return Partial(args[0], tuple(args[1:]), tuple(kwargs.items()))


def _divmod(run: Run, args: Args, kwargs: Kwargs) -> Value:
    whole, by = (run.operand(a) for a in args)
    return node("floordiv", whole, by), node("mod", whole, by)


def _nothing(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return None


def _quantization_override(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return raw("helper", "quantization_override", *(run.operand(a) for a in args))


def _record_attribute(run: Run, args: Args, kwargs: Kwargs) -> Value:
    default = args[1] if len(args) > 1 else None
    value = run.field("raw", args[0])
    return default if value is ABSENT else value


def _callable(run: Run, args: Args, kwargs: Kwargs) -> Value:
    if isinstance(args[0], (FunctionValue, ClassValue, BoundMethod, External)):
        return True
    if args[0] is None:
        return False
    raise Unreadable("callable of something unknown")


def _is_text_flag(run: Run, value: Expr) -> bool:
    """Whether a term is a flag that is a text, whatever is chosen."""
    return value.op == "ref" and isinstance(run.fields.get(value.args[0]), str)


def _json(run: Run, args: Args, kwargs: Kwargs) -> Value:
    return node("call", "json", run.operand(args[0]))


def _torch_capability(run: Run, args: Args, kwargs: Kwargs) -> Value:
    """torch only tells the capability of a CUDA or ROCm device, and breaks on other builds."""
    there = raw("fact", "gpu.torch_cuda_available")
    cuda = any(run.assumed.condition(raw("fact", f"gpu.is_{kind}")) is True for kind in _TORCH_CUDA)
    if not cuda:
        statements.break_where(run, negate(there), "AssertionError")
    return calls.external(run, "torch.cuda.get_device_capability", args, kwargs)


def _super(run: Run, args: Args, kwargs: Kwargs) -> Value:
    function = run.calls[-1].function if run.calls else None
    if function is None or function.owner is None or function.bound is ABSENT:
        raise Unreadable("super() outside of a method")
    return Super(function.owner, function.bound)


_BUILTINS: dict[str, Callable[[Run, Args, Kwargs], Value]] = {
    "bool": _bool,
    "callable": _callable,
    "json.loads": _json,
    "orjson.loads": _json,
    "server_args.__dict__.get": _record_attribute,
    "the quantization methods.override_quantization_method": _quantization_override,
    "len": _len,
    "any": lambda run, args, kwargs: _quantifier(run, args, True),
    "all": lambda run, args, kwargs: _quantifier(run, args, False),
    **{n: _collection(n) for n in ("set", "frozenset", "list", "tuple", "sorted", "reversed")},
    "dict": _dict,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "next": _next,
    "iter": lambda run, args, kwargs: args[0],
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "object.__setattr__": _setattr,
    "isinstance": _isinstance,
    "type": _type,
    "super": _super,
    "dataclasses.replace": _replace,
    "copy.deepcopy": _copy,
    "copy.copy": _copy,
    "os.environ.get": _environ_get,
    "os.getenv": _environ_get,
    "os.environ.setdefault": _environ_setdefault,
    "os.environ.pop": _environ_pop,
    "functools.partial": _partial,
    "typing.cast": lambda run, args, kwargs: args[1],
    "divmod": _divmod,
    "torch.cuda.get_device_capability": _torch_capability,
    "print": _nothing,
    "warnings.warn": _nothing,
}
