"""Classes of the release: bases, methods, class attributes, enumerations, construction."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, if_, node, raw
from kvsolve.upstream.reader import built, calls, expressions, iteration, statements
from kvsolve.upstream.reader.nodes import nodes_of
from kvsolve.upstream.reader.state import Instance, merge_values
from kvsolve.upstream.reader.values import (
    ABSENT,
    ClassValue,
    Dead,
    Frame,
    FunctionValue,
    Unreadable,
    Value,
    View,
    is_operand,
)

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = [
    "attribute",
    "bases",
    "bind",
    "config_method",
    "construct",
    "decorators",
    "enum_kind",
    "field_names",
    "held",
    "is_foreign",
    "is_property",
    "lineage",
    "member_named",
    "method",
    "stores",
]

_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_VALUED = frozenset({"str", "int", "StrEnum", "IntEnum", "IntFlag"})
_VIEWS = frozenset({"ResolvedView", "ResolvingConfig"})
MODEL_CONFIG = "sglang.srt.configs.model_config"


def base_names(cls: ClassValue) -> frozenset[str]:
    """Last part of each base's name."""
    return _base_names(cls.node)


@cache
def _base_names(tree: ast.ClassDef) -> frozenset[str]:
    return frozenset(ast.unparse(b).split(".")[-1].split("[")[0] for b in tree.bases)


def bases(run: Run, cls: ClassValue) -> list[ClassValue]:
    """The base classes that lie in the release."""
    if cls.node not in run.bases_of:
        run.bases_of[cls.node] = _bases(run, cls)
    return run.bases_of[cls.node]


def _bases(run: Run, cls: ClassValue) -> list[ClassValue]:
    out = []
    for tree in cls.node.bases:
        try:
            value = expressions.evaluate(run, tree, Frame(cls.module))
        except (Unreadable, Dead):
            continue
        if isinstance(value, ClassValue):
            out.append(value)
    return out


def lineage(run: Run, cls: ClassValue) -> list[str]:
    """Names of a class and of all that it is derived from."""
    out = [cls.name, *base_names(cls)]
    for base in bases(run, cls):
        out += lineage(run, base)
    return out


def enum_kind(run: Run, cls: ClassValue) -> str:
    """``valued`` for enumerations whose members are their values, ``plain`` for others, or ""."""
    names = base_names(cls)
    if not names & _ENUMS:
        inherited = [enum_kind(run, b) for b in bases(run, cls)] if names else []
        return next((k for k in inherited if k), "")
    return "valued" if names & _VALUED else "plain"


def attribute(run: Run, cls: ClassValue, name: str) -> Value:
    """A class attribute, or ABSENT."""
    for statement in cls.node.body:
        value = _assigned(statement, name)
        if value is None:
            continue
        kind = enum_kind(run, cls)
        if kind and not name.startswith("_") and (kind == "plain" or _is_auto(value)):
            text = f"{cls.name}.{name}"
            run.enums[text] = (cls, name)
            return text
        return expressions.evaluate(run, value, Frame(cls.module, owner=cls))
    for base in bases(run, cls):
        found = attribute(run, base, name)
        if found is not ABSENT:
            return found
    return ABSENT


