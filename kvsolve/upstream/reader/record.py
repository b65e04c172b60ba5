"""The server arguments: raw fields, the resolved view of them, declarations and writes.

Slot ``raw.flag`` is the field as written, slot ``flag`` the field overlaid by the declarations.
A write of a field moves the resolved view too where nothing was declared for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, negate
from kvsolve.upstream.reader import classes, iteration
from kvsolve.upstream.reader.state import Instance, Sequence, Table, merge_values
from kvsolve.upstream.reader.values import (
    ABSENT,
    RECORD,
    ConfigObject,
    HeapRef,
    Stash,
    Union,
    Unreadable,
    Value,
    View,
    is_operand,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.upstream.reader.run import Run

__all__ = [
    "declare",
    "declare_all",
    "label",
    "materialize",
    "read_raw",
    "read_view",
    "write_raw",
]

_CACHED, _CACHES = "model_config", "get_model_config"


def read_raw(run: Run, name: str) -> Value:
    """A field as written, or another attribute of the record; ABSENT when it has none."""
    if name == "_resolved_overrides":
        return Stash()
    if name in run.fields:
        return run.field("now" if run.aliased else "raw", name)
    own = run.state.get(("raw", name), ABSENT)
    if own is not ABSENT:
        return own
    if name == _CACHED and classes.method(run, run.record, _CACHES) is not None:
        # Up to 0.5.7 the attribute is read behind the method that fills it.
        return ConfigObject("model")
    method = classes.method(run, run.record, name)
    if method is not None:
        return classes.bind(run, method, RECORD, run.record)
    return classes.attribute(run, run.record, name)


def read_view(run: Run, view: View, name: str) -> Value:
    """A field as the declarations made so far (or at the time of the snapshot) resolve it."""
    if name not in run.fields:
        return read_raw(run, name)
    then = view.snapshot
    if then is None:
        return run.field("now", name)
    declared = run.assumed.condition(then["declared", name])
    live = read_raw(run, name)
    if declared is False:
        return live
    if declared is True or live is then["raw", name] or run.aliased:
        return then["now", name]
    return merge_values(run, declared, then["now", name], live)


def write_raw(run: Run, name: str, value: Value) -> None:
    """``server_args.name = value``."""
    if isinstance(value, Stash):
        return
    if name not in run.fields:
        run.state["raw", name] = value
        return
    label(run, value, name)
    if run.aliased:
        _put(run, "now", name, value, "assign")
        return
    _put(run, "raw", name, value, "assign")
    undeclared = run.assumed.condition(negate(run.field("declared", name)))
    if undeclared is False:
        return
    if not isinstance(undeclared, Expr):
        _put(run, "now", name, value, "assign")
        return
    before = run.state
    run.state = dict(before)
    with run.under(undeclared):
        _put(run, "now", name, value, "assign")
    run.state = run.merge(undeclared, run.state, before)


def declare(run: Run, name: Value, value: Value, when: Operand = True) -> None:
    """Overlay a field with a decision, under a further condition."""
    if not isinstance(name, str):
        raise Unreadable("a declaration of a computed field")
    when = run.assumed.condition(when)
    if when is False:
        return
    if name not in run.fields:
        raise Unreadable(f"a declaration of {name}, which is no field")
    label(run, value, name)
    if not isinstance(when, Expr):
        _put(run, "now", name, value, "declare")
        run.state["declared", name] = True
        return
    before = run.state
    run.state = dict(before)
    with run.under(when):
        declare(run, name, value)
    run.state = run.merge(when, run.state, before)


def declare_all(run: Run, declarations: Value) -> None:
    """Overlay every field that a dictionary holds."""
    if declarations is None:
        return
    if isinstance(declarations, Union):
        before = run.state
        run.state = dict(before)
        with run.under(declarations.test):
            declare_all(run, declarations.then)
        then, run.state = run.state, dict(before)
        with run.under(negate(declarations.test)):
            declare_all(run, declarations.other)
        run.state = run.merge(declarations.test, then, run.state)
        return
    entries: Mapping[str, tuple[Operand, Value]] = iteration.table_of(run, declarations).entries
    for name, (there, value) in list(entries.items()):
        declare(run, name, value, there)


def materialize(run: Run) -> None:
    """Write the declarations back: from here on both views are one."""
    run.aliased = True


def _put(run: Run, kind: str, name: str, value: Value, mode: str) -> None:
    slot = name if kind == "now" else f"raw.{name}"
    if run.quiet:
        raise Unreadable("a write in a loop over an unknown list")
    written = run.log.set(slot, run.operand(value), run.guard(), run.place(), mode)
    if not is_operand(value):
        run.state[kind, name] = value
        return
    run.state[kind, name] = written if isinstance(value, Expr) else value


def label(run: Run, value: Value, name: str) -> None:
    """Remember where an object is kept, for naming its parts."""
    if isinstance(value, Union):
        label(run, value.then, name)
        label(run, value.other, name)
    if not isinstance(value, HeapRef):
        return
    payload = run.payload(value)
    if payload.label:
        return
    if isinstance(payload, Instance):
        run.store(value, replace(payload, label=name))
        for key, part in payload.attributes.items():
            label(run, part, f"{name}_{key}")
    elif isinstance(payload, Sequence):
        run.store(value, Sequence(payload.kind, payload.items, name))
    elif isinstance(payload, Table):
        run.store(value, Table(payload.entries, name))
