"""What every solver is asked, and the parts that several share."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.peers.problem import Model, Problem, Query

__all__ = ["OPERATIONS", "Absent", "Peer", "SatPeer", "clauses_of", "pin_literals", "shrunk"]

OPERATIONS = (
    "build",
    "nearest",
    "conflict",
    "alternatives",
    "options_one",
    "options_all",
    "enumerate",
    "million",
    "count",
    "sample",
    "cover_scope",
    "cover",
    "support",
)
"""What is measured, in this order."""
ALTERNATIVES = 10
SAMPLES = 1000
MILLION = 1_000_000


class Absent(Exception):
    """The solver does not have the operation."""


class Peer:
    """A solver with one problem.

    Attributes:
        distributions: What it is installed as, for the versions.
        how: How it is used, for the tables.
    """

    distributions: ClassVar[tuple[str, ...]] = ()
    how: ClassVar[str] = ""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def build(self) -> Any:
        """Make the model of all flags, ready for questions."""
        raise Absent

    def nearest(self, query: Query) -> int | None:
        """The least cost of a change that makes a command valid."""
        raise Absent

    def conflict(self, query: Query) -> tuple[int, int]:
        """A minimal set of pins and entries: how many of each."""
        raise Absent

    def alternatives(self, query: Query) -> list[int]:
        """Costs of the ten best repairs of which none contains another."""
        raise Absent

    def options_one(self, query: Query, flag: int) -> list[bool]:
        """Which classes of a flag are left beside what a command gives."""
        raise Absent

    def options_all(self, query: Query) -> int:
        """How many classes of all flags are left."""
        return sum(
            sum(self.options_one(query, flag))
            for flag, size in enumerate(self.problem.refusing.sizes)
            if size > 1
        )

    def enumerate(self) -> int:
        """List the valid combinations of the product; how many there are."""
        raise Absent

    def million(self) -> int:
        """List a million valid combinations."""
        raise Absent

    def count(self) -> int:
        """How many configurations of the first scope are valid."""
        raise Absent

    def sample(self) -> int:
        """Draw a thousand configurations of the first scope, each as likely as any other."""
        raise Absent

    def cover_scope(self) -> int:
        """Rows of a pairwise covering array over the first scope."""
        raise Absent

    def cover(self) -> int:
        """Rows of a pairwise covering array over all flags."""
        raise Absent

    def support(self) -> int:
        """How many pairs of classes no valid configuration has."""
        raise Absent


def clauses_of(text: str) -> tuple[int, list[list[int]]]:
    """The largest variable and the clauses of a DIMACS CNF."""
    top, clauses = 0, []
    for line in text.splitlines():
        if line.startswith("p "):
            top = int(line.split()[2])
        elif line and line[0] != "c":
            clauses.append([int(word) for word in line.split()[:-1]])
    return top, clauses


def pin_literals(model: Model, query: Query) -> list[int]:
    """The literals that everything typed stays."""
    return [model.literals[v][query.start[v]] for v in query.pins if model.literals[v]]


def prices(model: Model, query: Query) -> Iterator[tuple[int, int]]:
    """Literals of classes with what it costs to go there."""
    for literals, costs in zip(model.literals, query.costs, strict=True):
        yield from ((lit, cost) for lit, cost in zip(literals, costs, strict=False) if cost)


def closed(model: Model, query: Query) -> list[int]:
    """The literals of classes that a command's flags may not go to."""
    pairs = zip(model.literals, query.costs, strict=True)
    return [-lit for lits, costs in pairs for lit, c in zip(lits, costs, strict=False) if c is None]


def changed(model: Model, query: Query, true: Callable[[int], bool]) -> list[int]:
    """Literals of the start of each flag that a solution changes: one of them must hold in any
    other repair that does not contain it."""
    return [
        literals[query.start[v]]
        for v, literals in enumerate(model.literals)
        if literals and not true(literals[query.start[v]])
    ]


