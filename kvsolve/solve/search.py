"""Best-first search over boxes of values, with constraints learned as they are met.

The implicit hitting set method (Davies and Bacchus, "Solving MAXSAT by solving a sequence of
simpler SAT instances", 2011) on finite domains. A *box* gives each changed variable a set of values
and stands for its cheapest member. Only clauses learned so far are looked at until a member breaks
none of them; then the judge looks at it in full and either accepts it or explains, as new clauses,
what is wrong. A broken clause splits a box into disjoint smaller ones. Boxes leave the queue in the
order of a lower bound of their price, so the first member accepted is the best one there is.

Prices are ordered by cost, then reports, rewrites, edits, values that are not the default, values
that upstream would not choose, and declared order. Reports and rewrites are *soft* clauses: a box
may also accept one, for its price.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.solve.reasons import Literals
    from kvsolve.solve.space import Price, Space

__all__ = ["Clause", "Found", "Judge", "Search", "Soft"]


class Soft(NamedTuple):
    """Something better avoided.

    Attributes:
        rank: 0 for a report, 1 for a rewrite.
        name: Its code, or the dest.
    """

    rank: int
    name: str


class Clause(NamedTuple):
    """Not all of these at once.

    Attributes:
        literals: Pairs of a variable and the mask of its states.
        source: Step whose refusal it stands for, None for a clause made here.
        soft: What it costs to break it; None where it must not be broken.
    """

    literals: Literals
    source: int | None = None
    soft: Soft | None = None


class Judge(Protocol):
    """Looks at a member in full."""

    def __call__(self, changes: dict[int, int]) -> list[Clause]:
        """The clauses that the member breaks: hard ones where it is refused, else soft ones."""


Key = tuple[int, int, int, int, int, int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """An accepted member.

    Attributes:
        changes: State of each changed variable.
        key: Its price.
        proven: Nothing better exists apart from the members accepted before.
    """

    changes: dict[int, int]
    key: Key
    proven: bool = True


class _Box:
    """Part of the space.

    Attributes:
        domains: Mask of each restricted variable.
        soft: What it has accepted to break.
        broken: Clauses that its cheapest member breaks, among the first ``seen``.
        seen: How many clauses were looked at.
        changes: The cheapest member.
    """

    __slots__ = ("broken", "changes", "domains", "seen", "soft")

    def __init__(
        self,
        domains: dict[int, int],
        soft: frozenset[Soft],
        broken: list[int],
        seen: int,
        changes: dict[int, int],
    ) -> None:
        self.domains, self.soft, self.broken = domains, soft, broken
        self.seen, self.changes = seen, changes


class Search:
    """One search over a space.

    Attributes:
        clauses: Everything learned.
        bound: Proven lower bound of the cost of what is not found yet; None where there is nothing.
        complete: The search came to its end: nothing else exists.
        most_cost: Cost beyond which to look no further; may be set at any time.
        most_effort: Effort after which to stop; likewise.
        hasty: It lost patience (see ``patience``), so later answers may have skipped some.
    """

    def __init__(
        self,
        space: Space,
        judge: Judge,
        *,
        deadline: float | None = None,
        patience: int | None = None,
        greedy: bool = False,
    ) -> None:
        """Make a search.

        Args:
            space: Variables and prices.
            judge: Looks at members in full.
            deadline: Reading of ``time.monotonic`` after which to stop.
            patience: How many members to judge after one was accepted before other values of
                the same variables, with or without further changes, are not looked at any more.
            greedy: Look for some member soon rather than for the best.
        """
        self.greedy = greedy
        self.most_cost: int | None = None
        self.most_effort: int | None = None
        self.space, self.judge, self.deadline = space, judge, deadline
        self.patience, self.hasty = patience, False
        self._accepted: list[frozenset[int]] = []
        self._since = 0
        self.clauses: list[Clause] = []
        self.bound: int | None = 0
        self.complete = False
        self.judged = 0
        self.popped = 0
        self._known: set[tuple[Literals, Soft | None]] = set()
        self._verdicts: dict[frozenset[tuple[int, int]], bool] = {}
        self._watch: dict[int, list[int]] = {}
        self._best: dict[tuple[int, int], int] = {}
        self._queue: list[tuple[Key, int, Key, _Box]] = []
        self._serial = 0

    def learn(self, clause: Clause) -> bool:
        """Add a clause; False where it was known."""
        key = clause.literals, clause.soft
        if key in self._known:
            return False
        self._known.add(key)
        for variable, _ in clause.literals:
            self._watch.setdefault(variable, []).append(len(self.clauses))
        self.clauses.append(clause)
        return True

    def first(self, within: Mapping[int, int]) -> Found | None:
        """The best member of a part of the space; what is learned serves later calls.

        Args:
            within: Masks of variables. None is returned where nothing is there (``complete``) and
                where the deadline has passed.
        """
        return next(self._members(within), None)

    def excludes(self, changes: Mapping[int, int]) -> bool:
        """Whether a clause learned so far already tells that a member is refused."""
        numbers = {n for v in changes for n in self._watch.get(v, ())}
        member = dict(changes)
        return any(self.clauses[n].source is not None and self._breaks(n, member) for n in numbers)

    def run(self) -> Iterator[Found]:
        """Accepted members, best first; none is a superset of an earlier one's changes.

        Ends when nothing is left (``complete``) or the deadline has passed (``bound`` says how far
        it came).
        """
        for found in self._members({}):
            yield found
            if not found.changes:
                self.bound, self.complete = None, True
                return
            forbidden = tuple(sorted((v, 1 << s) for v, s in found.changes.items()))
            self.learn(Clause(forbidden))
            variables = frozenset(found.changes)
            if variables not in self._accepted:
                self._accepted.append(variables)
                self._since = 0
            if self.hasty:
                self._leave(variables)

    def _leave(self, variables: frozenset[int]) -> None:
        """Ask for no further change of all these variables together."""
        full, start = self.space.full, self.space.start
        self.learn(Clause(tuple((v, full[v] & ~(1 << start[v])) for v in sorted(variables))))

    def _lose_patience(self) -> None:
        """Leave the variables of all accepted members once too many others were judged."""
        tired = self.patience is not None and self._accepted and self._since > self.patience
        if tired and not self.hasty:
            self.hasty = True
            for variables in self._accepted:
                self._leave(variables)

    def _members(self, within: Mapping[int, int]) -> Iterator[Found]:
        """Accepted members, best first, the same again and again until a clause forbids it."""
        self._queue, self.complete = [], False
        moved = {v: mask for v, mask in within.items() if not mask >> self.space.start[v] & 1}
        changes = {v: self._cheapest(v, mask) for v, mask in moved.items()}
        self._push(_Box(dict(within), frozenset(), [], 0, changes))
        while self._queue:
            _, _, key, box = self._queue[0]
            self.bound = 0 if self.greedy else key[0]
            if self._is_enough(key):
                return
            heappop(self._queue)
            self.popped += 1
            found = self._settle(key, box)
            if found is not None:
                yield found
        self.bound, self.complete = None, True

    @property
    def effort(self) -> int:
        """Boxes looked at; judging a member costs as much as ten."""
        return self.popped + 10 * self.judged

    def _is_enough(self, key: Key) -> bool:
        """Whether a limit is reached."""
        if self.most_cost is not None and key[0] > self.most_cost:
            return True
        if self.most_effort is not None and self.effort > self.most_effort:
            return True
        return self.deadline is not None and time.monotonic() > self.deadline

    def _settle(self, key: Key, box: _Box) -> Found | None:
        """Split a box, put it back, or accept its cheapest member."""
        self._catch_up(box)
        worth = self._key(box)
        if worth is None:
            return None
        if worth > key:
            self._put(worth, box)
            return None
        if not self._split(box, hard=True) and self._sound(box):
            if self._split(box, hard=False):
                return None
            self._push(box)
            return Found(box.changes, worth, not self.hasty and not self.greedy)
        return None

    def _sound(self, box: _Box) -> bool:
        """Whether the cheapest member is accepted; where not, what it taught splits the box."""
        member = frozenset(box.changes.items())
        known = self._verdicts.get(member)
        if known is None:
            self.judged += 1
            self._since += 1
            self._lose_patience()
            taught = self.judge(box.changes)
            for clause in taught:
                self.learn(clause)
            known = self._verdicts[member] = all(c.soft is not None for c in taught)
        self._catch_up(box)
        if not known:
            self._push(box)
        return known

    def _push(self, box: _Box) -> None:
        self._catch_up(box)
        key = self._key(box)
        if key is not None:
            self._put(key, box)

    def _put(self, key: Key, box: _Box) -> None:
        self._serial += 1
        order = key
        if self.greedy:
            hard = sum(self.clauses[n].soft is None for n in box.broken)
            order = (hard + len(box.changes), *key[1:])
        heappush(self._queue, (order, self._serial, key, box))

    def _catch_up(self, box: _Box) -> None:
        """Look at the clauses learned since the box was made."""
        for number in range(box.seen, len(self.clauses)):
            if self._breaks(number, box.changes):
                box.broken.append(number)
        box.seen = len(self.clauses)

    def _breaks(self, number: int, changes: dict[int, int]) -> bool:
        start = self.space.start
        for variable, mask in self.clauses[number].literals:
            at = changes.get(variable)
            if not (mask >> (start[variable] if at is None else at)) & 1:
                return False
        return True

    def _domain(self, box: _Box, variable: int) -> int:
        found = box.domains.get(variable)
        return self.space.full[variable] if found is None else found

    def _cheapest(self, variable: int, mask: int) -> int:
        """The state of least price within a mask."""
        found = self._best.get((variable, mask))
        if found is None:
            price = self.space.price[variable]
            states = (s for s in range(mask.bit_length()) if mask >> s & 1)
            found = self._best[variable, mask] = min(states, key=price.__getitem__)
        return found

    def _key(self, box: _Box) -> Key | None:
        """Lower bound of the price of a box's members, None where it has none."""
        extra = self._extra_cost(box)
        if extra is None:
            return None
        space = self.space
        total = [0, 0, 0, 0]
        order: list[tuple[int, int]] = []
        for variable, state in box.changes.items():
            price: Price = space.price[variable][state]
            total[0] += price.cost
            total[1] += price.edits
            total[2] += price.elsewhere
            total[3] += price.unlike
            order.append((space.position[variable], price.place))
        order.sort()
        rewrites = sum(s.rank for s in box.soft)
        reports = len(box.soft) - rewrites
        return (total[0] + extra, reports, rewrites, total[1], total[2], total[3], tuple(order))

    def _extra_cost(self, box: _Box) -> int | None:
        """What broken clauses over disjoint variables add at least; None where one must break."""
        needs: list[tuple[int, Literals]] = []
        for number in box.broken:
            clause = self.clauses[number]
            if clause.soft is None:
                least = self._least(box, clause.literals)
                if least is None:
                    return None
                if least:
                    needs.append((least, clause.literals))
        needs.sort(key=lambda need: (-need[0], len(need[1])))
        used: set[int] = set()
        total = 0
        for least, literals in needs:
            if all(v not in used for v, _ in literals):
                used.update(v for v, _ in literals)
                total += least
        return total

    def _least(self, box: _Box, literals: Literals) -> int | None:
        """The least extra cost of mending a clause, None where nothing can."""
        least: int | None = None
        for variable, mask in literals:
            open_ = self._domain(box, variable) & ~mask
            if open_:
                price = self.space.price[variable]
                now = box.changes.get(variable)
                paid = 0 if now is None else price[now].cost
                extra = price[self._cheapest(variable, open_)].cost - paid
                least = extra if least is None else min(least, extra)
        return least

    def _split(self, box: _Box, *, hard: bool) -> bool:
        """Split a box at its tightest broken clause of a kind; False where it breaks none."""
        best: tuple[int, int] | None = None
        for number in box.broken:
            clause = self.clauses[number]
            if (clause.soft is None) is not hard or clause.soft in box.soft:
                continue
            options = sum(1 for v, mask in clause.literals if self._domain(box, v) & ~mask)
            if best is None or (options, number) < best:
                best = options, number
        if best is None:
            return False
        clause = self.clauses[best[1]]
        kept = dict(box.domains)
        for variable, mask in clause.literals:
            domain = self._domain(box, variable)
            if domain & ~mask:
                self._child(box, {**kept, variable: domain & ~mask}, variable)
            kept[variable] = domain & mask
        if clause.soft is not None:
            broken = list(box.broken)
            self._push(_Box(kept, box.soft | {clause.soft}, broken, box.seen, box.changes))
        return True

    def _child(self, box: _Box, domains: dict[int, int], variable: int) -> None:
        """Push a part of a box in which one variable has another state than before."""
        changes = dict(box.changes)
        changes[variable] = self._cheapest(variable, domains[variable])
        old = box.broken
        broken = [n for n in old if self._breaks(n, changes)]
        known = set(old)
        broken += [
            n
            for n in self._watch.get(variable, ())
            if n < box.seen and n not in known and self._breaks(n, changes)
        ]
        self._push(_Box(domains, box.soft, broken, box.seen, changes))