def _is_auto(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and ast.unparse(tree.func).split(".")[-1] == "auto"


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    if isinstance(statement, ast.Assign):
        names = {t.id for t in statement.targets if isinstance(t, ast.Name)}
        return statement.value if name in names else None
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.value if statement.target.id == name else None
    return None


def method(run: Run, cls: ClassValue, name: str) -> FunctionValue | None:
    """A method of a class or its bases, not bound."""
    for statement in cls.node.body:
        if (
            isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
            and statement.name == name
        ):
            return FunctionValue(cls.module, statement, owner=cls)
    for base in bases(run, cls):
        found = method(run, base, name)
        if found is not None:
            return found
    return None


def decorators(function: FunctionValue) -> set[str]:
    """Last part of each decorator's name."""
    found = getattr(function.node, "decorator_list", [])
    return {ast.unparse(d.func if isinstance(d, ast.Call) else d).split(".")[-1] for d in found}


def is_property(function: FunctionValue) -> bool:
    """Tell whether a method is read like an attribute."""
    return any("property" in name for name in decorators(function))


def bind(run: Run, function: FunctionValue, owner: Value, cls: ClassValue) -> Value:
    """A method taken from an instance: properties are evaluated, others bound."""
    marks = decorators(function)
    if "staticmethod" in marks:
        return function
    receiver = cls if "classmethod" in marks else owner
    bound = FunctionValue(function.module, function.node, None, receiver, function.owner)
    return calls.call(run, bound, [], {}) if is_property(function) else bound


def config_method(run: Run, name: str) -> FunctionValue | None:
    """A method of the release's ModelConfig."""
    module = run.modules.get(MODEL_CONFIG)
    definition = module.definitions.get("ModelConfig") if module else None
    if module is None or not isinstance(definition, ast.ClassDef):
        return None
    return method(run, ClassValue(module, definition), name)


def member_named(run: Run, cls: ClassValue, key: Operand) -> Value:
    """``Enumeration[key]``."""
    members = iteration.enum_members(cls)
    values = [(n, attribute(run, cls, n)) for n in members]
    if not isinstance(key, Expr):
        if key not in members:
            raise Dead("KeyError")
        return dict(values)[str(key)]
    statements.raise_if_caught(run, "KeyError", node("not_in", key, tuple(members)))
    if run.beyond:
        return _chosen(key, [(n, run.operand(v)) for n, v in values])
    rows = [x for n, v in values for x in (n, True, run.operand(v))]
    return node("item", raw("table", *rows), key)


def construct(run: Run, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cls(*args, **kwargs)``."""
    if cls.name in _VIEWS:
        snapshot = run.snapshot() if cls.name == "ResolvedView" else None
        return View(snapshot)
    kind = enum_kind(run, cls)
    if kind:
        return _enum_of_value(run, cls, kind, args[0])
    if run.beyond:
        built.notice(run, cls, kwargs)
    if cls.module.name.startswith(run.unread) and cls.name not in run.entered:
        return raw("opaque", cls.name)
    reference = run.allocate(Instance(cls, {}))
    initialiser = method(run, cls, "__init__")
    if initialiser is not None:
        calls.call(
            run,
            FunctionValue(initialiser.module, initialiser.node, None, reference, initialiser.owner),
            args,
            kwargs,
        )
        return reference
    if "NamedTuple" not in base_names(cls) and not _has_fields(run, cls):
        return reference
    run.store(reference, Instance(cls, _fields(run, cls, args, kwargs)))
    after = method(run, cls, "__post_init__")
    if after is not None:
        calls.call(
            run, FunctionValue(after.module, after.node, None, reference, after.owner), [], {}
        )
    return reference


def _has_fields(run: Run, cls: ClassValue) -> bool:
    return any(isinstance(s, ast.AnnAssign) for s in cls.node.body) or any(
        _has_fields(run, b) for b in bases(run, cls)
    )


def _enum_of_value(run: Run, cls: ClassValue, kind: str, value: Value) -> Value:
    operand = run.operand(value)
    if kind == "plain":
        return _plain_member(run, cls, operand)
    members = tuple(run.operand(attribute(run, cls, n)) for n in iteration.enum_members(cls))
    if run.beyond:
        return operand
    known = node("in", operand, members)
    if isinstance(known, Expr):
        return node("if", known, operand, raw("crash", "ValueError"))
    if not known:
        raise Dead("ValueError")
    return operand


def _plain_member(run: Run, cls: ClassValue, value: Operand) -> Value:
    """The member of an enumeration that holds a value."""
    rows: list[Operand] = []
    told = run.wary and isinstance(value, Expr)
    member: Operand = _missing(run, cls) if told else None
    for name in iteration.enum_members(cls):
        tree = next(t for s in cls.node.body if (t := _assigned(s, name)) is not None)
        held = expressions.evaluate(run, tree, Frame(cls.module, owner=cls))
        if _is_auto(tree) or isinstance(held, Expr) or not is_operand(held):
            raise Unreadable(f"{cls.name} of a value")
        rows += [held, True, run.operand(attribute(run, cls, name))]
        member = if_(node("eq", value, held), rows[-1], member)
    if told:
        return member
    if run.beyond:
        return _chosen(value, list(zip(rows[::3], rows[2::3], strict=True)))
    return node("item", raw("table", *rows), value)


def held(run: Run, cls: ClassValue, name: str) -> Operand:
    """What a member of an enumeration holds; the member itself where it is numbered by Python."""
    tree = next((t for s in cls.node.body if (t := _assigned(s, name)) is not None), None)
    if tree is None or _is_auto(tree):
        return f"{cls.name}.{name}"
    return run.operand(expressions.evaluate(run, tree, Frame(cls.module, owner=cls)))


def stores(run: Run, cls: ClassValue, name: str) -> bool:
    """Whether some method of a class or its bases stores an attribute in its objects."""
    for part in nodes_of(cls.node):
        written = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        if written and part.attr == name and isinstance(part.value, ast.Name):  # type: ignore[attr-defined]
            return True
    return any(stores(run, base, name) for base in bases(run, cls))


def _missing(run: Run, cls: ClassValue) -> Operand:
    """The member that an enumeration gives for a value that none of its members holds."""
    given = method(run, cls, "_missing_")
    returned = given.node.body[-1] if given is not None else None  # type: ignore[index]
    if isinstance(returned, ast.Return) and isinstance(returned.value, ast.Attribute):
        return run.operand(attribute(run, cls, returned.value.attr))
    return raw("crash", "ValueError")


def _chosen(value: Operand, members: list[tuple[Operand, Operand]]) -> Operand:
    """The member that a value names, the last one where it names no other.

    Options have the members for choices; another value ends the launch when it is looked up.
    """
    chosen = members[-1][1]
    for name, member in reversed(members[:-1]):
        chosen = node("if", node("eq", value, name), member, chosen)
    return chosen


def is_foreign(run: Run, cls: ClassValue) -> bool:
    """Whether a class inherits from something outside of the release."""
    own = bases(run, cls)
    return len(own) < len(cls.node.bases) or any(is_foreign(run, b) for b in own)


def _declared(run: Run, cls: ClassValue) -> list[tuple[str, ast.expr | None, ClassValue]]:
    out: dict[str, tuple[str, ast.expr | None, ClassValue]] = {}
    for base in bases(run, cls):
        out.update({row[0]: row for row in _declared(run, base)})
    for statement in cls.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if "ClassVar" in ast.unparse(statement.annotation):
                continue
            out[statement.target.id] = (statement.target.id, statement.value, cls)
    return list(out.values())


def field_names(run: Run, cls: ClassValue) -> list[str]:
    """Names of the fields that a class and its bases declare."""
    return [name for name, _, _ in _declared(run, cls)]


def _fields(
    run: Run, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    attributes: dict[str, Value] = {}
    for position, (name, default, owner) in enumerate(_declared(run, cls)):
        if position < len(args):
            attributes[name] = args[position]
        elif name in kwargs:
            attributes[name] = _given(run, kwargs[name], default, owner)
        elif default is not None:
            attributes[name] = _default(run, default, Frame(owner.module, owner=owner))
    return attributes


def _given(run: Run, value: Value, default: ast.expr | None, owner: ClassValue) -> Value:
    if not isinstance(value, calls.Perhaps):
        return value
    other = _default(run, default, Frame(owner.module, owner=owner)) if default else None
    return merge_values(run, value.there, value.value, other)


def _default(run: Run, tree: ast.expr, frame: Frame) -> Value:
    if isinstance(tree, ast.Call) and ast.unparse(tree.func).split(".")[-1] == "field":
        given = {k.arg: k.value for k in tree.keywords}
        if "default_factory" in given:
            return calls.call(
                run, expressions.evaluate(run, given["default_factory"], frame), [], {}
            )
        return expressions.evaluate(run, given["default"], frame) if "default" in given else None
    return expressions.evaluate(run, tree, frame)
