"""The state of a symbolic run: one flat map that is copied at a branch and merged behind it.

Keys and values:

* ``("raw", field)`` the field as written, ``("now", field)`` the resolved view of it,
  ``("declared", field)`` the condition under which it was declared;
* ``("env", name)`` a pair (condition, value) of what the pipeline wrote to the environment;
* ``("heap", n)`` an object (:class:`Sequence`, :class:`Table`, :class:`Instance`);
* ``("local", call, name)`` a local variable; ``("extra", root, name)`` an attribute of a
  model configuration that depends on flags, or its ``built`` condition.

What fields are where nobody wrote them is not in the map but in ``Run.settled``: some 1,600 values
that would be copied at every branch. :meth:`Run.field` looks at both.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from itertools import compress, count, islice
from typing import TYPE_CHECKING, Any, TypeAlias

from kvsolve.model.expression import Expr, Operand, all_of, if_, negate, same
from kvsolve.upstream.reader.values import (
    ABSENT,
    BoundMethod,
    ClassValue,
    FunctionValue,
    HeapRef,
    Record,
    Union,
    Value,
    View,
    is_operand,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.upstream.reader.run import Run

__all__ = [
    "Instance",
    "Key",
    "Sequence",
    "State",
    "Table",
    "joined",
    "merge",
    "merge_values",
    "parts",
]

Key: TypeAlias = tuple[Any, ...]
State: TypeAlias = dict[Key, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """A list or set; each item with the condition that it is there."""

    kind: str
    items: tuple[tuple[Operand, Value], ...]
    label: str = ""

    @property
    def certain(self) -> bool:
        """Whether every item is there for sure."""
        return all(condition is True for condition, _ in self.items)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A dictionary; each entry with the condition that it is there."""

    entries: Mapping[Any, tuple[Operand, Value]]
    label: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a class of the release.

    Attributes:
        whole: Whether it holds all that it holds; of one that reading came upon in the middle the
            other attributes are not known.
    """

    cls: ClassValue
    attributes: Mapping[str, Value]
    label: str = ""
    whole: bool = True


def parts(value: Value) -> tuple[Value, ...]:
    """The values that a value or the payload of an object holds."""
    match value:
        case tuple():
            return value
        case Union(then=then, other=other):
            return (then, other)
        case Sequence(items=items):
            return tuple(held for _, held in items)
        case Table(entries=entries):
            return tuple(held for _, held in entries.values())
        case Instance(attributes=attributes):
            return tuple(attributes.values())
        case BoundMethod(owner=owner):
            return (owner,)
        case FunctionValue(bound=bound):
            return (bound,)
    return ()


class _Merge:
    """Joins two states that a test tells apart."""

    def __init__(self, run: Run, test: Expr, then: State, other: State) -> None:
        self.run, self.test = run, test
        self.then, self.other = then, other
        self.out: State = dict(then)
        self.merged: dict[tuple[HeapRef, HeapRef], HeapRef] = {}

    def merge(self) -> State:
        then, other = self.then, self.other
        settled, rank = self.run.settled, self.run.rank
        get = then.get
        alike = _common_keys(then, other)
        told_apart = map(operator.is_not, islice(then.values(), alike), other.values())
        changed = list(compress(islice(then, alike), told_apart))
        rest = islice(other.items(), alike, None)
        changed += [k for k, b in rest if get(k, ABSENT) is not b]
        changed += [k for k in islice(then, alike, None) if k not in other]
        fields = sorted((k for k in changed if k in rank), key=rank.__getitem__)
        for key in [*fields, *(k for k in changed if k not in rank)]:
            unsaid = settled.get(key, ABSENT)
            a, b = get(key, unsaid), other.get(key, unsaid)
            if a is not b:
                self.out[key] = self.join(key, a, b)
        return self.out

    def join(self, key: Key, a: Value, b: Value) -> Value:
        kind = key[0]
        if kind == "env":
            return self.environment(key, a, b)
        if kind == "heap":
            return self.payloads(a, b)
        if kind in ("now", "raw") and key[1] in self.run.fields:
            return self.slot(key, a, b)
        if kind == "extra":
            a, b = (self.fact(key) if x is ABSENT else x for x in (a, b))
        if kind == "raw":
            a, b = (None if x is ABSENT else x for x in (a, b))
        value = self.values(a, b)
        if kind == "local":
            return self.run.named(key[2], value)
        if kind == "declared":
            return self.run.named(f"{key[1]}_is_declared", value)
        if kind == "extra":
            return self.run.named(f"{key[1]}_{key[2]}", value)
        return value

    def fact(self, key: Key) -> Value:
        """What an attribute of a model configuration is where no flag was read for it."""
        return False if key[2] == "built" else self.run.config_fact(key[1], key[2])

    def environment(self, key: Key, a: Value, b: Value) -> Value:
        a = (False, None) if a is ABSENT else a
        b = (False, None) if b is ABSENT else b
        written = if_(self.test, a[0], b[0])
        if a[0] is False or b[0] is False:
            return written, (b if a[0] is False else a)[1]
        return written, self.run.named(key[1], self.values(a[1], b[1]))

    def slot(self, key: Key, a: Value, b: Value) -> Value:
        kind, name = key
        current = self.run.log.current(name if kind == "now" else f"raw.{name}")
        if is_operand(a) and is_operand(b):
            if same(a, b):
                return a
            meaning = self.run.log.meaning
            inner = [meaning.get(x, x) if x is current else x for x in (a, b)]
            meaning[current] = if_(self.test, *inner)
            return current
        merged = self.values(a, b)
        if isinstance(merged, Union):
            return Union(merged.test, merged.then, merged.other, current)
        return merged

    def values(self, a: Value, b: Value) -> Value:
        if a is b:
            return a
        if a is ABSENT:
            return self.half(b, negate(self.test))
        if b is ABSENT:
            return self.half(a, self.test)
        if isinstance(a, HeapRef) and isinstance(b, HeapRef):
            return self.references(a, b)
        if is_operand(a) and is_operand(b):
            return if_(self.test, a, b)
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.values(x, y) for x, y in zip(a, b, strict=True))
        if _alike(a, b):
            return a
        return Union(self.test, a, b)

    def half(self, value: Value, condition: Operand) -> Value:
        """A value that only one side has: the other side never reads it."""
        if isinstance(value, Expr) and self.run.can_fail(value):
            return if_(condition, value, None)
        return value

    def references(self, a: HeapRef, b: HeapRef) -> Value:
        if a == b:
            return a
        if (a, b) in self.merged:
            return self.merged[a, b]
        payload_a = self.then.get(("heap", a.number)) or self.run.payload(a)
        payload_b = self.other.get(("heap", b.number)) or self.run.payload(b)
        if type(payload_a) is type(payload_b) and _joinable(payload_a, payload_b):
            number = self.run.next_object()
            self.out[("heap", number)] = self.payloads(payload_a, payload_b)
            self.merged[a, b] = HeapRef(number)
            return self.merged[a, b]
        return Union(self.test, a, b)

    def payloads(self, a: Value, b: Value) -> Value:
        if a is b or b is ABSENT:
            return a
        if a is ABSENT:
            return b
        if isinstance(a, Sequence) and isinstance(b, Sequence):
            return self.sequences(a, b)
        if isinstance(a, Table) and isinstance(b, Table):
            return self.tables(a, b)
        if isinstance(a, Instance) and isinstance(b, Instance):
            keys = [*a.attributes, *(k for k in b.attributes if k not in a.attributes)]
            merged = {k: self.attribute(a, b, k) for k in keys}
            return Instance(a.cls, merged, a.label or b.label, a.whole and b.whole)
        return a

    def attribute(self, a: Instance, b: Instance, name: str) -> Value:
        value = self.values(a.attributes.get(name, ABSENT), b.attributes.get(name, ABSENT))
        label = a.label or b.label or a.cls.name
        return self.run.named(f"{label}_{name}", value)

    def sequences(self, a: Sequence, b: Sequence) -> Sequence:
        label = a.label or b.label
        if a.kind == b.kind == "list" and len(a.items) == len(b.items) and a.certain and b.certain:
            pairs = zip(a.items, b.items, strict=True)
            return Sequence(
                "list", tuple((True, self.values(x, y)) for (_, x), (_, y) in pairs), label
            )
        common = 0
        for (c1, x), (c2, y) in zip(a.items, b.items, strict=False):
            if not (same(c1, c2) and _identical(x, y)):
                break
            common += 1
        inverse = negate(self.test)
        tail = [(all_of(self.test, c), x) for c, x in a.items[common:]]
        tail += [(all_of(inverse, c), x) for c, x in b.items[common:]]
        return Sequence(a.kind, (*a.items[:common], *tail), label)

    def tables(self, a: Table, b: Table) -> Table:
        keys = [*a.entries, *(k for k in b.entries if k not in a.entries)]
        merged: dict[Any, tuple[Operand, Value]] = {}
        for key in keys:
            c1, x = a.entries.get(key, (False, ABSENT))
            c2, y = b.entries.get(key, (False, ABSENT))
            there = c1 if same(c1, c2) else if_(self.test, c1, c2)
            merged[key] = (there, self.values(x, y))
        return Table(merged, a.label or b.label)


def _common_keys(then: State, other: State) -> int:
    """With how many of the same keys two copies of a state begin."""
    told_apart = map(operator.is_not, then, other)
    return next(compress(count(), told_apart), min(len(then), len(other)))


def _joinable(a: Value, b: Value) -> bool:
    if isinstance(a, Sequence):
        return bool(a.kind == b.kind)
    return not isinstance(a, Instance) or a.cls.node is b.cls.node


def _identical(a: Value, b: Value) -> bool:
    return (
        a is b
        or (is_operand(a) and is_operand(b) and same(a, b))
        or (isinstance(a, HeapRef) and a == b)
    )


def _alike(a: Value, b: Value) -> bool:
    """Whether two values are the same thing though not the same Python object."""
    if type(a) is not type(b):
        return False
    if isinstance(a, FunctionValue):
        return bool(a.node is b.node)
    if isinstance(a, ClassValue):
        return bool(a.node is b.node)
    if isinstance(a, View):
        return a.snapshot is b.snapshot or (a.snapshot is None) is (b.snapshot is None)
    if isinstance(a, (Union, tuple)):
        return False
    return isinstance(a, Record) or bool(a == b)


def merge(run: Run, test: Operand, then: State, other: State) -> State:
    """The state behind a branch: ``then`` where the test holds, ``other`` elsewhere."""
    if not isinstance(test, Expr):
        return then if test else other
    return _Merge(run, test, then, other).merge()


def joined(
    run: Run, test: Expr, then: State, other: State
) -> tuple[State, Callable[[Value, Value], Value]]:
    """The joined state, and a function that joins two values of the two states into it."""
    join = _Merge(run, test, then, other)
    return join.merge(), join.values


def merge_values(run: Run, test: Operand, a: Value, b: Value) -> Value:
    """``a if test else b`` for any two values of the present state."""
    if not isinstance(test, Expr):
        return a if test else b
    join = _Merge(run, test, run.state, run.state)
    join.out = run.state
    return join.values(a, b)
