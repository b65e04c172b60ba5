"""Clauses for thousands of questions: fewer variables, the same configurations.

A gate is defined only in the directions in which it is used (Plaisted and Greenbaum, "A
structure-preserving clause form translation", 1986), and CaDiCaL's preprocessor eliminates what
remains to be eliminated (Eén and Biere, "Effective preprocessing in SAT through variable and clause
elimination", 2005). The choices of the flags and what is to be assumed later are kept. What a model
says of other gates means nothing; the clauses are not for counting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.solve.engines.python_sat import simplified
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.gates import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Lean"]

_TRUE_NEEDED, _FALSE_NEEDED = 1, 2
"""Whether some clause rests on a gate being true where it is claimed, or false."""


class Lean(Clauses):
    """Clauses with the same choices as :class:`Clauses`.

    Of the gates only ``doubts`` and ``suspect`` keep a literal, which may be assumed to be false.
    """

    def __init__(self, lowered: Lowered) -> None:
        kept = [d for d in (*lowered.doubts, *lowered.suspect) if d not in (TRUE, FALSE)]
        self._used = _directions(lowered, (*lowered.forbidden, *kept))
        super().__init__(lowered)
        named = {abs(node): self.literal(abs(node)) for node in kept}
        flags = [abs(literal) for own in self.literals for literal in own]
        gates = [abs(literal) for literal in named.values()]
        frozen = dict.fromkeys([*flags, *gates, *self._also()])
        self.clauses = simplified(self.clauses, list(frozen))
        self._renumber(frozen, named)

    def _also(self) -> Iterable[int]:
        """Other variables that are kept; they come after those of flags and gates, in order."""
        return ()

    def _define(self, node: int) -> None:
        used = self._used.get(node, 0)
        if not used:
            return
        gates = self.lowered.gates
        if node in gates.tests:
            self._of_node[node] = self._test(*gates.tests[node])
            return
        parts = [self.literal(part) for part in gates.parts[node]]
        own = self._of_node[node] = self._new()
        if used & _TRUE_NEEDED:
            self.clauses.extend([-own, part] for part in parts)
        if used & _FALSE_NEEDED:
            self.clauses.append([own, *(-part for part in parts)])

    def _renumber(self, frozen: Iterable[int], named: dict[int, int]) -> None:
        """Number the variables that are left without gaps, those of the flags first."""
        number = {variable: at for at, variable in enumerate(frozen, 1)}
        for clause in self.clauses:
            for literal in clause:
                number.setdefault(abs(literal), len(number) + 1)

        def again(literal: int) -> int:
            return number[literal] if literal > 0 else -number[-literal]

        self.clauses = [[again(literal) for literal in clause] for clause in self.clauses]
        self.literals = [[again(literal) for literal in own] for own in self.literals]
        self._of_node = {node: again(literal) for node, literal in named.items()}
        self.top = len(number)


def _directions(lowered: Lowered, roots: Iterable[int]) -> dict[int, int]:
    """For each node in which directions the clauses that forbid some literals use it."""
    used: dict[int, int] = {}
    stack = [-root for root in roots if root not in (TRUE, FALSE)]
    parts = lowered.gates.parts
    while stack:
        literal = stack.pop()
        node = abs(literal)
        way = _TRUE_NEEDED if literal > 0 else _FALSE_NEEDED
        if used.get(node, 0) & way:
            continue
        used[node] = used.get(node, 0) | way
        stack.extend(parts.get(node, ()) if literal > 0 else [-p for p in parts.get(node, ())])
    return used
