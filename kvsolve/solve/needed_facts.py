"""The facts without which a conflict's entries would leave something.

A missing fact makes a refusal unknown and never makes one, so what still leaves nothing with fewer
facts does so with more. Facts are taken away in their order, several at once (as in Junker,
"QuickXplain: preferred explanations and relaxations for over-constrained problems", 2004). Only the
steps that the entries read are folded anew, and the refusals that left nothing when all facts were
known are tried first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from kvsolve.model.expression import Expr, Operand, walk
from kvsolve.model.program import Refuse
from kvsolve.packs.compile import FactTable
from kvsolve.solve.board import Board
from kvsolve.solve.circuit import is_broken
from kvsolve.solve.judge import CircuitJudge
from kvsolve.solve.network import Network
from kvsolve.solve.search import Search
from kvsolve.solve.specialise import Numbered, inline_steps, numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.program import Program
    from kvsolve.packs.pack import Pack
    from kvsolve.solve.completion import Completions
    from kvsolve.solve.nogoods import Clause

__all__ = ["fewest", "needed_facts"]


def needed_facts(
    shared: Completions, masks: Mapping[int, int], steps: frozenset[int], clauses: Sequence[Clause]
) -> tuple[str, ...]:
    """A minimal set of facts with which the entries leave nothing within the masks, by name.

    Args:
        shared: Where the conflict lies.
        masks: What each pinned variable may be.
        steps: The entries, which leave nothing when all facts are known.
        clauses: Refusals that show it.
    """
    facts = shared.prepared.facts
    part = _slices_of(shared.prepared.pack).of(steps)
    named = {t.args[0] for row in part for t in _terms(row) if t.op == "fact"} & facts.keys()
    other = {name: value for name, value in facts.items() if name not in named}

    def suffice(kept: Sequence[str]) -> bool:
        known = FactTable(other | {name: facts[name] for name in kept})
        network = Network(inline_steps(part, known), known, steps.__contains__)
        return _leaves_nothing(shared, masks, network, clauses)

    return tuple(fewest(sorted(named), suffice))


def _leaves_nothing(
    shared: Completions, masks: Mapping[int, int], network: Network, clauses: Iterable[Clause]
) -> bool:
    """Whether a network leaves nothing within masks; clauses that hold there are taken over."""
    space = shared.space
    board = Board(network, space.universe)
    for clause in clauses:
        root = board.circuit.roots.get(clause.source, -1) if clause.source is not None else -1
        if root >= 0 and board.grounds.suffices(root, dict(clause.literals), is_broken):
            board.learned.learn(clause)
    judge = CircuitJudge(shared.prepared, network, space, only=network.constraints, board=board)
    search = Search(space, judge, learned=board.learned, deadline=shared.deadline)
    return search.first(masks) is None and search.complete


def fewest(members: Sequence[str], suffice: Callable[[Sequence[str]], bool]) -> list[str]:
    """What is left when members are taken away in order, as long as the others suffice.

    Args:
        members: They suffice together.
        suffice: Whether some of them do; whoever adds to what suffices has what suffices.
    """
    kept: list[str] = []
    left = tuple(members)
    while left and not suffice(kept):
        at = _first_needed(kept, left, suffice)
        kept.append(left[at])
        left = left[at + 1 :]
    return kept


def _first_needed(
    kept: Sequence[str], left: Sequence[str], suffice: Callable[[Sequence[str]], bool]
) -> int:
    """How many members can be spared before one that cannot; there is one."""
    low, step = 0, 1
    while low + step < len(left) and suffice([*kept, *left[low + step :]]):
        low, step = low + step, 2 * step
    high = min(low + step, len(left))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if suffice([*kept, *left[middle:]]) else (low, middle)
    return low


class _Slices:
    """Which steps of a program others depend on."""

    def __init__(self, program: Program) -> None:
        self.rows = tuple(numbered(program))
        self.writers: dict[str, list[int]] = {}
        for at, version, step in self.rows:
            name = getattr(step, "name", None)
            if name is not None:
                writers = self.writers.setdefault(name, [])
                assert len(writers) == version
                writers.append(at)

    def of(self, steps: Iterable[int]) -> tuple[Numbered, ...]:
        """Some steps and all that they read, in order."""
        needed = set(steps)
        stack = list(needed)
        while stack:
            for ref in _terms(self.rows[stack.pop()]):
                if ref.op == "ref":
                    written = self.writers.get(ref.args[0], ())[: ref.args[1]]
                    new = [at for at in written if at not in needed]
                    needed.update(new)
                    stack.extend(new)
        return tuple(self.rows[at] for at in sorted(needed))


def _terms(row: Numbered) -> Iterator[Expr]:
    """All terms of a step."""
    operands: list[Operand] = [row.step.when]
    if not isinstance(row.step, Refuse):
        operands.append(row.step.value)
    return walk(*operands)


_slices: WeakKeyDictionary[Pack, _Slices] = WeakKeyDictionary()


def _slices_of(pack: Pack) -> _Slices:
    """The slices of a release's program, made at first use."""
    found = _slices.get(pack)
    if found is None:
        program: Any = pack.program
        found = _slices[pack] = _Slices(program)
    return found
