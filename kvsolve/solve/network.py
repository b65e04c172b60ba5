"""A program in a context as a network of constraints, ready for searches.

What depends on the context alone is made once and kept with it: the constraints by step, the flags
that each term reads, what entries compare flags with, and values of terms over a single flag.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from kvsolve.model.expression import (
    Crash,
    Expr,
    Operand,
    Unknown,
    all_of,
    any_of,
    children,
    if_,
    is_constant,
    node,
    raw,
    rebuild,
)
from kvsolve.packs.evaluate import Interpreter, NotReached
from kvsolve.solve.domains import Domain, Literals, State, bare, read_literals

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.pack import StepInfo
    from kvsolve.solve.board import Board
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.kept import KeptContext
    from kvsolve.solve.specialise import Constraint, Inlined
    from kvsolve.solve.universe import Universe

__all__ = ["CRASHED", "MANY", "UNKNOWN", "Assigner", "Mark", "Network", "network_of", "parts_of"]


class Mark:
    """A value that stands for the lack of one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


CRASHED: Final = Mark("CRASHED")
"""Upstream breaks in evaluating this."""
UNKNOWN: Final = Mark("UNKNOWN")
"""A fact that this needs is missing."""
MANY: Final = "*"
"""In place of a dest: the term reads several flags, or a bound variable."""


