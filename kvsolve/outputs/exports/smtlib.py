"""SMT-LIB 2.6: an integer for each flag, a defined Boolean for each gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.exports.legend import class_text, flag_name, legend, literal_text
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["smtlib"]


def smtlib(lowered: Lowered) -> Iterator[str]:
    """A script that ends in ``(check-sat)``."""
    for line in legend(lowered):
        yield f"; {line}"
    yield "(set-logic QF_LIA)"
    for variable, own in enumerate(lowered.classes):
        yield f"; x{variable} is {flag_name(lowered, variable)}"
        for number in range(len(own)):
            yield f";   {number} = {class_text(lowered, variable, number)}"
        yield f"(declare-const x{variable} Int)"
        yield f"(assert (and (<= 0 x{variable}) (<= x{variable} {len(own) - 1})))"
    gates = lowered.gates
    for node in gates.below(lowered.forbidden):
        if node in gates.tests:
            variable, mask = gates.tests[node]
            numbers = [n for n, own in enumerate(lowered.classes[variable]) if own & mask]
            body = _joined("or", [f"(= x{variable} {n})" for n in numbers])
        else:
            body = _joined(
                "and", [literal_text(p, f"g{abs(p)}", "(not {})") for p in gates.parts[node]]
            )
        yield f"(define-fun g{node} () Bool {body})"
    for root in lowered.forbidden:
        if root == TRUE:
            yield "(assert false)"
        elif root != FALSE:
            yield f"(assert {literal_text(-root, f'g{abs(root)}', '(not {})')})"
    yield "(check-sat)"


def _joined(op: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({op} {' '.join(parts)})"
