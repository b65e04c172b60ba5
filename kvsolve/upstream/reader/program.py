"""Reading a whole release: the pipeline, then the final check, then the declared fallbacks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.expression import Operand, all_of, negate, node, raw
from kvsolve.model.program import Place, Program
from kvsolve.upstream.reader import calls, classes, inventory, names, stages, tidy
from kvsolve.upstream.reader.fields import record_class, record_fields
from kvsolve.upstream.reader.modules import Modules, Tree
from kvsolve.upstream.reader.run import Run
from kvsolve.upstream.reader.values import (
    RECORD,
    Dead,
    FunctionValue,
    Union,
    Unreadable,
    Value,
    is_operand,
)

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Mapping

    from kvsolve.upstream.reader.facts import FactNames

__all__ = ["Reading", "read_program", "read_release"]

_PIPELINE = ("sglang.srt.arg_groups.pipeline", "run_resolution_pipeline")
_PREDICATES = "sglang.srt.utils.common"
_WHOLE = "resolve_once"
_ENTRY_METHODS = ("_run_resolution_pipeline", "__post_init__")
_CHECK = "check_server_args"


@dataclass(frozen=True, slots=True)
class Reading:
    """A program and what its reading met.

    Attributes:
        unmapped: Dotted names across the boundary that no fact is named for, with their uses.
        unreadable: Functions of facts that became facts themselves, and why.
        rows: Every raise and assert statement of argument resolution and what became of it.
        outside: File and line of the statements that were read in other files, and whether the
            condition of each is exact.
        beyond: File and line (as a traceback names it) of what was read past argument resolution,
            with what its conditions are and the stage.
    """

    program: Program
    unmapped: Counter[str]
    unreadable: Mapping[str, str]
    rows: tuple[inventory.Row, ...]
    outside: Mapping[tuple[str, int], bool]
    beyond: Mapping[tuple[str, int], tuple[str, str]]


def read_program(
    tree: Tree,
    names: FactNames,
    fields: Mapping[str, Any] | None = None,
    settable: Collection[str] | None = None,
) -> Program:
    """The resolution program of a release; see :func:`read_release`."""
    return read_release(tree, names, fields, settable).program


def read_release(
    tree: Tree,
    names: FactNames,
    fields: Mapping[str, Any] | None = None,
    settable: Collection[str] | None = None,
) -> Reading:
    """Read a release.

    Args:
        tree: Its source.
        names: How its predicates are named as facts.
        fields: Field names and defaults; read from the source when not given.
        settable: Fields that a command line can set; the others start at their defaults. All
            when not given.

    Raises:
        KvsolveError: The source has no argument resolution to read.
    """
    modules = Modules(tree)
    record, declared = record_class(modules), record_fields(modules)
    run = Run(tree, record, modules, names, fields or declared.defaults)
    run.fallbacks = declared.fallbacks
    if settable is not None:
        _fix(run, frozenset(run.fields) - frozenset(settable))
    _set_on_platforms(run, declared.on_platform)
    _enter(run, _pipeline(run))
    _enter(run, _method(run, _CHECK))
    _finish(run, declared.fallbacks)
    rows, outside = inventory.take(run), inventory.outside(run)
    beyond = stages.read_on(run)
    steps = tidy.tidy(run.log.steps, frozenset(run.fields))
    return Reading(
        Program(
            tree.release,
            tuple(steps),
            tuple(tidy.gaps(run.gaps)),
            _digest(run),
            inventory.count(rows),
        ),
        run.unmapped,
        run.unreadable_functions,
        rows,
        outside,
        beyond,
    )


def _fix(run: Run, names: Collection[str]) -> None:
    """Start fields that no command line sets at their defaults."""
    place = _declared_at(run)
    for name in sorted(names):
        default = run.fields[name]
        if default == ():
            continue
        for kind, slot in (("raw", f"raw.{name}"), ("now", name)):
            run.log.set(slot, default, True, place, "assign")
            run.state[kind, name] = default


def _set_on_platforms(run: Run, names: Mapping[str, str]) -> None:
    """Start fields that are True by default on one platform; a switch can only turn them on."""
    place = _declared_at(run)
    for name, predicate in sorted(names.items()):
        fact = run.names.functions[f"{_PREDICATES}:{predicate}"]
        for kind, slot in (("raw", f"raw.{name}"), ("now", name)):
            run.log.set(slot, True, raw("fact", fact), place, "assign")
            run.state[kind, name] = run.log.current(slot)


def _declared_at(run: Run) -> Place:
    return Place("server_args.py", "ServerArgs", run.record.node.lineno, "ServerArgs")


def _pipeline(run: Run) -> tuple[FunctionValue, list[Any]]:
    if classes.method(run, run.record, _WHOLE) is not None:
        return _method(run, _WHOLE)
    if run.modules.get(_PIPELINE[0]) is not None:
        function = names.global_name(run, *_PIPELINE)
        if isinstance(function, FunctionValue):
            return function, [RECORD]
    for name in _ENTRY_METHODS:
        if classes.method(run, run.record, name) is not None:
            return _method(run, name)
    raise KvsolveError(f"SGLang {run.tree.release} has no argument resolution that can be read.")


def _method(run: Run, name: str) -> tuple[FunctionValue, list[Any]]:
    method = classes.method(run, run.record, name)
    if method is None:
        raise KvsolveError(f"SGLang {run.tree.release} has no ServerArgs.{name}.")
    return FunctionValue(method.module, method.node, None, RECORD, method.owner), []


def _enter(run: Run, entry: tuple[FunctionValue, list[Any]]) -> None:
    depth = run.depth()
    try:
        calls.inline(run, *entry, {})
    except Unreadable as error:
        run.restore(depth)
        run.gap(str(error), entry[0].node)
    except Dead:
        run.restore(depth)
        run.gap("every path ends in an exception", entry[0].node)


def _finish(run: Run, fallbacks: Mapping[str, Any]) -> None:
    """Bring slots of objects that changed after their last write up to date; add fallbacks."""
    place = _declared_at(run)
    for name in run.fields:
        _refresh(run, name, run.field("now", name), True, place)
    for name, value in sorted(fallbacks.items()):
        if name in run.fields:
            unset = node("is", run.log.current(name), None)
            run.log.set(name, value, unset, place, "default")


def _refresh(run: Run, name: str, value: Value, when: Operand, place: Place) -> None:
    """Write what an object holds at the end where its slot tells an earlier state."""
    if isinstance(value, Union):
        _refresh(run, name, value.then, all_of(when, value.test), place)
        _refresh(run, name, value.other, all_of(when, negate(value.test)), place)
    elif not is_operand(value):
        operand = run.operand(value)
        if run.log.meaning.get(run.log.current(name)) is not operand:
            run.log.set(name, operand, when, place, "assign")


def _digest(run: Run) -> str:
    """SHA-256 over the files that were read."""
    digest = hashlib.sha256()
    for file in run.modules.files_read():
        digest.update(f"{file}\0{run.tree.read(file)}\0".encode())
    return digest.hexdigest()
