"""python-sat as the engine for lowered contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

__all__ = ["Solver", "simplified"]


class Solver:
    """An incremental SAT solver (Glucose 4).

    Use it as a context manager: its memory is not Python's.
    """

    def __init__(self, clauses: Iterable[Sequence[int]], top: int = 0) -> None:
        from pysat.solvers import Glucose4  # type: ignore[import-untyped]

        self._empty = False
        self._top = top
        self._solver: Any = Glucose4(incr=False)
        for clause in clauses:
            self.add(clause)
        if top:
            self._solver.add_clause([top, -top])

    def __enter__(self) -> Solver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free its memory."""
        self._solver.delete()

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause; the empty one makes everything unsatisfiable."""
        if clause:
            self._solver.add_clause(list(clause))
        else:
            self._empty = True

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Whether the clauses and assumptions can hold together."""
        return not self._empty and bool(self._solver.solve(assumptions=list(assumptions)))

    @property
    def model(self) -> list[int]:
        """The model just found: the literal of each variable, variable 1 first."""
        found: list[int] = self._solver.get_model()
        if len(found) < self._top:
            found = [*found, *range(len(found) + 1, self._top + 1)]
        return found

    @property
    def core(self) -> list[int]:
        """Assumptions that cannot hold together, not minimal."""
        return [] if self._empty else list(self._solver.get_core() or ())

    def propagate(self, assumptions: Sequence[int]) -> tuple[bool, list[int]]:
        """What assumptions imply by unit propagation; False first where they clash."""
        if self._empty:
            return False, []
        consistent, implied = self._solver.propagate(assumptions=list(assumptions))
        return bool(consistent), list(implied or ())

    def prefer(self, literals: Sequence[int]) -> None:
        """Literals to try first in later searches."""
        self._solver.set_phases(list(literals))


def simplified(clauses: Iterable[Sequence[int]], kept: Sequence[int]) -> list[list[int]]:
    """Fewer clauses over fewer variables that leave the same choices of some variables.

    Clauses over the variables kept may be added afterwards.

    Args:
        clauses: What must hold.
        kept: Variables that are not to be eliminated.
    """
    clauses = list(clauses)
    if not all(clauses):
        return [[]]
    if not clauses:
        return []
    from pysat.process import Processor  # type: ignore[import-untyped]

    with Processor(bootstrap_with=clauses) as processor:
        found = processor.process(rounds=1, freeze=list(kept))
        return [list(clause) for clause in found.clauses] if processor.status else [[]]
