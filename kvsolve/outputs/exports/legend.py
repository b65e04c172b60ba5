"""What an export says about itself, whatever its comments look like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kvsolve import __version__
from kvsolve.solve.lowering.gates import bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["class_text", "flag_name", "legend", "literal_text"]


def legend(lowered: Lowered) -> Iterator[str]:
    """The comment lines at the top."""
    context = lowered.prepared.context
    pack = lowered.prepared.pack
    yield f"kvsolve {__version__}: SGLang {pack.release} on {context.gpu}, model {context.model}"
    yield f"Judged up to the stage {lowered.prepared.stage}; flags not named here are held."
    yield "Each flag has one of its values; values that no entry tells apart share a line."
    for constraint in lowered.pending:
        code = pack.catalog.entry(constraint.step).code
        yield f"LEFT OUT: {code} computes with too many values, so that this allows too much."


def flag_name(lowered: Lowered, variable: int) -> str:
    """How a flag is typed."""
    flags = lowered.prepared.pack.flags.by_dest(lowered.dests[variable])
    return flags[0].name


def class_text(lowered: Lowered, variable: int, number: int) -> str:
    """The values of a class, the default as ``unset`` where the flag is left out."""
    states = lowered.states[variable]
    own = [states[state] for state in bits(lowered.classes[variable][number])]
    return " ".join(_text(s.value) if s.typed else f"unset({_text(s.value)})" for s in own)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)


def literal_text(literal: int, name: str, negation: str) -> str:
    """A literal by the name of its node."""
    return name if literal > 0 else negation.format(name)
