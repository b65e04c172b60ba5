"""Colour for terminals, and nothing at all elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PLAIN", "Paint", "paint_for"]

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
    "error": "1;31",
    "warning": "1;33",
    "note": "1;34",
}


@dataclass(frozen=True, slots=True)
class Paint:
    """Wraps text in terminal styles where ``enabled``."""

    enabled: bool = False

    def __call__(self, style: str, text: str) -> str:
        """The text in a style: bold, dim, a colour, or the name of a severity."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.enabled and text else text


PLAIN = Paint()
"""Leaves every text as it is."""


def paint_for(stream: TextIO, environ: Mapping[str, str] | None = None) -> Paint:
    """Colour for terminals unless ``NO_COLOR`` is set to anything or the terminal is dumb."""
    env = os.environ if environ is None else environ
    if env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return PLAIN
    return Paint(stream.isatty())
