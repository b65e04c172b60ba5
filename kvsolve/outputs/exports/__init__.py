"""A lowered context in the languages of other tools, so that others can check the answers.

Every export has one solution for each valid choice of a class of values for each flag, and comments
that say which value is which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.exports.dimacs import dimacs, wcnf
from kvsolve.outputs.exports.minizinc import minizinc
from kvsolve.outputs.exports.smtlib import smtlib
from kvsolve.outputs.exports.uvl import uvl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["EXPORTS"]

EXPORTS: dict[str, Callable[[Lowered], Iterator[str]]] = {
    "dimacs": dimacs,
    "wcnf": wcnf,
    "minizinc": minizinc,
    "uvl": uvl,
    "smtlib": smtlib,
}
"""By name of a format, what writes the lines of it."""
