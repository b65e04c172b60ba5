"""ModelConfig: built once, at whichever handler asks first; read inline for its refusals.

Of its attributes only those that a flag changes come from the reading; the others are facts of
the model (``model.*``), and those of a draft's own configuration are facts of the draft.
"""

from __future__ import annotations

from kvsolve.model.expression import Expr, Operand, negate
from kvsolve.upstream.reader import calls, classes
from kvsolve.upstream.reader.run import Run
from kvsolve.upstream.reader.state import Instance
from kvsolve.upstream.reader.values import (
    ABSENT,
    RECORD,
    ConfigObject,
    Dead,
    FunctionValue,
    HeapRef,
    Record,
    Unreadable,
    Value,
    View,
)

__all__ = ["construct", "of_record"]

_FROM_FLAGS = ("context_len", "quantization")
_BUILT = ("extra", "model", "built")


def of_record(run: Run) -> Value:
    """The cached model configuration of the server arguments."""
    built = run.assumed.condition(run.state.get(_BUILT, False))
    if built is not True and "model" not in run.building:
        before = run.state
        run.state = dict(before)
        with run.under(negate(built)):
            _build(run)
        run.state[_BUILT] = True
        if isinstance(built, Expr):
            run.state = run.merge(built, before, run.state)
            run.state[_BUILT] = True
    return ConfigObject("model")


def _build(run: Run) -> None:
    """Read the construction; keep its refusals and the attributes that flags change."""
    before = run.state
    run.state = dict(before)
    found: dict[str, Operand] = {}
    run.building.append("model")
    depth = run.depth()
    try:
        result = _read(run, [RECORD], {})
        if isinstance(result, HeapRef) and isinstance(payload := run.payload(result), Instance):
            found = _operands(run, payload)
    except Dead:
        run.restore(depth)
    except Unreadable as error:
        run.restore(depth)
        run.gap(f"ModelConfig: {error}")
    finally:
        run.building.pop()
    run.state = dict(before)
    for name, value in found.items():
        run.state["extra", "model", name] = run.named(f"model_{name}", value)


def _operands(run: Run, payload: Instance) -> dict[str, Operand]:
    out = {}
    for name in _FROM_FLAGS:
        try:
            if name in payload.attributes:
                out[name] = run.operand(payload.attributes[name])
        except Unreadable:
            continue
    return out


def _read(run: Run, args: list[Value], kwargs: dict[str, Value]) -> Value:
    factory = classes.config_method(run, "from_server_args")
    if factory is None or factory.owner is None:
        raise Unreadable("the release has no ModelConfig.from_server_args")
    bound = factory.owner if "classmethod" in classes.decorators(factory) else ABSENT
    function = FunctionValue(factory.module, factory.node, None, bound, factory.owner)
    return calls.inline(run, function, args, kwargs)


def construct(run: Run, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``ModelConfig.from_server_args(...)`` called by a handler itself, mostly for a draft."""
    plain = bool(args) and isinstance(args[0], (Record, View)) and len(args) == 1 and not kwargs
    return of_record(run) if plain else ConfigObject("draft")
