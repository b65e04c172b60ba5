"""MiniZinc: an integer for each flag, a Boolean for each gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.exports.legend import class_text, flag_name, legend, literal_text
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["minizinc"]


def minizinc(lowered: Lowered) -> Iterator[str]:
    """A satisfaction problem."""
    for line in legend(lowered):
        yield f"% {line}"
    for variable, own in enumerate(lowered.classes):
        yield f"% x{variable} is {flag_name(lowered, variable)}"
        for number in range(len(own)):
            yield f"%   {number} = {class_text(lowered, variable, number)}"
        yield f"var 0..{len(own) - 1}: x{variable};"
    gates = lowered.gates
    for node in gates.below(lowered.forbidden):
        if node in gates.tests:
            variable, mask = gates.tests[node]
            numbers = [n for n, own in enumerate(lowered.classes[variable]) if own & mask]
            yield f"var bool: g{node} = x{variable} in {{{', '.join(map(str, numbers))}}};"
        else:
            parts = [literal_text(p, f"g{abs(p)}", "not {}") for p in gates.parts[node]]
            body = " /\\ ".join(parts)
            yield f"var bool: g{node} = ({body});"
    for root in lowered.forbidden:
        if root == TRUE:
            yield "constraint false;"
        elif root != FALSE:
            yield f"constraint {literal_text(-root, f'g{abs(root)}', 'not {}')};"
    yield "solve satisfy;"
