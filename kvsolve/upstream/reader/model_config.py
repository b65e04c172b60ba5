"""ModelConfig: built once, at whichever handler asks first; read inline for its refusals.

Of its attributes only those that a flag changes come from the reading; the others are facts of
the model (``model.*``), and those of a draft's own configuration are facts of the draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, negate
from kvsolve.upstream.reader import calls, classes, overridden
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

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = ["construct", "of_record"]

_FROM_FLAGS = (
    "context_len",
    "quantization",
    "is_generation",
    "is_hybrid_swa",
    "is_multimodal",
    "is_multimodal_active",
    "is_multimodal_breakable_cuda_graph_supported",
    "is_multimodal_chunked_prefill_supported",
    "is_multimodal_piecewise_cuda_graph_supported",
)
_OWN_PATHS = ("model_path", "raw.model_path")
_BUILT = ("extra", "model", "built")


def of_record(run: Run) -> Value:
    """The cached model configuration of the server arguments."""
    built = run.assumed.condition(run.state.get(_BUILT, False))
    if built is not True and "model" not in run.building:
        before = run.state
        run.state = dict(before)
        with run.under(negate(built)):
            _build(run)
        if not run.known(run.guard()):
            # Whether upstream comes here is not known: what it caches here must not be relied on.
            run.state = before
            return ConfigObject("model")
        run.state[_BUILT] = True
        if isinstance(built, Expr):
            run.state = run.merge(built, before, run.state)
            run.state[_BUILT] = True
    return ConfigObject("model")


def _build(run: Run) -> None:
    """Read the construction; keep its refusals and the attributes that flags change."""
    before = run.state
    run.state = dict(before)
    found: dict[str, Value] = {}
    run.building.append("model")
    run.lacking = overridden.Lacking(len(run.path))
    depth = run.depth()
    try:
        result = _read(run, [RECORD], {})
        if isinstance(result, HeapRef) and isinstance(payload := run.payload(result), Instance):
            found = _flag_dependent(run, payload)
    except Dead:
        run.restore(depth)
    except Unreadable as error:
        run.restore(depth)
        run.gap(f"ModelConfig: {error}")
    finally:
        run.building.pop()
    overridden.tell(run)
    run.lacking = None
    run.state = dict(before)
    for key in [k for k in before if k[:2] == _BUILT[:2] and k != _BUILT]:
        del run.state[key]
    for name, value in found.items():
        run.state["extra", "model", name] = run.named(f"model_{name}", value)


def _flag_dependent(run: Run, payload: Instance) -> dict[str, Value]:
    """Attributes that a flag changes and that the reading knows; the others are facts."""
    out: dict[str, Value] = {}
    for name in _FROM_FLAGS:
        value = payload.attributes.get(name)
        if isinstance(value, Expr) and run.known(value) and not calls.facts_only(run, value):
            out[name] = value
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
    if plain:
        return of_record(run)
    path = kwargs.get("model_path")
    own = isinstance(path, Expr) and path.op == "ref" and path.args[0] in _OWN_PATHS
    return ConfigObject("model" if own and not kwargs.get("is_draft_model") else "draft")