class Network:
    """The constraints of a context and what is known of their terms.

    Attributes:
        facts: Facts by name.
        constraints: By step, what upstream refuses there.
        effective: Final value of each written slot.
        literals: What entries compare flags with.
        work: Terms folded so far, for limits.
        domains: Domains of flags that are not given, by dest.
        cases: What terms become under the states of these, by term and identity of the domain.
        kept: Where what is made of the context is kept from start to start, if it is.
        place: Tells of a step which statement it stands for; None where that is not known.
    """

    def __init__(
        self, inlined: Inlined, facts: Any, judged: Any, literals: Literals | None = None
    ) -> None:
        """Make a network.

        Args:
            inlined: The constraints.
            facts: Facts by name.
            judged: Tells of a step whether it is to be heeded.
            literals: What entries compare flags with, where that is known already.
        """
        self.facts = facts
        self.effective = inlined.effective
        self.constraints: dict[int, Constraint] = {
            c.step: c for c in inlined.constraints if judged(c.step)
        }
        cones = dict.fromkeys(c.cone for c in self.constraints.values())
        if literals is None:
            broken = [c.broken for c in self.constraints.values()]
            literals = read_literals([*broken, *inlined.effective.values()], cones)
        self.literals: Literals = literals
        self.dests = frozenset(bare(slot) for cone in cones for slot in cone)
        self.work = 0
        self.domains: dict[str, Domain] = {}
        self.cases: dict[tuple[Expr, int], list[tuple[Operand, int]]] = {}
        self._owner: dict[Expr, str] = {}
        self._unsure: dict[Expr, bool] = {}
        self._support: dict[Expr, int] = {}
        self._bits: dict[str, int] = {}
        self._assigned: dict[tuple[str, str, str, bool], Assigner] = {}
        self._rewritten: dict[str, Operand] = {}
        self._interpreters: dict[tuple[str, str, str, bool], Interpreter] = {}
        self._universe: Universe | None = None
        self._board: Board | None = None
        self.kept: KeptContext | None = None
        self.place: Callable[[int], Hashable] | None = None
        self._alike: dict[Hashable, list[int]] = {}

    def universe_of(self, flags: FlagTable) -> Universe:
        """The states of all flags, made at first use."""
        if self._universe is None:
            from kvsolve.solve.universe import Universe

            self._universe = Universe(flags, self.literals)
        return self._universe

    def board_of(self, flags: FlagTable) -> Board:
        """What searches share in this context, made at first use."""
        if self._board is None:
            from kvsolve.solve.board import Board

            with _nothing_collected():
                universe = self.universe_of(flags)
                circuit = self.kept.circuit(self, universe) if self.kept else None
                self._board = Board(self, universe, circuit)
                if self.kept:
                    self.kept.follow(self._board)
        return self._board

    def alike(self, step: int) -> list[int]:
        """The entries that stand for the same statement, reached in several ways; at least one."""
        if self.place is None:
            return [step]
        if not self._alike:
            for other in self.constraints:
                self._alike.setdefault(self.place(other), []).append(other)
        return self._alike[self.place(step)]

    def owner(self, term: Expr) -> str:
        """The one flag that a term reads, ``""`` for none, :data:`MANY` for several."""
        found = self._owner.get(term)
        if found is None:
            found = self._owner[term] = self._find_owner(term)
        return found

    def _find_owner(self, term: Expr) -> str:
        if term.op == "ref":
            return bare(term.args[0])
        if term.op == "var":
            return MANY
        owner = ""
        for part in parts_of(term):
            other = self.owner(part)
            if other == MANY or (owner and other and other != owner):
                own = term.op in ("any", "collect")
                return self._loop_owner(term) if own else MANY
            owner = owner or other
        return owner

    def _loop_owner(self, term: Expr) -> str:
        """A loop's own variable is bound inside, so the loop may still read one flag alone."""
        number = term.args[0] if term.op == "any" else term.args[1]
        dests: set[str] = set()
        stack, seen = [term], {term}
        while stack:
            for part in parts_of(stack.pop()):
                if part.op == "ref":
                    dests.add(bare(part.args[0]))
                elif part.op == "var" and part.args[0] != number:
                    return MANY
                if part not in seen:
                    seen.add(part)
                    stack.append(part)
        return MANY if len(dests) > 1 else next(iter(dests), "")

    def refs_of(self, term: Expr) -> list[Expr]:
        """Every slot read below a term, as terms."""
        found: list[Expr] = []
        stack, seen = [term], {term}
        while stack:
            part = stack.pop()
            if part.op == "ref":
                found.append(part)
            for child in parts_of(part):
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return found

    def bit(self, dest: str) -> int:
        """The bit that stands for a flag in a support."""
        return self._bits.setdefault(dest, 1 << len(self._bits))

    def support(self, term: Expr) -> int:
        """The bits of all flags that a term reads."""
        found = self._support.get(term)
        if found is None:
            if term.op == "ref":
                found = self.bit(bare(term.args[0]))
            else:
                found = 0
                for part in parts_of(term):
                    found |= self.support(part)
            self._support[term] = found
        return found

    def assigner(self, dest: str, state: State) -> Assigner:
        """Folds terms under a state of a flag; kept, since searches come back to it.

        Folding may take a crash for a refusal's end, which makes no difference to a search: both
        stop upstream.
        """
        key = (dest, type(state.value).__name__, repr(state.value), state.typed)
        made = self._assigned.get(key)
        if made is None:
            values = {dest: state.value, f"raw.{dest}": state.value}
            values[f"given.{dest}"] = state.value if state.typed else None
            made = self._assigned[key] = Assigner(self, self.bit(dest), values)
        return made

    def is_unsure(self, term: Operand) -> bool:
        """Whether a missing fact could keep a term from having a value."""
        if not isinstance(term, Expr):
            return False
        found = self._unsure.get(term)
        if found is None:
            missing = term.op == "opaque" or (term.op == "fact" and term.args[0] not in self.facts)
            missing |= term.op == "helper" and f"helper:{term.args[0]}" not in self.facts
            found = missing or any(self.is_unsure(part) for part in parts_of(term))
            self._unsure[term] = found
        return found

    def single_value(self, term: Expr, dest: str, state: State) -> Any:
        """The value of a term over one flag where the flag is in a state."""
        key = (dest, type(state.value).__name__, repr(state.value), state.typed)
        run = self._interpreters.get(key)
        if run is None:
            slots = {
                (dest, 0): state.value,
                (f"raw.{dest}", 0): state.value,
                (f"given.{dest}", 0): state.value if state.typed else None,
            }
            run = self._interpreters[key] = Interpreter(slots, self.facts)
        return outcome(run, term)

    def constant_value(self, term: Expr) -> Any:
        """The value of a term that reads no flag."""
        return outcome(Interpreter({}, self.facts), term)

    def rewritten(self, dest: str) -> Operand:
        """Term that holds where upstream replaces a typed value of a flag; False where never."""
        found = self._rewritten.get(dest)
        if found is None:
            after = self.effective.get(dest, raw("ref", dest, 0))
            if isinstance(after, Expr) and after is raw("ref", dest, 0):
                found = False
            else:
                typed = raw("is_not", raw("ref", f"given.{dest}", 0), None)
                found = raw("and", typed, node("ne", raw("ref", dest, 0), after))
            self._rewritten[dest] = found
        return found


