"""Going through collections whose items are known, each with the condition that it is there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, Operand, all_of, is_constant, negate, node
from kvsolve.upstream.reader import classes, names
from kvsolve.upstream.reader.state import Sequence, Table, merge_values
from kvsolve.upstream.reader.values import ClassValue, Dead, HeapRef, Union, Unreadable, Value

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = ["Items", "items", "iterable", "table_of"]

_KEYED = "cuda_graph_config"
_ALLOWED = ("sglang.srt.model_executor.cuda_graph_config", "ALLOWED_KEYS_PER_PHASE")
Items = list[tuple[Operand, Value]]


def items(run: Run, value: Value) -> Items:
    """The items of a collection in order.

    Raises:
        Unreadable: Its items are only known at run time.
        Dead: Upstream cannot go through it.
    """
    if isinstance(value, (tuple, str, range, list)):
        return [(True, x) for x in value]
    if isinstance(value, frozenset):
        return [(True, x) for x in sorted(value, key=repr)]
    if isinstance(value, HeapRef):
        payload = run.payload(value)
        if isinstance(payload, Sequence):
            return list(payload.items)
        if isinstance(payload, Table):
            return [(there, key) for key, (there, _) in payload.entries.items()]
    if isinstance(value, Union):
        return _either(run, value.test, value.then, value.other)
    if isinstance(value, Expr) and value.op == "if":
        return _either(run, *value.args)
    if isinstance(value, Expr) and value.op == "method" and value.args[1] == "items":
        found = _known_items(run, value.args[0])
        if found is not None:
            return found
    if isinstance(value, Expr) and value.op == "tuple":
        return [(True, x) for x in value.args]
    if isinstance(value, ClassValue) and classes.enum_kind(run, value):
        return [(True, classes.attribute(run, value, n)) for n in enum_members(value)]
    if value is None or isinstance(value, (bool, int, float)):
        raise Dead("TypeError")
    raise Unreadable(
        f"iteration over {value.op if isinstance(value, Expr) else type(value).__name__}"
    )


def _known_items(run: Run, owner: Operand) -> Items | None:
    """Items of a dictionary that the parser only lets through with known keys."""
    keys = known_keys(run, owner)
    if keys is None:
        return None
    return [(node("in", key, owner), (key, node("item", owner, key))) for key in keys]


def known_keys(run: Run, term: Operand) -> dict[str, Any] | None:
    """The keys that a dictionary can have, each with those of the dictionary below it."""
    if not isinstance(term, Expr):
        return None
    if term.op == "ref" and term.args[0].removeprefix("raw.") == _KEYED and not term.args[1]:
        table = names.global_name(run, *_ALLOWED)
        if not isinstance(table, HeapRef):
            return None
        return {
            str(key): {str(k): None for _, k in items(run, keys)}
            for key, (_, keys) in run.payload(table).entries.items()
        }
    if term.op == "if":
        sides = [known_keys(run, side) for side in term.args[1:]]
        return next((keys for keys in sides if keys is not None), None)
    if term.op == "item":
        above = known_keys(run, term.args[0])
        return None if above is None else above.get(term.args[1])
    return None


def _either(run: Run, test: Expr, then: Value, other: Value) -> Items:
    known = run.assumed.condition(test)
    if not isinstance(known, Expr):
        return items(run, then if known else other)
    left = [(all_of(test, c), x) for c, x in items(run, then)]
    return left + [(all_of(negate(test), c), x) for c, x in items(run, other)]


def enum_members(cls: ClassValue) -> list[str]:
    """Names of the members that an enumeration writes down."""
    return [
        target.id
        for statement in cls.node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]


def iterable(run: Run, value: Value) -> bool:
    """Tell whether :func:`items` can go through a value."""
    try:
        items(run, value)
    except (Unreadable, Dead):
        return False
    return True


def table_of(run: Run, value: Value) -> Table:
    """The dictionary behind a value.

    Raises:
        Unreadable: Its keys are only known at run time.
    """
    if isinstance(value, HeapRef) and isinstance(payload := run.payload(value), Table):
        return payload
    if isinstance(value, Union):
        left, right = table_of(run, value.then), table_of(run, value.other)
        joined = merge_values(run, value.test, run.allocate(left), run.allocate(right))
        return table_of(run, joined)
    if value is None:
        raise Dead("TypeError")
    if isinstance(value, Expr) and value.op == "table" and all(map(is_constant, value.args[::3])):
        rows = zip(value.args[::3], value.args[1::3], value.args[2::3], strict=True)
        return Table({key: (there, item) for key, there, item in rows})
    raise Unreadable("a dictionary with unknown keys")
