"""Attributes, items and slices of values; the environment as a dictionary."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import METHODS, Expr, Operand, if_, is_constant, negate, node, raw
from kvsolve.upstream.reader import calls, classes, names, operators, record, statements
from kvsolve.upstream.reader.bags import Bag, read_bag
from kvsolve.upstream.reader.state import Instance, Sequence, Table, merge_values
from kvsolve.upstream.reader.values import (
    ABSENT,
    BoundMethod,
    ClassValue,
    ConfigObject,
    Dead,
    EnvTable,
    EnvVariable,
    External,
    FunctionValue,
    HeapRef,
    ModuleValue,
    Platform,
    Record,
    Stash,
    Super,
    Union,
    Unreadable,
    Value,
    View,
)

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = ["environment", "item", "part", "read", "write"]

_OBJECTS = frozenset({"quant_config"})
"""Objects of the process that serves which are there, and of which nothing else is known."""
_CONFIG_METHODS = frozenset({"get_text_config", "to_dict", "to_diff_dict"})


def read(run: Run, owner: Value, name: str, default: Value = ABSENT) -> Value:
    """``owner.name``, or ``getattr(owner, name, default)``."""
    method = _READ.get(type(owner))
    if method is not None:
        return method(run, owner, name, default)
    if owner is None:
        if default is not ABSENT:
            return default
        raise Dead("AttributeError")
    if isinstance(owner, str):
        return _of_text(run, owner, name, default)
    if is_constant(owner) or isinstance(owner, (tuple, range)):
        if default is not ABSENT and not hasattr(owner, name):
            return default
        return BoundMethod(owner, name)
    if isinstance(owner, BoundMethod):
        return read(run, raw("attr", run.operand(owner.owner), owner.name), name, default)
    raise Unreadable(f"attribute {name} of {type(owner).__name__}")


def _of_text(run: Run, owner: str, name: str, default: Value) -> Value:
    member = run.enums.get(owner)
    if member is not None:
        if name == "name":
            return member[1]
        if name == "value":
            return classes.held(run, *member) if run.wary else owner
        method = classes.method(run, member[0], name)
        if method is not None:
            return classes.bind(run, method, owner, member[0])
    if name == "value":
        return owner
    if default is not ABSENT and not hasattr(owner, name):
        return default
    return BoundMethod(owner, name)


def _of_record(run: Run, owner: Record, name: str, default: Value) -> Value:
    if name == "__dict__":
        return External("server_args.__dict__")
    return _or(record.read_raw(run, name), default, name)


def _of_view(run: Run, owner: View, name: str, default: Value) -> Value:
    return _or(record.read_view(run, owner, name), default, name)


def _or(value: Value, default: Value, name: str) -> Value:
    if value is not ABSENT:
        return value
    if default is not ABSENT:
        return default
    raise Unreadable(f"the record has no attribute {name}")


def _of_config(run: Run, owner: ConfigObject, name: str, default: Value) -> Value:
    own = run.state.get(("extra", owner.root, name), ABSENT)
    if own is not ABSENT:
        return own
    method = classes.config_method(run, name)
    if method is not None and not classes.is_property(method):
        return FunctionValue(method.module, method.node, None, owner, method.owner)
    return run.config_fact(owner.root, name)


def _of_platform(run: Run, owner: Platform, name: str, default: Value) -> Value:
    if owner.methods:
        return BoundMethod(owner, name)
    mapped = run.names.platform.get(name)
    if mapped is None:
        run.unmapped[f"platform.{name}"] += 1
        return raw("opaque", f"platform.{name}")
    return raw("fact", mapped)


def _of_env(run: Run, owner: EnvTable, name: str, default: Value) -> Value:
    return EnvVariable(name)


def _of_variable(run: Run, owner: EnvVariable, name: str, default: Value) -> Value:
    return owner.name if name == "name" else BoundMethod(owner, name)


def _of_module(run: Run, owner: ModuleValue, name: str, default: Value) -> Value:
    return names.global_name(run, owner.name, name)


def _of_external(run: Run, owner: External, name: str, default: Value) -> Value:
    dotted = f"{owner.name}.{name}"
    mapped = run.names.constants.get(dotted) or run.names.expressions.get(dotted)
    if mapped is None and owner.name in _OBJECTS:
        return raw("opaque", dotted)
    return raw("fact", mapped) if mapped else External(dotted)


def _of_class(run: Run, owner: ClassValue, name: str, default: Value) -> Value:
    if name in ("__name__", "__qualname__"):
        return owner.name
    if name == "__struct_fields__":
        return tuple(classes.field_names(run, owner))
    if name == "__mro__":
        return (owner, *classes.bases(run, owner))
    value = classes.attribute(run, owner, name)
    if value is not ABSENT:
        return value
    method = classes.method(run, owner, name)
    if method is None:
        return (
            External(f"{owner.module.name}.{owner.name}.{name}") if default is ABSENT else default
        )
    bound = owner if "classmethod" in classes.decorators(method) else ABSENT
    return FunctionValue(method.module, method.node, None, bound, method.owner)


def _of_object(run: Run, owner: HeapRef, name: str, default: Value) -> Value:
    payload = run.payload(owner)
    if not isinstance(payload, Instance):
        return BoundMethod(owner, name)
    if name in payload.attributes:
        if run.beyond and ("heap", owner.number) not in run.state:
            # An object of a module, which the process may have changed by then.
            return raw("opaque", f"{payload.cls.name}.{name}")
        return payload.attributes[name]
    if name == "__class__":
        return payload.cls
    if name == "__struct_fields__":
        return tuple(classes.field_names(run, payload.cls))
    method = classes.method(run, payload.cls, name)
    if method is not None:
        return classes.bind(run, method, owner, payload.cls)
    found = classes.attribute(run, payload.cls, name)
    if run.wary and (default is not ABSENT or classes.stores(run, payload.cls, name)):
        return run.unknown()
    if found is ABSENT and _holds_more(run, payload) and (default is ABSENT or not payload.whole):
        return raw("opaque", f"{payload.cls.name}.{name}")
    return _or(found, default, f"{payload.cls.name}.{name}")


def _holds_more(run: Run, payload: Instance) -> bool:
    """Whether an object has attributes that reading does not see."""
    return run.beyond and (not payload.whole or classes.is_foreign(run, payload.cls))


def _of_union(run: Run, owner: Union, name: str, default: Value) -> Value:
    then = run.arm(lambda: read(run, owner.then, name, default))
    other = run.arm(lambda: read(run, owner.other, name, default))
    return merge_values(run, owner.test, then, other)


def _of_super(run: Run, owner: Super, name: str, default: Value) -> Value:
    for base in classes.bases(run, owner.owner):
        method = classes.method(run, base, name)
        if method is not None:
            return classes.bind(run, method, owner.bound, base)
    return External(f"super().{name}")


def _of_function(run: Run, owner: FunctionValue, name: str, default: Value) -> Value:
    if name in ("__name__", "__qualname__"):
        return owner.name
    raise Unreadable(f"attribute {name} of a function")


def _of_term(run: Run, owner: Expr, name: str, default: Value) -> Value:
    cls = enum_of(run, owner)
    if cls is not None:
        method = classes.method(run, cls, name)
        if method is not None:
            return classes.bind(run, method, owner, cls)
    if name in METHODS or name in ("copy", "append", *_CONFIG_METHODS):
        if default is ABSENT or name in _CONFIG_METHODS:
            return BoundMethod(owner, name)
        return node("getattr", owner, name, run.operand(default))
    if owner.op == "if" and any(is_constant(a) for a in owner.args[1:]):
        then = run.arm(lambda: read(run, owner.args[1], name, default))
        other = run.arm(lambda: read(run, owner.args[2], name, default))
        return merge_values(run, owner.args[0], then, other)
    if default is not ABSENT:
        return _with_default(run, owner, name, default)
    if name == "value":
        return _values(run, owner) if run.wary and cls is not None else owner
    if name.startswith("__"):
        return raw("opaque", f"{name} of an object")
    dotted = _dotted(owner, name)
    if dotted in run.names.expressions:
        return raw("fact", run.names.expressions[dotted])
    if owner.op == "opaque":
        dotted = f"{owner.args[0]}.{name}"
        return raw("opaque", dotted) if run.beyond else External(dotted)
    return node("attr", owner, name)


def _values(run: Run, operand: Operand) -> Operand:
    """What the members hold that a term chooses among."""
    if isinstance(operand, Expr):
        if operand.op != "if":
            return run.unknown()
        test = run.assumed.condition(operand.args[0])
        if not isinstance(test, Expr):
            return _values(run, operand.args[1 if test else 2])
        return if_(test, *(_values(run, part) for part in operand.args[1:]))
    member = run.enums.get(str(operand))
    return operand if member is None else classes.held(run, *member)


def _with_default(run: Run, owner: Expr, name: str, default: Value) -> Value:
    try:
        return node("getattr", owner, name, run.operand(default))
    except Unreadable:
        test = node("hasattr", owner, name)
        return merge_values(run, test, node("attr", owner, name), default)


def _dotted(owner: Expr, name: str) -> str:
    if owner.op in ("opaque", "helper"):
        return f"{re.sub(r'[(].*[)]$', '()', owner.args[0])}.{name}"
    return ""


def enum_of(run: Run, term: Expr) -> ClassValue | None:
    """The enumeration whose members are all that a term can be, or None."""
    found: set[int] = set()
    cls = None
    stack: list[Operand] = [term]
    seen: set[Operand] = set()
    while stack:
        operand = stack.pop()
        if isinstance(operand, Expr):
            if operand in seen or len(seen) > 200:
                continue
            seen.add(operand)
            inner = _values_of(run, operand)
            if inner is None:
                return None
            stack.extend(inner)
            continue
        member = run.enums.get(operand) if isinstance(operand, str) else None
        if operand is None:
            continue
        if member is None:
            return None
        cls = member[0]
        found.add(id(cls.node))
    return cls if len(found) == 1 else None


def _values_of(run: Run, term: Expr) -> list[Any] | None:
    if term.op == "if":
        return list(term.args[1:])
    if term.op == "ref" and term in run.log.meaning:
        return [run.log.meaning[term]]
    if term.op == "item" and isinstance(term.args[0], Expr) and term.args[0].op == "table":
        return list(term.args[0].args[2::3])
    return [] if term.op == "crash" else None


def item(run: Run, owner: Value, key: Value) -> Value:
    """``owner[key]``."""
    if isinstance(owner, Union):
        then = run.arm(lambda: item(run, owner.then, key))
        other = run.arm(lambda: item(run, owner.other, key))
        return merge_values(run, owner.test, then, other)
    if isinstance(owner, HeapRef):
        return _item_of_object(run, owner, key)
    if isinstance(owner, (tuple, range)) and isinstance(key, int):
        if not -len(owner) <= key < len(owner):
            raise Dead("IndexError")
        return owner[key]
    if isinstance(owner, External) and owner.name == "os.environ":
        return environment(run, key, None)
    if isinstance(owner, ClassValue) and classes.enum_kind(run, owner):
        return classes.member_named(run, owner, run.operand(key))
    if owner is None:
        raise Dead("TypeError")
    if isinstance(owner, Expr) and owner.op == "if" and isinstance(key, int):
        then = run.arm(lambda: item(run, owner.args[1], key))
        other = run.arm(lambda: item(run, owner.args[2], key))
        return merge_values(run, owner.args[0], then, other)
    result = node("item", run.operand(owner), run.operand(key))
    if isinstance(result, Expr) and result.op == "crash":
        raise Dead(result.args[0])
    return result


def _item_of_object(run: Run, owner: HeapRef, key: Value) -> Value:
    payload = run.payload(owner)
    if isinstance(payload, Table):
        if is_constant(key):
            if key not in payload.entries:
                raise Dead("KeyError")
            there, value = payload.entries[key]
            return merge_values(run, there, value, raw("crash", "KeyError"))
        missing = negate(operators.contains(run, key, owner))
        statements.raise_if_caught(run, "KeyError", missing)
        return search(run, payload, key, raw("crash", "KeyError"))
    if isinstance(payload, Sequence) and isinstance(key, int):
        if not payload.certain:
            return node("item", run.operand(owner), key)
        if not -len(payload.items) <= key < len(payload.items):
            raise Dead("IndexError")
        return payload.items[key][1]
    if isinstance(payload, Instance):
        method = classes.method(run, payload.cls, "__getitem__")
        if method is not None:
            return calls.call(run, classes.bind(run, method, owner, payload.cls), [key], {})
    return node("item", run.operand(owner), run.operand(key))


def search(run: Run, table: Table, key: Value, default: Value) -> Value:
    """The entry of a known dictionary under a key that is only known at run time."""
    value = default
    for name, (there, entry) in reversed(list(table.entries.items())):
        test = node("and", there, operators.equal(run, key, name))
        value = merge_values(run, test, entry, value)
    return value


def part(run: Run, owner: Value, low: Operand, high: Operand, step: Operand) -> Value:
    """``owner[low:high:step]``."""
    payload = run.payload(owner) if isinstance(owner, HeapRef) else None
    if not any(isinstance(bound, Expr) for bound in (low, high, step)):
        bounds: Any = slice(low, high, step)
        if isinstance(payload, Sequence) and payload.certain:
            return run.new_list([item for _, item in payload.items][bounds])
        if isinstance(owner, (tuple, str, range)):
            return owner[bounds]
    if step is not None:
        raise Unreadable("a slice with a step")
    if owner is None:
        raise Dead("TypeError")
    return node("slice", run.operand(owner), low, high)


def write(run: Run, owner: Value, name: str, value: Value) -> None:
    """``owner.name = value``."""
    if isinstance(owner, Record):
        record.write_raw(run, name, value)
    elif isinstance(owner, HeapRef) and isinstance(payload := run.payload(owner), Instance):
        label = f"{payload.label or payload.cls.name}_{name}"
        record.label(run, value, label)
        attributes = {**payload.attributes, name: run.named(label, value)}
        run.store(owner, replace(payload, attributes=attributes))
    elif isinstance(owner, Union):
        before = run.state
        run.state = dict(before)
        with run.under(owner.test):
            write(run, owner.then, name, value)
        then, run.state = run.state, dict(before)
        with run.under(node("not", owner.test)):
            write(run, owner.other, name, value)
        run.state = run.merge(owner.test, then, run.state)
    elif isinstance(owner, ConfigObject):
        run.state["extra", owner.root, name] = value
    elif isinstance(owner, EnvVariable) or owner is None:
        raise Dead("AttributeError")
    elif not isinstance(owner, (Expr, External, ModuleValue, ClassValue, FunctionValue)):
        raise Unreadable(f"write of {name} on {type(owner).__name__}")


def environment(run: Run, name: Value, default: Value) -> Value:
    """``os.environ.get(name, default)`` with what the pipeline itself wrote."""
    if not isinstance(name, str):
        raise Unreadable("an environment variable whose name is computed")
    base = raw("env", name, run.operand(default))
    written, value = run.state.get(("env", name), (False, None))
    return base if written is False else if_(written, run.operand(value), base)


_READ: dict[type[Any], Any] = {
    Bag: read_bag,
    Super: _of_super,
    Record: _of_record,
    View: _of_view,
    ConfigObject: _of_config,
    Platform: _of_platform,
    EnvTable: _of_env,
    EnvVariable: _of_variable,
    ModuleValue: _of_module,
    External: _of_external,
    ClassValue: _of_class,
    HeapRef: _of_object,
    Union: _of_union,
    FunctionValue: _of_function,
    Stash: lambda run, owner, name, default: BoundMethod(owner, name),
    Expr: _of_term,
}
