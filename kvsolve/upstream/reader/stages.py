"""The stages past argument resolution, in the order of a start-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.program import Place, Refuse
from kvsolve.upstream.reader import model_classes
from kvsolve.upstream.reader.later import read_later

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.upstream.reader.run import Run

__all__ = ["read_on"]

_PROOF = "sglang.srt.mem_cache.kv_cache_configurator"
"""Releases without this module are judged up to argument resolution."""


def read_on(run: Run) -> Mapping[tuple[str, int], tuple[str, str]]:
    """Read the later stages and log what they refuse.

    Returns:
        File and line (as a traceback names it) of every statement met, with what its conditions
        are (``exact``, ``opaque``, ``model``) and its stage.
    """
    if run.modules.get(_PROOF) is None:
        return {}
    place = Place("model_loader/utils.py", "get_model_architecture", 0, "get_model_architecture")
    with read_later(run) as later:
        later.skip = model_classes.by_hand
        built = run.log.let("built_model", model_classes.architecture(run), True, place)
        model_classes.read_models(run, later, built)
    known = {_at(step) for step in run.log.steps if isinstance(step, Refuse)}
    # What resolution refuses already never comes so far.
    run.log.steps.extend(step for step in later.finish() if _at(step) not in known)
    return later.told


def _at(step: Refuse) -> tuple[str, int]:
    return step.place.file, step.place.line
