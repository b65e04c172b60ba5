"""The constructors of model classes: what an architecture refuses before its weights are loaded.

Each class that a model file offers is read from its ``__init__`` with the model's configuration,
its layers from the first one. What lies in the packages of layers is not entered.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from kvsolve.model.expression import Operand, all_of, any_of, negate, node, raw, walk
from kvsolve.upstream.reader import calls, classes, names
from kvsolve.upstream.reader.built import CONFIGURATION, KINDS, forget, noticed
from kvsolve.upstream.reader.later import one_of
from kvsolve.upstream.reader.loading import is_served, quantization
from kvsolve.upstream.reader.log import weight
from kvsolve.upstream.reader.modules import Named
from kvsolve.upstream.reader.state import merge_values
from kvsolve.upstream.reader.values import ClassValue, External, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.expression import Expr
    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.run import Run

__all__ = ["architecture", "by_hand", "read_models"]

_MODELS = "sglang/srt/models/*.py"
_UNREAD = (
    "sglang.srt.layers",
    "sglang.srt.eplb",
    "sglang.srt.multimodal",
    "sglang.jit_kernel",
    "sglang.kernels",
)
_ENTERED = frozenset(
    [
        "MambaMixer1",
        "MambaMixer2",
        "StageDeclaration",
        "_resolve_linear_group",
        "declare_ffn",
        "get_group_rank_size",
        "resolve_linear_parallel_group",
    ]
)
"""Layers that refuse widths of groups, and what tells which they are."""
_SHORT = 24
_MIXTRAL, _QUANTIZED = "MixtralForCausalLM", "QuantMixtralForCausalLM"
_ARCHITECTURES = "sglang.srt.model_loader.utils"

_BY_HAND = frozenset(
    f"{name}ForCausalLM"
    for name in (
        "Llama",
        "Qwen2",
        "Qwen3",
        "Qwen3Moe",
        "GptOss",
        "MiniMaxM2",
        "DeepseekV2",
        "DeepseekV3",
        "DeepseekV32",
        "GlmMoeDsa",
        "LongcatFlash",
    )
)
_HEADS = frozenset({"num_attention_heads", "num_key_value_heads"})


def by_hand(premise: Operand, guard: Operand) -> bool:
    """Whether widths of heads are told by a curated entry (KV8010 to KV8012)."""
    names = {t.args[1] for t in walk(premise) if t.op == "eq"}
    split = {t.args[1] for m in walk(guard) if m.op == "mod" for t in walk(m) if t.op == "attr"}
    return names <= _BY_HAND and bool(split & _HEADS)


def architecture(run: Run) -> Operand:
    """The class that is built, "" where that is none of the release's own."""
    config = raw("fact", "config")
    offered = node("getattr", config, "architectures", None)
    first = node("item", node("attr", config, "architectures"), 0)
    native = node("in", run.field("now", "model_impl"), ("auto", "sglang"))
    # On a CPU upstream changes the numbers of heads first, so that any width divides them.
    there = node("and", offered, native, node("ne", run.field("now", "device"), "cpu"))
    return node("if", there, first, "")


def read_models(run: Run, later: Later, built: Expr, served: Operand) -> dict[str, Operand]:
    """Read every model class of the release.

    Args:
        run: The run.
        later: Where refusals go.
        built: The term that names the class built.
        served: The quantisation that is served.

    Returns:
        When a model makes layers of a kind with the configuration of its quantisation.
    """
    made: dict[str, list[Operand]] = {kind: [] for kind in KINDS}
    glob = getattr(run.tree, "glob", None)
    for file in glob(_MODELS) if glob else ():
        for cls in _offered(run, file):
            premise = _chosen(run, built, cls.name)
            if premise is not None:
                forget(run)
                action = partial(_build, run, cls)
                local = later.read("load", premise, action, _UNREAD, entered=_ENTERED)
                lost = later.followed == 0
                for kind, rows in made.items():
                    rows += _made(run, later, premise, kind, local)
                if lost:  # from the very beginning
                    _read_unquantised(run, later, premise, cls, served)
    return {kind: _any(rows) for kind, rows in made.items()}


def _any(rows: list[Operand]) -> Operand:
    """Any of several classes; those that always do are listed in one term."""
    always = [row for row in rows if getattr(row, "op", "") == "eq"]
    return any_of(one_of(always), *(row for row in rows if row not in always))


def _read_unquantised(
    run: Run, later: Later, premise: Operand, cls: ClassValue, served: Operand
) -> None:
    """Read a class once more without a quantisation, whose object can lead past what follows."""
    plain = all_of(premise, is_served(served, None))
    action = partial(_build, run, cls, quantised=False)
    later.read("load", plain, action, _UNREAD, entered=_ENTERED)


def _made(
    run: Run, later: Later, premise: Operand, kind: str, local: set[str]
) -> Iterator[Operand]:
    """When a class makes a layer of a kind, where an entry can say that in short."""
    when = later.exact(noticed(run, kind), local)
    if when is not None and when is not False and weight(when) <= _SHORT:
        yield all_of(premise, when)


def _chosen(run: Run, built: Expr, name: str) -> Operand | None:
    """When a class is the one that is built; None where that is not known.

    The quantisation decides between the two classes of Mixtral.
    """
    if name not in (_MIXTRAL, _QUANTIZED):
        return node("eq", built, name)
    supported = _supported_mixtral(run)
    if not supported:
        return None
    fused = node("in", quantization(run), (None, *supported))
    return all_of(node("eq", built, _MIXTRAL), fused if name == _MIXTRAL else negate(fused))


def _supported_mixtral(run: Run) -> tuple[str, ...]:
    """The quantisations that the fused class of Mixtral serves."""
    module = run.modules.get(_ARCHITECTURES)
    for part in ast.walk(module.tree) if module else ():
        match part:
            case ast.Assign(targets=[ast.Name(id="mixtral_supported")], value=ast.List(elts=names)):
                return tuple(str(n.value) for n in names if isinstance(n, ast.Constant))
    return ()


def _offered(run: Run, file: str) -> Iterator[ClassValue]:
    module = run.modules.get(file.removesuffix(".py").replace("/", "."))
    offered = module.definitions.get("EntryClass") if module else None
    if module is None or not isinstance(offered, Named):
        return
    for part in ast.walk(offered.value):
        if isinstance(part, ast.Name):
            value = names.global_name(run, module.name, part.id)
            if isinstance(value, ClassValue):
                yield value


def _build(run: Run, cls: ClassValue, *, quantised: bool = True) -> Value:
    initialiser = classes.method(run, cls, "__init__")
    if initialiser is None:
        return None
    parameters = {a.arg for a in initialiser.node.args.args}
    given: dict[str, Value] = {"config": raw("fact", "config")}
    if CONFIGURATION in parameters:
        unset = node("is", quantization(run), None) if quantised else True
        given[CONFIGURATION] = merge_values(run, unset, None, External(CONFIGURATION))
    return calls.call(run, cls, [], given)
