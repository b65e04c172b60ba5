"""A lowered context in which every entry can be switched on and off.

Each entry has a literal that makes it count (Eén and Sörensson, "Temporal induction by incremental
SAT solving", 2003), so that one solver answers what a part of the entries leaves, and what is
assumed and cannot hold names the entries that see to it.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from kvsolve.solve.engines.python_sat import Solver
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.lowering.lean import Lean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Switches"]


class Switches:
    """One solver over the entries of a context, each with a switch.

    Use it as a context manager. An entry that excludes something only because a fact is missing has
    the number ``~step``.

    Attributes:
        lowered: The context.
        clauses: Its clauses; literals of assumptions are theirs.
        of: The literal that switches an entry on.
    """

    def __init__(self, lowered: Lowered, *, often: bool = False) -> None:
        """Prepare to answer.

        Args:
            lowered: The context.
            often: Many questions are to come, so that it pays to simplify the clauses first; gates
                then have no literals.
        """
        self.lowered = lowered
        self.of: dict[int, int] = {}
        kind = _LeanSwitched if often else _Switched
        self.clauses: Clauses = kind(lowered, self.of)
        self._solver = Solver(self.clauses.clauses, self.clauses.top)
        self._steps = {literal: step for step, literal in self.of.items()}

    def afresh(self) -> Switches:
        """The same entries and clauses, with a solver that has learned nothing yet."""
        fresh = copy(self)
        fresh._solver = Solver(self.clauses.clauses, self.clauses.top)
        return fresh

    def __enter__(self) -> Switches:
        return self

    def __exit__(self, *about: object) -> None:
        self._solver.__exit__(None, None, None)

    def leave_nothing(self, steps: Iterable[int], literals: Sequence[int] = ()) -> bool:
        """Whether some entries exclude all that has some literals."""
        return self.member(steps, literals) is None

    def member(self, steps: Iterable[int], literals: Sequence[int] = ()) -> list[int] | None:
        """The classes of a configuration that some entries let through; None where there is none.

        Args:
            steps: The entries that count.
            literals: What it must have.
        """
        steps = frozenset(steps)
        assumed = [*literals, *(self.of[step] for step in sorted(steps))]
        while self._solver.solve(assumed):
            chosen = self.clauses.chosen(self._solver.model)
            objection = self._objection(steps, chosen)
            if objection is None:
                return chosen
            step, clause = objection
            self._solver.add([-self.of[step], *clause])
        return None

    def needed(self, steps: Collection[int], literals: Sequence[int] = ()) -> tuple[int, ...]:
        """A minimal part of some entries that leaves nothing with some literals.

        Deletion-based (Marques-Silva, "Minimal unsatisfiability: models, algorithms and
        applications", 2010), later entries first; empty where something is left.
        """
        if not self.leave_nothing(steps, literals):
            return ()
        named = self._named()
        for step in sorted(named, key=_place, reverse=True):
            if step in named and self.leave_nothing(named - {step}, literals):
                named &= self._named()
        return tuple(sorted(named, key=_place))

    def _named(self) -> set[int]:
        """The entries that the last question rested on."""
        return {self._steps[lit] for lit in self._solver.core if lit in self._steps}

    def prefer(self, literals: Sequence[int]) -> None:
        """Literals to try first in later searches."""
        self._solver.prefer(literals)

    def _objection(
        self, steps: frozenset[int], chosen: Sequence[int]
    ) -> tuple[int, list[int]] | None:
        """What an entry that is not lowered has against a member, with the entry."""
        pending = [c for c in self.lowered.pending if c.step in steps]
        at = self.clauses.first_states(chosen) if pending else ()
        for constraint in pending:
            alone = copy(self.lowered)
            alone.pending = [constraint]
            box = alone.objection(at)
            if box is not None:
                return constraint.step, self.clauses.excluding(box)
        return None


def _place(step: int) -> int:
    return max(step, ~step)


class _Switched(Clauses):
    """The clauses of a context in which an entry counts where its switch is on."""

    def __init__(self, lowered: Lowered, switches: dict[int, int]) -> None:
        self._switches = switches
        super().__init__(lowered)

    def _roots(self, forbidden: Iterable[int]) -> None:
        for node in self.lowered.gates.below(forbidden):
            self._define(node)
        for switch, root in _switched(self.lowered, self._switches, self._new):
            self.clauses.append([-switch] if root == TRUE else [-switch, -self.literal(root)])


class _LeanSwitched(Lean):
    """The same for many questions."""

    def __init__(self, lowered: Lowered, switches: dict[int, int]) -> None:
        self._switches = switches
        super().__init__(lowered)
        before = len({abs(literal) for own in self.literals for literal in own})
        before += len(self._of_node)
        for at, step in enumerate(switches, before + 1):
            switches[step] = at

    def _roots(self, forbidden: Iterable[int]) -> None:
        for switch, root in _switched(self.lowered, self._switches, self._new):
            self.clauses.append([-switch] if root == TRUE else [-switch, -self.literal(root)])

    def _also(self) -> Iterable[int]:
        return self._switches.values()


def _switched(
    lowered: Lowered, switches: dict[int, int], new: Callable[[], int]
) -> Iterator[tuple[int, int]]:
    """Give every entry a switch; the switches with the literals that they forbid."""
    unsure = ((~step, root) for step, root in lowered.unsure)
    for step, root in (*lowered.broken, *unsure):
        switch = switches[step] = switches.get(step) or new()
        if root != FALSE:
            yield switch, root
    for constraint in lowered.pending:
        if constraint.step not in switches:
            switches[constraint.step] = new()
