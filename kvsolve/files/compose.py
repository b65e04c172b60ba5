"""Variables in compose files: ``${NAME:-default}``, ``$NAME``, ``$$``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.strand import Strand, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.files.unknown import Unknowns

__all__ = ["interpolated"]

_VARIABLE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\})")


def interpolated(strand: Strand, told: Mapping[str, str], unknowns: Unknowns) -> Strand:
    """A text as compose hands it on.

    Args:
        strand: The text.
        told: Values that the user gives; compose takes them from the environment or ``.env``.
        unknowns: Keeps what is not known.
    """
    parts: list[Strand] = []
    done = 0
    for match in _VARIABLE.finditer(strand.text):
        parts.append(strand.part(done, match.start()))
        parts.append(_replaced(match, strand, told, unknowns))
        done = match.end()
    return joined([*parts, strand.part(done, len(strand))]) if done else strand


def _replaced(
    match: re.Match[str], strand: Strand, told: Mapping[str, str], unknowns: Unknowns
) -> Strand:
    place = strand.at[match.start()]
    escape, plain, braced, operation, operand = match.groups()
    if escape:
        return Strand("$", [place])
    name = plain or braced
    if name in told:
        text = told[name]
        return Strand(text, [place] * len(text), mapped=False)
    if operation in ("-", ":-"):
        return strand.part(*match.span(5))
    del operand
    mark = unknowns.mark(match.group(), f"${name} is not set in this file")
    return Strand(mark, [place])
