"""How a conflict comes about: what follows from what, until nothing is left.

The clauses of the conflict's entries are applied to the pins one after the other (unit
propagation). Where none says anything more, the values that a flag has left are taken case by case.
Steps are numbered, so that one which serves twice is told once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.edit import Derived
from kvsolve.model.expression import is_constant, node, raw
from kvsolve.model.syntax import render
from kvsolve.solve.judge import CircuitJudge
from kvsolve.solve.nogoods import NoGoods
from kvsolve.solve.search import Clause, Search

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.solve.completion import Completions
    from kvsolve.solve.space import Space

__all__ = ["derivation", "refutation"]

_MOST_STEPS = 200
"""A derivation that gets longer than this is not told: nobody would read it."""


def refutation(
    shared: Completions, masks: Mapping[int, int], steps: frozenset[int]
) -> tuple[Clause, ...]:
    """Refusals of some entries that leave nothing within the masks together.

    They are the same whatever was asked before.

    Args:
        shared: Where the conflict lies.
        masks: What each pinned variable may be.
        steps: The entries of the conflict, which leave nothing within the masks.
    """
    learned = NoGoods(shared.space.universe)
    judge = CircuitJudge(shared.prepared, shared.network, shared.space, only=steps, steady=True)
    Search(shared.space, judge, learned=learned, deadline=shared.deadline).first(masks)
    return tuple(learned.clauses)


def derivation(
    shared: Completions, masks: Mapping[int, int], clauses: Iterable[Clause]
) -> tuple[Derived, ...]:
    """The steps from pins to the contradiction, each after those that it builds on; () if too many.

    Args:
        shared: Where the conflict lies.
        masks: What each pinned variable may be.
        clauses: What leaves nothing within the masks, see :func:`refutation`.
    """
    said = [_saying(clause, shared.space.full) for clause in clauses]
    told = _Telling(
        shared, sorted(said, key=lambda c: (c.source or 0, len(c.literals), c.literals))
    )
    return _needed(told.out) if told.refute(dict(masks), {}) else ()


def _saying(clause: Clause, full: Sequence[int]) -> Clause:
    """A clause without the flags of which it allows every state."""
    return clause._replace(literals=tuple((v, m) for v, m in clause.literals if full[v] & ~m))


def _needed(steps: list[Derived]) -> tuple[Derived, ...]:
    """The steps that the last one builds on, numbered anew."""
    if not steps:
        return ()
    needed = {len(steps)}
    for step in reversed(steps):
        if step.number in needed:
            needed.update(step.uses)
    kept = [step for step in steps if step.number in needed]
    new = {step.number: at for at, step in enumerate(kept, 1)}
    return tuple(
        Derived(new[s.number], s.code, s.reads, tuple(new[u] for u in s.uses), s.follows, s.case)
        for s in kept
    )


class _Telling:
    """Derives, writing down every step.

    Attributes:
        out: The steps so far.
    """

    def __init__(self, shared: Completions, clauses: list[Clause]) -> None:
        self.shared, self.space, self.clauses = shared, shared.space, clauses
        self.out: list[Derived] = []

    def refute(self, domains: dict[int, int], origin: dict[int, tuple[int, ...]]) -> bool:
        """Lead domains to a contradiction; False where the clauses do not suffice.

        Args:
            domains: Mask of each variable that is restricted.
            origin: The steps that restricted it.
        """
        while (clause := self._next(domains)) is not None:
            if self._apply(clause, domains, origin):
                return True
            if len(self.out) > _MOST_STEPS:
                return False
        return self._by_cases(domains, origin)

    def _open(self, clause: Clause, domains: Mapping[int, int]) -> list[tuple[int, int]]:
        full = self.space.full
        return [(v, m) for v, m in clause.literals if domains.get(v, full[v]) & ~m]

    def _next(self, domains: Mapping[int, int]) -> Clause | None:
        """A clause that leaves no way, else the first that leaves one and says something new."""
        single = None
        for clause in self.clauses:
            open_ = self._open(clause, domains)
            if not open_:
                return clause
            if single is None and len(open_) == 1:
                variable, mask = open_[0]
                if domains.get(variable, self.space.full[variable]) & mask:
                    single = clause
        return single

    def _apply(
        self, clause: Clause, domains: dict[int, int], origin: dict[int, tuple[int, ...]]
    ) -> bool:
        """Write down what follows from a clause; True where that is a contradiction."""
        open_ = self._open(clause, domains)
        uses = {n for v, _ in clause.literals for n in origin.get(v, ())}
        follows = "False"
        for variable, mask in open_:
            domains[variable] = domains.get(variable, self.space.full[variable]) & ~mask
            follows = _left(self.space, variable, domains[variable])
            origin[variable] = (len(self.out) + 1,)
        reads = tuple(self.space.dests[v] for v, _ in clause.literals)
        code = self.shared.code(clause.source) if clause.source is not None else None
        self._tell(code, reads, uses, follows)
        return not open_

    def _tell(
        self,
        code: str | None,
        reads: tuple[str, ...],
        uses: set[int],
        follows: str,
        case: str | None = None,
    ) -> None:
        number = len(self.out) + 1
        self.out.append(Derived(number, code, reads, tuple(sorted(uses)), follows, case))

    def _by_cases(self, domains: dict[int, int], origin: dict[int, tuple[int, ...]]) -> bool:
        """Refute each part of what a flag has left, then say that it has nothing left."""
        variable = self._choice(domains)
        if variable is None or len(self.out) > _MOST_STEPS:
            return False
        uses = set(origin.get(variable, ()))
        dest = self.space.dests[variable]
        for part in list(self._parts(variable, domains)):
            case = _left(self.space, variable, part)
            self._tell(None, (dest,), set(uses), case, case)
            inner = {**domains, variable: part}
            if not self.refute(inner, {**origin, variable: (len(self.out),)}):
                return False
            uses.add(len(self.out))
        self._tell(None, (dest,), uses, "False")
        return True

    def _choice(self, domains: Mapping[int, int]) -> int | None:
        """The flag with the fewest different parts, of the tightest clause that is still open."""
        best: tuple[int, int] | None = None
        for clause in self.clauses:
            open_ = self._open(clause, domains)
            for variable, mask in open_:
                if domains.get(variable, self.space.full[variable]) & mask:
                    rank = len(open_), variable
                    best = rank if best is None else min(best, rank)
        return None if best is None else best[1]

    def _parts(self, variable: int, domains: Mapping[int, int]) -> Iterator[int]:
        """What a flag has left, in parts that no clause tells apart."""
        parts = [domains.get(variable, self.space.full[variable])]
        for clause in self.clauses:
            for other, mask in clause.literals:
                if other == variable:
                    halves = ((part & mask, part & ~mask) for part in parts)
                    parts = [half for pair in halves for half in pair if half]
        yield from sorted(parts, key=lambda part: part & -part)


def _left(space: Space, variable: int, mask: int) -> str:
    """What a flag may still be, as an expression; what it may not be where that is shorter."""
    states = space.universe.states[variable]
    left = [states[at].value for at in space.order(variable) if mask >> at & 1]
    gone = [s for at in space.order(variable) if not mask >> at & 1 for s in [states[at].value]]
    gone = [value for value in gone if value not in left]
    op, shown = ("not_in", gone) if 0 < len(gone) < len(left) else ("in", left)
    if not all(is_constant(v) for v in shown):
        return f"{space.dests[variable]} changes"
    return render(node(op, raw("ref", space.dests[variable], 0), tuple(shown)))