def shrunk(
    core: Sequence[int], clash: Callable[[Sequence[int]], Sequence[int] | None]
) -> list[int]:
    """A minimal part of assumptions that clash, by deletion.

    Args:
        core: Assumptions that clash.
        clash: A core of assumptions, None where they hold together.
    """
    kept = list(core)
    for literal in list(core):
        if literal in kept:
            fewer = clash([other for other in kept if other != literal])
            if fewer is not None:
                known = set(fewer)
                kept = [other for other in kept if other in known]
    return kept


class SatPeer(Peer):
    """What every solver with assumptions and models can do, the same way for all."""

    @cached_property
    def chosen(self) -> int:
        """The last variable that stands for a class; those of gates come after it."""
        return max(abs(lit) for own in self.problem.refusing.literals for lit in own)

    def holds(self, assumptions: Sequence[int]) -> list[int] | None:
        """The literals of a solution of ``refusing`` under assumptions, None where there is none.

        Variable 1 comes first; at least the variables of classes are there.
        """
        raise NotImplementedError

    def clash(self, assumptions: Sequence[int]) -> list[int] | None:
        """A core of assumptions over the switched clauses, None where they hold together."""
        raise NotImplementedError

    def conflict(self, query: Query) -> tuple[int, int]:
        pins = pin_literals(self.problem.refusing, query)
        switches = set(self.problem.switched.switches)
        core = self.clash([*pins, *self.problem.switched.switches])
        assert core is not None, "the pins hold together"
        while len(core) > len(smaller := self.clash(core) or core):
            core = smaller
        kept = shrunk(core, self.clash)
        return sum(lit not in switches for lit in kept), sum(lit in switches for lit in kept)

    def options_one(self, query: Query, flag: int) -> list[bool]:
        model = self.problem.refusing
        given = [*closed(model, query)]
        pins = [v for v in query.pins if v != flag and model.literals[v]]
        given += [model.literals[v][query.start[v]] for v in pins]
        costs = query.costs[flag]
        return [
            costs[n] is not None and self.holds([*given, literal]) is not None
            for n, literal in enumerate(model.literals[flag])
        ]

    def support(self) -> int:
        model = self.problem.refusing
        literals = [lit for own in model.literals for lit in own]
        owner = [v for v, own in enumerate(model.literals) for _ in own]
        return _unsupported(literals, owner, self.holds)


def _unsupported(
    literals: Sequence[int], owner: Sequence[int], holds: Callable[[Sequence[int]], Any]
) -> int:
    """Pairs of literals of different flags that nothing has, each value alone being possible.

    Every solution found answers for all its pairs, so only what no solution shows is asked.
    """
    together = [0] * len(literals)
    own = [sum(1 << m for m, o in enumerate(owner) if o == v) for v in owner]

    def note(model: Sequence[int]) -> None:
        true = [n for n, lit in enumerate(literals) if model[abs(lit) - 1] == lit]
        mask = sum(1 << n for n in true)
        for n in true:
            together[n] |= mask

    dead = 0
    for n, literal in enumerate(literals):
        if not together[n]:
            found = holds([literal])
            if found is None:
                dead |= 1 << n
            else:
                note(found)
    apart = 0
    every = (1 << len(literals)) - 1
    for n, literal in enumerate(literals):
        if dead >> n & 1:
            continue
        gaps = every & ~together[n] & ~dead & ~own[n] & -(1 << n)
        while gaps:
            low = gaps & -gaps
            found = holds([literal, literals[low.bit_length() - 1]])
            if found is None:
                apart += 1
                gaps ^= low
            else:
                note(found)
                gaps &= ~together[n]
    return apart


def valid_product(model: Model) -> Iterator[tuple[int, ...]]:
    """The filtered product, for comparison."""
    rules = [(rule.scope, rule.compiled()) for rule in model.rules]
    for at in product(*map(range, model.sizes)):
        if all(allows(*(at[v] for v in scope)) for scope, allows in rules):
            yield at
