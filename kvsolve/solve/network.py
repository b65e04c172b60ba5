"""A program in a context as a network of constraints, ready for searches.

What depends on the context alone is made once and kept with it: the constraints by step, the flags
that each term reads, what entries compare flags with, and values of terms over a single flag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from kvsolve.model.expression import Crash, Expr, Operand, Unknown, children, node, raw
from kvsolve.packs.evaluate import Interpreter, NotReached
from kvsolve.solve.domains import Literals, State, bare, read_literals

if TYPE_CHECKING:
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.specialise import Constraint, Inlined

__all__ = ["CRASHED", "MANY", "UNKNOWN", "Network", "network_of"]


class _Mark:
    """A value that stands for the lack of one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


CRASHED: Final = _Mark("CRASHED")
"""Upstream breaks in evaluating this."""
UNKNOWN: Final = _Mark("UNKNOWN")
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
    """

    def __init__(self, inlined: Inlined, facts: Any, judged: Any) -> None:
        self.facts = facts
        self.effective = inlined.effective
        self.constraints: dict[int, Constraint] = {
            c.step: c for c in inlined.constraints if judged(c.step)
        }
        operands = [*(c.broken for c in self.constraints.values()), *inlined.effective.values()]
        self.literals: Literals = read_literals(
            operands, (c.cone for c in self.constraints.values())
        )
        self.dests = frozenset(bare(s) for c in self.constraints.values() for s in c.cone)
        self._owner: dict[Expr, str] = {}
        self._unsure: dict[Expr, bool] = {}
        self._rewritten: dict[str, Operand] = {}
        self._interpreters: dict[tuple[str, str, str, bool], Interpreter] = {}

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
        for part in _parts(term):
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
            for part in _parts(stack.pop()):
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
            for child in _parts(part):
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return found

    def is_unsure(self, term: Operand) -> bool:
        """Whether a missing fact could keep a term from having a value."""
        if not isinstance(term, Expr):
            return False
        found = self._unsure.get(term)
        if found is None:
            missing = term.op == "opaque" or (term.op == "fact" and term.args[0] not in self.facts)
            missing |= term.op == "helper" and f"helper:{term.args[0]}" not in self.facts
            found = missing or any(self.is_unsure(part) for part in _parts(term))
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


def outcome(run: Interpreter, term: Operand) -> Any:
    """A term's value, or the mark that says why there is none."""
    try:
        return run.value(term)
    except (Crash, NotReached):
        return CRASHED
    except Unknown:
        return UNKNOWN


def _parts(term: Expr) -> list[Expr]:
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
        found = _networks[prepared] = Network(prepared.inlined, prepared.facts, prepared.judges)
    return found