class Assigner:
    """Folds terms under one state of one flag; what does not read the flag is left alone."""

    __slots__ = ("bit", "memo", "network", "values")

    def __init__(self, network: Network, bit: int, values: dict[str, Any]) -> None:
        self.network, self.bit, self.values = network, bit, values
        self.memo: dict[Expr, Operand] = {}

    def fold(self, operand: Operand) -> Operand:
        """The operand under the state."""
        if isinstance(operand, tuple):
            return operand if is_constant(operand) else tuple(map(self.fold, operand))
        if not isinstance(operand, Expr) or not self.network.support(operand) & self.bit:
            return operand
        found = self.memo.get(operand, self)
        if found is self:
            found = self.memo[operand] = self.folded(operand)
        return found  # type: ignore[return-value]

    def folded(self, term: Expr) -> Operand:
        """As ``fold``, for a term that reads the flag and was not met before."""
        self.network.work += 1
        if term.op == "ref":
            value = self.values.get(term.args[0], term)
            return value if is_constant(value) else term
        if term.op == "if":
            test = self.fold(term.args[0])
            if not isinstance(test, Expr):
                return self.fold(term.args[1 if test else 2])
            return if_(test, self.fold(term.args[1]), self.fold(term.args[2]))
        if term.op in ("and", "or"):
            stop = term.op == "or"
            return (any_of if stop else all_of)(*self.parts(term, stop))
        return rebuild(term, self.fold)

    def parts(self, term: Expr, stop: bool) -> Iterator[Operand]:
        """The folded operands of a connective up to one that decides it."""
        for argument in term.args:
            part = self.fold(argument)
            yield part
            if not isinstance(part, Expr) and bool(part) is stop:
                return


def outcome(run: Interpreter, term: Operand) -> Any:
    """A term's value, or the mark that says why there is none."""
    try:
        return run.value(term)
    except (Crash, NotReached):
        return CRASHED
    except Unknown:
        return UNKNOWN


def parts_of(term: Expr) -> list[Expr]:
    """The terms right below a term, those inside tuples too."""
    out: list[Expr] = []
    for child in children(term):
        if isinstance(child, Expr):
            out.append(child)
        elif isinstance(child, tuple):
            out.extend(_inside(child))
    return out


def _inside(items: tuple[Any, ...]) -> list[Expr]:
    out: list[Expr] = []
    for item in items:
        if isinstance(item, Expr):
            out.append(item)
        elif isinstance(item, tuple):
            out.extend(_inside(item))
    return out


_networks: WeakKeyDictionary[Prepared, Network] = WeakKeyDictionary()


def network_of(prepared: Prepared) -> Network:
    """The network of a prepared context, made at first use."""
    found = _networks.get(prepared)
    if found is None:
        from kvsolve.solve.kept import kept_network

        if prepared.whole is not None:  # its terms are made already, or kept
            network_of(prepared.whole)
        with _nothing_collected():
            found = None if prepared.whole is not None else kept_network(prepared)
            if found is None:
                found = Network(prepared.inlined, prepared.facts, prepared.judges)
        found.place = partial(_statement, prepared.pack.steps)
        _networks[prepared] = found
    return found


def _statement(steps: Sequence[StepInfo], step: int) -> Hashable:
    """What tells a statement from others; a step whose line is not known stands alone."""
    info = steps[step]
    return (info.kind, info.name, info.file, info.line) if info.line else step


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """No garbage collection: of what is made here all is kept, and looking at it takes a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
