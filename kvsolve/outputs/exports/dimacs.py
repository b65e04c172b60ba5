"""DIMACS CNF, and WCNF whose optimum is the valid configuration with the fewest flags changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.exports.legend import class_text, flag_name, legend
from kvsolve.solve.lowering.clauses import Clauses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["dimacs", "wcnf"]


def dimacs(lowered: Lowered) -> Iterator[str]:
    """DIMACS CNF; a model counter finds as many models as there are valid choices of classes."""
    clauses = Clauses(lowered)
    yield from _comments(lowered, clauses)
    yield f"p cnf {clauses.top} {len(clauses.clauses)}"
    for clause in clauses.clauses:
        yield " ".join(map(str, [*clause, 0]))


def wcnf(lowered: Lowered) -> Iterator[str]:
    """WCNF in the form of the MaxSAT evaluations since 2022: a soft clause for each flag's first
    value, the one that the configuration has."""
    clauses = Clauses(lowered)
    yield from _comments(lowered, clauses)
    for clause in clauses.clauses:
        yield " ".join(["h", *map(str, [*clause, 0])])
    for literals in clauses.literals:
        if literals:
            yield f"1 {literals[0]} 0"


def _comments(lowered: Lowered, clauses: Clauses) -> Iterator[str]:
    for line in legend(lowered):
        yield f"c {line}"
    for variable, literals in enumerate(clauses.literals):
        for number in range(len(clauses.classes[variable])):
            literal = literals[number] if literals else "-"
            name, values = flag_name(lowered, variable), class_text(lowered, variable, number)
            yield f"c {literal} {name} {values}"
