"""UVL, the universal variability language: a feature for each class of values of each flag.

Gates are abstract features too, each defined by a constraint, so that a configuration of the
feature model is one valid choice and no two choose alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.exports.legend import class_text, flag_name, legend, literal_text
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["uvl"]

_GROUP = 8


def uvl(lowered: Lowered) -> Iterator[str]:
    """A feature model."""
    for line in legend(lowered):
        yield f"// {line}"
    for variable, own in enumerate(lowered.classes):
        for number in range(len(own)):
            text = class_text(lowered, variable, number)
            yield f"// x{variable}_{number} is {flag_name(lowered, variable)} = {text}"
    nodes = lowered.gates.below(lowered.forbidden)
    yield "features"
    yield "\troot {abstract}"
    if lowered.classes:
        yield "\t\tmandatory"
    for variable, own in enumerate(lowered.classes):
        yield f"\t\t\tx{variable} {{abstract}}"
        yield "\t\t\t\talternative" if len(own) > 1 else "\t\t\t\tmandatory"
        yield from (f"\t\t\t\t\tx{variable}_{number}" for number in range(len(own)))
    if nodes:
        yield "\t\toptional"
        yield from (f"\t\t\tg{node} {{abstract}}" for node in nodes)
    yield "constraints"
    yield from _constraints(lowered, nodes)


def _constraints(lowered: Lowered, nodes: list[int]) -> Iterator[str]:
    gates = lowered.gates
    for node in nodes:
        if node in gates.tests:
            variable, mask = gates.tests[node]
            own = enumerate(lowered.classes[variable])
            body = _joined([f"x{variable}_{n}" for n, states in own if states & mask], " | ")
        else:
            parts = [literal_text(p, f"g{abs(p)}", "!{}") for p in gates.parts[node]]
            body = _joined(parts, " & ")
        yield f"\tg{node} <=> ({body})"
    for root in lowered.forbidden:
        if root == TRUE:
            yield "\troot & !root"
        elif root != FALSE:
            yield f"\t{literal_text(-root, f'g{abs(root)}', '!{}')}"


def _joined(parts: list[str], operator: str) -> str:
    """Parts put together in groups: readers that go down an operand at a time get no deeper than
    a few levels, where a chain of hundreds is more than flamapy's can take."""
    while len(parts) > _GROUP:
        runs = (parts[at : at + _GROUP] for at in range(0, len(parts), _GROUP))
        parts = [f"({operator.join(run)})" for run in runs]
    return operator.join(parts)
