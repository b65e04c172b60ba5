"""The stages past argument resolution, in the order of a start-up."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.model.program import Place, Refuse
from kvsolve.packs.files import constraints_directory
from kvsolve.upstream.late_words import entry_statements
from kvsolve.upstream.reader import loading, model_classes, pieces, serving, start
from kvsolve.upstream.reader.attention_backends import read_attention_backends
from kvsolve.upstream.reader.later import read_later
from kvsolve.upstream.reader.linear_attention import read_linear_attention
from kvsolve.upstream.reader.pools import read_pools
from kvsolve.upstream.reader.premises import Premises
from kvsolve.upstream.reader.quantised import read_quantised

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.model.expression import Operand
    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.run import Run

__all__ = ["read_on"]

_PROOF = "sglang.srt.mem_cache.kv_cache_configurator"
"""Releases without this module are judged up to argument resolution."""
_FAMILIES = {
    "is_deepseek_dsa": "late_is_dsa",
    "is_deepseek_v4": "late_is_dsv4",
    "is_minimax_sparse": "late_is_minimax_sparse",
}
_CONFIGURATIONS = {
    "hybrid_gdn_config": "late_is_gdn",
    "hybrid_kda_config": "late_is_kda",
    "mambaish_config": "late_is_recurrent",
}
"""Functions that ask for a family, and those that answer with the configuration, by its name."""
_SEVERAL = frozenset({"GDNKernelDispatcher.__init__", "KDAKernelDispatcher.__init__"})
"""Functions whose curated entries stand for several statements each, in part."""


def read_on(run: Run) -> Mapping[tuple[str, int], tuple[str, str]]:
    """Read the later stages and log what they refuse.

    Returns:
        File and line (as a traceback names it) of every statement met, with what its conditions
        are (``exact``, ``opaque``, ``model``, ``never``) and its stage.
    """
    if run.modules.get(_PROOF) is None:
        return {}
    place = Place("model_loader/utils.py", "get_model_architecture", 0, "get_model_architecture")
    with read_later(run) as later:
        later.skip = model_classes.by_hand
        built = run.log.let("built_model", model_classes.architecture(run), True, place)
        later.by_hand = frozenset(_by_hand(run))
        later.said = True
        start.read_before_models(run, later)
        served = loading.read_loading(run, later)
        later.said = False
        made = model_classes.read_models(run, later, built, served)
        later.said = True
        pieces.read_experts(run, later)
        start.read_after_models(run, later)
        pieces.read_others(run, later)
        named = {
            kind: run.log.let(f"built_{kind}", when, True, place) for kind, when in made.items()
        }
        _read_servers(run, later, served, named)
    known = {_at(step) for step in run.log.steps if isinstance(step, Refuse)}
    # What resolution refuses already never comes so far.
    run.log.steps.extend(step for step in later.finish() if _at(step) not in known)
    return later.told


def _read_servers(run: Run, later: Later, served: Operand, made: Mapping[str, Operand]) -> None:
    """The layers of a quantisation, and stages pool and attention, which start from a runner."""
    premises = Premises(run)
    later.led = True
    read_quantised(run, later, premises, served, made)
    later.led, later.wary = False, True
    run.families = {
        **{name: premises.said(name, text) for name, text in _FAMILIES.items()},
        **{name: serving.family(premises, text) for name, text in _CONFIGURATIONS.items()},
    }
    read_pools(run, later, premises)
    read_attention_backends(run, later, premises)
    read_linear_attention(run, later, premises)


def _by_hand(run: Run) -> Iterator[tuple[str, int]]:
    """File and line, as a traceback names it, of what curated entries stand for."""
    root = constraints_directory() / "sglang"
    for file, entry, statement in entry_statements(run.tree, root):
        if entry["ground"]["symbol"] not in _SEVERAL:
            told = statement.test if isinstance(statement, ast.Assert) else statement
            yield file, told.lineno


def _at(step: Refuse) -> tuple[str, int]:
    return step.place.file, step.place.line
