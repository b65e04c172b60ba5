"""Best-first search over boxes of values, with constraints learned as they are met.

The implicit hitting set method (Davies and Bacchus, "Solving MAXSAT by solving a sequence of
simpler SAT instances", 2011) on finite domains. A *box* gives each changed variable a set of values
and stands for its cheapest member. Only clauses learned so far are looked at until a member breaks
none of them; then the judge looks at it in full and either accepts it or explains, as new clauses,
what is wrong. A broken clause splits a box into disjoint smaller ones. Boxes leave the queue in the
order of a lower bound of their price, so the first member accepted is the best one there is,
whatever was known before.

Prices are ordered by cost, then reports, rewrites, edits of flags that no broken entry reads,
edits, values that are not the default, values that upstream would not choose, and declared order.
Reports and rewrites are *soft* clauses: a box may also accept one, for its price.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Protocol

from kvsolve.solve.nogoods import Clause, NoGoods, Soft, numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kvsolve.solve.grounds import Literals
    from kvsolve.solve.space import Space

__all__ = ["Clause", "Found", "Judge", "Search", "Soft"]

_COST, _REPORT, _REWRITE, _FOREIGN, _EDIT, _ELSEWHERE = 60, 50, 40, 30, 20, 10
"""Where the parts of a price stand in the one integer that orders boxes: ten bits each."""


class Judge(Protocol):
    """Looks at a member in full."""

    def __call__(self, changes: dict[int, int]) -> list[Clause]:
        """The clauses that the member breaks: hard ones where it is refused, else soft ones."""


Places = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """An accepted member.

    Attributes:
        changes: State of each changed variable.
        worth: Its price as one integer.
        proven: Nothing better exists apart from the members accepted before.
    """

    changes: dict[int, int]
    worth: int
    proven: bool = True

    @property
    def cost(self) -> int:
        """The first part of its price."""
        return self.worth >> _COST


class _Box:
    """Part of the space.

    Attributes:
        domains: Mask of each restricted variable.
        soft: What it has accepted to break.
        changes: The cheapest member.
        worth: Price of the cheapest member.
        places: Declared order of what it changes, the last part of its price.
        seen: How many clauses were looked at, -1 before the first time.
        hard: Clauses that the cheapest member breaks among those.
        soften: Soft clauses that it breaks and has not accepted.
    """

    __slots__ = ("changes", "domains", "hard", "places", "seen", "soft", "soften", "worth")

    def __init__(
        self,
        domains: dict[int, int],
        soft: frozenset[Soft],
        changes: dict[int, int],
        worth: int,
        places: Places,
    ) -> None:
        self.domains, self.soft, self.changes = domains, soft, changes
        self.worth, self.places = worth, places
        self.seen = -1
        self.hard: list[Clause] = []
        self.soften: list[Clause] = []


class Search:
    """One search over a space.

    Attributes:
        learned: Clauses that hold in the context; those of other searches too where it is shared.
        bound: Proven lower bound of the cost of what is not found yet; None where there is nothing.
        complete: The search came to its end: nothing else exists.
        most_cost: Cost beyond which to look no further; may be set at any time.
        most_effort: Effort after which to stop; likewise.
    """

    def __init__(
        self,
        space: Space,
        judge: Judge,
        *,
        learned: NoGoods | None = None,
        intact: Collection[str] = (),
        only: Collection[int] | None = None,
        deadline: float | None = None,
        greedy: bool = False,
    ) -> None:
        """Make a search.

        Args:
            space: Variables and prices.
            judge: Looks at members in full.
            learned: Clauses of the context, to use and to add to; clauses of its own where None.
            intact: Dests of which a rewrite counts as a refusal.
            only: The entries to heed, by step; all where None.
            deadline: Reading of ``time.monotonic`` after which to stop.
            greedy: Look for some member soon rather than for the best.
        """
        self.space, self.judge, self.deadline, self.greedy = space, judge, deadline, greedy
        self.learned = NoGoods(space.universe) if learned is None else learned
        self.intact = frozenset(intact)
        self.only = only
        self.most_cost: int | None = None
        self.most_effort: int | None = None
        self.bound: int | None = 0
        self.complete = False
        self.judged = 0
        self.popped = 0
        self._own: list[Clause] = []
        self._verdicts: dict[frozenset[tuple[int, int]], bool] = {}
        self._best: dict[tuple[int, int], int] = {}
        self._queue: list[tuple[int, Places, int, _Box]] = []
        self._serial = 0

    @property
    def clauses(self) -> list[Clause]:
        """Everything learned."""
        return self.learned.clauses

    def learn(self, clause: Clause) -> None:
        """Add a clause that holds in the context."""
        self.learned.learn(clause)

    def forbid(self, literals: Literals) -> None:
        """Add a clause for this search alone."""
        self._own.append(Clause(literals))

    def leave(self, changes: Iterable[int]) -> None:
        """Look no further for members that change all of these variables."""
        full, start = self.space.full, self.space.start
        self.forbid(tuple((v, full[v] & ~(1 << start[v])) for v in sorted(changes)))

    def first(self, within: Mapping[int, int]) -> Found | None:
        """The best member of a part of the space.

        Args:
            within: Masks of variables. None is returned where nothing is there (``complete``) and
                where the deadline has passed.
        """
        return next(self._members(within), None)

    def excludes(self, changes: Mapping[int, int]) -> bool:
        """Whether a clause learned so far already tells that a member is refused."""
        return bool(self.learned.broken(self.space.place(changes)) & self.learned.hard)

    def run(self, within: Mapping[int, int] | None = None) -> Iterator[Found]:
        """Accepted members, best first; none changes all flags that an earlier one changes.

        Ends when nothing is left (``complete``) or the deadline has passed (``bound`` says how far
        it came).
        """
        for found in self._members(within or {}):
            yield found
            if not found.changes:
                self.bound, self.complete = None, True
                return
            self.leave(found.changes)

    def _members(self, within: Mapping[int, int]) -> Iterator[Found]:
        """Accepted members, best first, the same again and again until a clause forbids it."""
        self._queue, self.complete = [], False
        start, full = self.space.start, self.space.full
        domains = {v: mask & full[v] for v, mask in within.items()}
        if all(domains.values()):
            moved = {v: mask for v, mask in domains.items() if not mask >> start[v] & 1}
            self._push(domains, frozenset(), {v: self._cheapest(v, m) for v, m in moved.items()})
        while self._queue:
            worth, _, _, box = self._queue[0]
            self.bound = 0 if self.greedy else worth >> _COST
            if self._is_enough(worth):
                return
            heappop(self._queue)
            self.popped += 1
            found = self._settle(worth, box)
            if found is not None:
                yield found
        self.bound, self.complete = None, True

    @property
    def effort(self) -> int:
        """Boxes looked at; judging a member costs as much as ten."""
        return self.popped + 10 * self.judged

    def _is_enough(self, worth: int) -> bool:
        """Whether a limit is reached."""
        if self.most_cost is not None and not self.greedy and worth >> _COST > self.most_cost:
            return True
        if self.most_effort is not None and self.effort > self.most_effort:
            return True
        return self.deadline is not None and time.monotonic() > self.deadline

    def _settle(self, worth: int, box: _Box) -> Found | None:
        """Split a box, put it back, or accept its cheapest member."""
        if box.seen != self._count():
            self._look(box)
            extra = self._extra_cost(box)
            if extra is None:
                return None
            if extra and not self.greedy:
                # What a flag is changed to may differ in the end, so the last parts do not count.
                least = (box.worth + (extra << _COST)) >> _EDIT << _EDIT
                if least > worth:
                    self._put(least, (), box)
                    return None
        if box.hard:
            self._split(box, box.hard)
        elif not self._sound(box):
            self._put(box.worth, box.places, box)
        elif box.soften:
            self._split(box, box.soften)
        else:
            self._put(worth, box.places, box)
            return Found(box.changes, box.worth, not self.greedy)
        return None

    def _count(self) -> int:
        return self.learned.version + len(self._own)

    def _look(self, box: _Box) -> None:
        """Hold the cheapest member against all clauses."""
        learned = self.learned
        bits = learned.broken(self.space.place(box.changes))
        if self.only is not None:
            bits &= learned.of(self.only)
        box.seen = self._count()
        box.hard = [c for c in self._own if self._breaks(c.literals, box.changes)]
        box.soften = []
        for number in numbers(bits):
            clause = learned.clauses[number]
            soft = clause.soft
            if soft is None or (soft.rank and soft.name in self.intact):
                box.hard.append(clause)
            elif soft not in box.soft:
                box.soften.append(clause)

    def _breaks(self, literals: Literals, changes: Mapping[int, int]) -> bool:
        start = self.space.start
        return all(mask >> changes.get(v, start[v]) & 1 for v, mask in literals)

    def _sound(self, box: _Box) -> bool:
        """Whether the cheapest member is accepted once its soft clauses are."""
        member = frozenset(box.changes.items())
        known = self._verdicts.get(member)
        if known is None:
            self.judged += 1
            known = True
            for clause in self.judge(box.changes):
                soft = clause.soft
                if soft is None or (soft.rank and soft.name in self.intact):
                    known = False
                self.learned.learn(clause)
            if known:
                self._verdicts[member] = True
            elif box.seen == self._count():  # nothing new was said of it: leave just this member
                self.forbid(self._exactly(box.changes))
        return known and box.seen == self._count()

    def _exactly(self, changes: Mapping[int, int]) -> Literals:
        start = self.space.start
        return tuple((v, 1 << changes.get(v, at)) for v, at in enumerate(start))

    def _push(
        self, domains: dict[int, int], soft: frozenset[Soft], changes: dict[int, int]
    ) -> None:
        worth = 0
        places = []
        price = self.space.price
        for variable, state in changes.items():
            cost, foreign, edits, elsewhere, unlike, place = price(variable, state)
            worth += (
                (cost << _COST)
                + (foreign << _FOREIGN)
                + (edits << _EDIT)
                + (elsewhere << _ELSEWHERE)
                + unlike
            )
            places.append((variable, place))
        for one in soft:
            worth += 1 << (_REWRITE if one.rank else _REPORT)
        places.sort()
        box = _Box(domains, soft, changes, worth, tuple(places))
        if self.greedy:
            self._look(box)
        self._put(worth, box.places, box)

    def _put(self, worth: int, places: Places, box: _Box) -> None:
        self._serial += 1
        if self.greedy:
            worth += (len(box.hard) + len(box.changes)) << 2 * _COST
        heappush(self._queue, (worth, places, self._serial, box))

    def _domain(self, box: _Box, variable: int) -> int:
        found = box.domains.get(variable)
        return self.space.full[variable] if found is None else found

    def _cheapest(self, variable: int, mask: int) -> int:
        """The state of least price within a mask."""
        found = self._best.get((variable, mask))
        if found is None:
            price = self.space.price
            found = min(numbers(mask), key=lambda state: price(variable, state))
            self._best[variable, mask] = found
        return found

    def _extra_cost(self, box: _Box) -> int | None:
        """What broken clauses over disjoint variables add at least; None where one must break."""
        needs: list[tuple[int, Literals]] = []
        for clause in box.hard:
            least = self._least(box, clause.literals)
            if least is None:
                return None
            if least:
                needs.append((least, clause.literals))
        if len(needs) > 1:
            needs.sort(key=lambda need: (-need[0], len(need[1]), need[1]))
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
        price = self.space.price
        for variable, mask in literals:
            open_ = self._domain(box, variable) & ~mask
            if open_:
                now = box.changes.get(variable)
                paid = 0 if now is None else price(variable, now).cost
                extra = price(variable, self._cheapest(variable, open_)).cost - paid
                if extra <= 0:
                    return 0
                least = extra if least is None else min(least, extra)
        return least

    def _split(self, box: _Box, broken: list[Clause]) -> None:
        """Split a box at the tightest of some broken clauses."""
        best: tuple[int, Literals] | None = None
        chosen = broken[0]
        for clause in broken:
            ways = sum(1 for v, mask in clause.literals if self._domain(box, v) & ~mask)
            if best is None or (ways, clause.literals) < best:
                best, chosen = (ways, clause.literals), clause
        kept = dict(box.domains)
        for variable, mask in chosen.literals:
            domain = self._domain(box, variable)
            if domain & ~mask:
                changes = dict(box.changes)
                changes[variable] = self._cheapest(variable, domain & ~mask)
                self._push({**kept, variable: domain & ~mask}, box.soft, changes)
            kept[variable] = domain & mask
        if chosen.soft is not None and chosen in box.soften:
            self._push(kept, box.soft | {chosen.soft}, box.changes)
