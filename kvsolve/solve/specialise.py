"""Partial evaluation of a program in a context: facts and held flags are folded away.

Two results are made. The *residual program* keeps upstream's order with the surviving steps and
runs fast on many configurations. The *inlined* view writes every condition as one term over the
given values only (single assignment undone), which is what constraints are made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.expression import (
    Crash,
    Expr,
    Operand,
    Unknown,
    all_of,
    any_of,
    can_crash,
    children,
    if_,
    is_constant,
    raw,
    rebuild,
    same,
    walk,
)
from kvsolve.model.program import Let, Need, Program, Refuse, Set, Step
from kvsolve.packs.evaluate import Interpreter, NotReached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "Constraint",
    "Inlined",
    "Numbered",
    "Residual",
    "inline",
    "inline_steps",
    "numbered",
    "specialise",
    "support",
]


@dataclass(frozen=True, slots=True)
class Residual:
    """What is left of a program once facts and held flags are folded away.

    Attributes:
        program: The surviving steps.
        origin: For each surviving step its position in the full program.
        constants: Final values of written slots that are the same for every configuration.
    """

    program: Program
    origin: tuple[int, ...]
    constants: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A refusal as a condition over the given values.

    Attributes:
        step: Position in the full program.
        broken: Term that holds where upstream refuses; only version 0 of slots occurs.
        cone: The slots it reads.
        may_crash: It may be undefined, which is a refusal too (a step that is no refusal has a term
            that never holds but may be undefined).
    """

    step: int
    broken: Operand
    cone: frozenset[str]
    may_crash: bool = False


@dataclass(frozen=True, slots=True)
class Inlined:
    """A program in a context, as constraints and functions of the given values.

    Attributes:
        constraints: One per refusal that some configuration can meet, in upstream's order.
        effective: Final value of each written slot as a term over version 0 of slots.
        asked: Facts that depend on arguments, as terms, whose values were folded in.
    """

    constraints: tuple[Constraint, ...]
    effective: Mapping[str, Operand]
    asked: tuple[Expr, ...] = ()


class _Folder:
    """Rewrites terms under known facts and known or inlined slot values."""

    def __init__(self, facts: Mapping[str, Any], slots: dict[tuple[str, int], Operand]) -> None:
        self.slots = slots
        self.interpreter = Interpreter({}, facts)
        self.memo: dict[Expr, Operand] = {}
        self.closed: dict[Expr, bool] = {}
        self.unsure: dict[Expr, bool] = {}
        self.asked: dict[Expr, None] = {}

    def fold(self, operand: Operand) -> Operand:
        """The operand with everything known replaced by its value."""
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple) and not is_constant(operand):
                return tuple(self.fold(part) for part in operand)
            return operand
        found = self.memo.get(operand, self)
        if found is not self:
            return found  # type: ignore[return-value]
        result = self.memo[operand] = self.value(self.folded(operand))
        return result

    def folded(self, term: Expr) -> Operand:
        if term.op == "ref":
            return self.slots.get((term.args[0], term.args[1]), term)
        if term.op == "if":
            test = self.fold(term.args[0])
            if not isinstance(test, Expr):
                return self.fold(term.args[1 if test else 2])
            return self.choice(test, self.fold(term.args[1]), self.fold(term.args[2]))
        if term.op in ("and", "or"):
            return self.connective(term.op, list(self.parts(term, term.op == "or")))
        if any(self.is_doubtful(self.fold(c)) for c in children(term)):
            return rebuild(term, self.fold, raw)
        result = rebuild(term, self.fold)
        if not isinstance(result, Expr) and any(can_crash(self.fold(c)) for c in children(term)):
            return rebuild(term, self.fold, raw)
        return result

    def choice(self, test: Operand, then: Operand, other: Operand) -> Operand:
        """The folded conditional; one whose test may be unknown stays one.

        It is unknown then, where the connective that it could be folded to may be decided by its
        other operands.
        """
        if isinstance(test, Expr):
            doubt = self.is_unsure(test) and not same(then, other)
            if doubt or (same(then, other) and can_crash(test)):
                return raw("if", test, then, other)
        return if_(test, then, other)

    def is_doubtful(self, operand: Operand) -> bool:
        """Whether an operand is a conditional that has to stay one."""
        if not isinstance(operand, Expr) or operand.op != "if":
            return False
        return self.is_unsure(operand.args[0]) or any(map(self.is_doubtful, operand.args[1:]))

    def is_unsure(self, operand: Operand) -> bool:
        """Whether a missing fact could keep an operand from having a value."""
        if not isinstance(operand, Expr):
            return isinstance(operand, tuple) and any(map(self.is_unsure, operand))
        found = self.unsure.get(operand)
        if found is None:
            facts = self.interpreter.facts
            found = operand.op == "opaque"
            found = found or (operand.op == "fact" and operand.args[0] not in facts)
            found = found or (operand.op == "helper" and f"helper:{operand.args[0]}" not in facts)
            found = found or any(map(self.is_unsure, children(operand)))
            self.unsure[operand] = found
        return found

    def connective(self, op: str, parts: list[Operand]) -> Operand:
        """The folded connective; what may crash before a deciding constant is kept.

        Parts that may be unknown are not weighed against each other: unknown or not unknown is
        unknown.
        """
        result = (any_of if op == "or" else all_of)(*parts)
        if any(map(self.is_unsure, parts)):
            constant = [p for p in parts if not isinstance(p, Expr)]
            if any(bool(c) is (op == "or") for c in constant):
                return op == "or" if not any(map(can_crash, parts)) else raw(op, *parts)
            kept = dict.fromkeys(p for p in parts if isinstance(p, Expr))
            return raw(op, *kept) if len(kept) > 1 else result
        if isinstance(result, Expr) or not any(can_crash(part) for part in parts):
            return result
        return raw(op, *parts)

    def parts(self, term: Expr, stop: bool) -> Iterator[Operand]:
        for argument in term.args:
            part = self.fold(argument)
            yield part
            if not isinstance(part, Expr) and bool(part) is stop:
                return

    def value(self, operand: Operand) -> Operand:
        """A term's value where it reads nothing but known facts and the value is a constant."""
        if not isinstance(operand, Expr) or operand.op == "crash" or not self.is_closed(operand):
            return operand
        if operand.op == "helper":
            self.asked[operand] = None
        try:
            value = self.interpreter.value(operand)
        except (Crash, NotReached) as crash:
            return raw("crash", crash.args[0])
        except Unknown:
            return operand
        return value if is_constant(value) else operand

    def is_closed(self, operand: Operand) -> bool:
        if isinstance(operand, tuple):
            return all(self.is_closed(part) for part in operand)
        if not isinstance(operand, Expr):
            return True
        found = self.closed.get(operand)
        if found is None:
            found = operand.op not in ("ref", "var", "opaque", "any", "collect") and all(
                self.is_closed(c) for c in children(operand)
            )
            found = found or (operand.op in ("any", "collect") and _closed_loop(operand))
            self.closed[operand] = found
        return found


def _closed_loop(term: Expr) -> bool:
    own = term.args[0] if term.op == "any" else term.args[1]
    return all(
        t.op not in ("ref", "opaque") and (t.op != "var" or t.args[0] == own) for t in walk(term)
    )


class _Paths:
    """Folds the conditions of steps, dropping what can only crash where a kept step crashes too.

    A condition that is decided false behind a part that may crash must stay, or the crash would be
    lost. But conditions share their beginnings, and a run that crashes is repeated on the full
    program: so one kept step for each such beginning is enough.
    """

    def __init__(self, folder: _Folder) -> None:
        self.folder = folder
        self.kept: set[tuple[Expr, ...]] = set()

    def fold(self, when: Operand) -> tuple[Operand, bool]:
        """The folded condition, and whether an earlier step tells every part that may crash."""
        parts = self.parts(when)
        result = all_of(*parts)
        leading = [p for p in parts if isinstance(p, Expr)]
        risky = list(leading)
        while risky and not can_crash(risky[-1]):
            risky.pop()
        told = not risky or tuple(risky) in self.kept
        if isinstance(result, Expr) or result:
            self.keep(leading)
            return result, told
        if told:
            return False, True
        self.keep(risky)
        return raw("and", *risky, False), False

    def parts(self, when: Operand) -> list[Operand]:
        """The folded conjuncts of a condition, each once, up to one that is false."""
        if not isinstance(when, Expr) or when.op != "and":
            return [self.folder.fold(when)]
        found: dict[Operand, None] = {}
        for part in self.folder.parts(when, False):
            inner = part.args if isinstance(part, Expr) and part.op == "and" else (part,)
            found.update(dict.fromkeys(p for p in inner if isinstance(p, Expr) or not p))
        return list(found)

    def keep(self, leading: list[Expr]) -> None:
        self.kept.update(tuple(leading[:n]) for n in range(1, len(leading) + 1))


def specialise(
    program: Program, facts: Mapping[str, Any], held: Mapping[str, Any] | None = None
) -> Residual:
    """Fold facts and held values away, keeping the order and the names of the steps.

    Args:
        program: What to specialise.
        facts: Facts by name.
        held: Slot values that do not vary (``flag``, ``raw.flag``, ``given.flag``).
    """
    slots: dict[tuple[str, int], Operand] = {
        (n, 0): v for n, v in (held or {}).items() if is_constant(v)
    }
    folder = _Folder(facts, slots)
    old: dict[str, int] = {}
    new: dict[str, int] = {}
    steps: list[Step] = []
    origin: list[int] = []
    paths = _Paths(folder)
    for number, step in enumerate(program.steps):
        when, told = paths.fold(step.when)
        kept = _residual_step(step, when, told, folder, old, new)
        if kept is not None:
            steps.append(kept)
            origin.append(number)
    constants = {
        name: slots[name, version]
        for name, version in old.items()
        if not isinstance(slots.get((name, version), folder), (Expr, _Folder))
    }
    last = {(name, new[name]) for name in new}
    used = _used(steps, {r for r in last if "." not in r[0]} & _written(steps))
    rows = [(s, o) for s, o, u in zip(steps, origin, used, strict=True) if u]
    steps, origin = [s for s, _ in rows], [o for _, o in rows]
    return Residual(replace(program, steps=tuple(steps), gaps=()), tuple(origin), constants)


def _written(steps: list[Step]) -> set[tuple[str, int]]:
    """Slots, at their versions, that a set writes."""
    versions: dict[str, int] = {}
    found = set()
    for step in steps:
        if isinstance(step, (Let, Set)):
            versions[step.name] = versions.get(step.name, 0) + 1
            if isinstance(step, Set):
                found.add((step.name, versions[step.name]))
    return found


def _used(steps: list[Step], wanted: set[tuple[str, int]]) -> list[bool]:
    """For each step whether it does something: all but named results that nothing reads."""
    counts: dict[str, int] = {}
    for step in steps:
        if isinstance(step, (Let, Set)):
            counts[step.name] = counts.get(step.name, 0) + 1
    needed = set(wanted)
    used = [True] * len(steps)
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if isinstance(step, (Let, Set)):
            slot = (step.name, counts[step.name])
            counts[step.name] -= 1
            if isinstance(step, Let) and slot not in needed and step.place is None:
                used[number] = False
                continue
        value = None if isinstance(step, Refuse) else step.value
        needed |= {(t.args[0], t.args[1]) for t in walk(step.when, value) if t.op == "ref"}
    return used


def _residual_step(
    step: Step, when: Operand, told: bool, folder: _Folder, old: dict[str, int], new: dict[str, int]
) -> Step | None:
    if isinstance(step, Refuse):
        return None if when is False else replace(step, when=when)
    value = folder.fold(step.value) if when is not False else None
    harmless = told and not can_crash(value)
    if isinstance(step, Need):
        return None if when is False or harmless else replace(step, value=value, when=when)
    version = old.get(step.name, 0)
    old[step.name] = version + 1
    current = folder.slots.get((step.name, version), raw("ref", step.name, new.get(step.name, 0)))
    if when is False:
        folder.slots[step.name, version + 1] = current
        return None
    if isinstance(step, Let) and harmless and (not isinstance(value, Expr) or value.op == "ref"):
        # A named result is read on its own path only, so it needs no condition to be known.
        folder.slots[step.name, version + 1] = value
        return None
    known = when is True and not isinstance(value, Expr)
    new[step.name] = new.get(step.name, 0) + 1
    after: Operand = value if known else raw("ref", step.name, new[step.name])
    folder.slots[step.name, version + 1] = after
    if isinstance(step, Let) and harmless:
        return Let(step.name, value, when)  # without a place: it may go if nothing reads it
    return replace(step, value=value, when=when)


class Numbered(NamedTuple):
    """A step of a program.

    Attributes:
        at: Its position in the program.
        version: The version that its slot has before it, 0 where it writes none.
        step: The step.
    """

    at: int
    version: int
    step: Step


def numbered(program: Program) -> Iterator[Numbered]:
    """The steps of a program in order."""
    versions: dict[str, int] = {}
    for at, step in enumerate(program.steps):
        version = 0
        if isinstance(step, (Let, Set)):
            version = versions.get(step.name, 0)
            versions[step.name] = version + 1
        yield Numbered(at, version, step)


def inline(
    program: Program, facts: Mapping[str, Any], held: Mapping[str, Any] | None = None
) -> Inlined:
    """Write every refusal as a condition over the given values.

    Args:
        program: What to inline.
        facts: Facts by name.
        held: Slot values that do not vary.
    """
    return inline_steps(numbered(program), facts, held)


def inline_steps(
    steps: Iterable[Numbered], facts: Mapping[str, Any], held: Mapping[str, Any] | None = None
) -> Inlined:
    """As :func:`inline`, for some steps of a program with all that they read.

    Args:
        steps: The steps, in order.
        facts: Facts by name.
        held: Slot values that do not vary.
    """
    slots: dict[tuple[str, int], Operand] = {
        (n, 0): v for n, v in (held or {}).items() if is_constant(v)
    }
    folder = _Folder(facts, slots)
    last: dict[str, int] = {}
    constraints: list[Constraint] = []
    paths, supports = _Paths(folder), _Supports()
    for at, version, step in steps:
        when, _ = paths.fold(step.when)
        if isinstance(step, Refuse):
            constraints.extend(_constraint(at, when, supports))
            continue
        value = folder.fold(step.value) if when is not False else None
        constraints.extend(_need(at, when, value, supports))
        if not isinstance(step, Need):
            before = slots.get((step.name, version), raw("ref", step.name, 0))
            last[step.name] = version + 1
            let = isinstance(step, Let)
            slots[step.name, version + 1] = value if let else folder.choice(when, value, before)
    effective = {n: slots[n, v] for n, v in last.items()}
    return Inlined(tuple(constraints), effective, tuple(folder.asked))


def _constraint(number: int, when: Operand, supports: _Supports) -> Iterator[Constraint]:
    if when is not False:
        yield Constraint(number, when, supports.of(when), may_crash=can_crash(when))


def _need(number: int, when: Operand, value: Operand, supports: _Supports) -> Iterator[Constraint]:
    """The crash of a step that is no refusal: a term that never holds but may be undefined."""
    if when is not False and (can_crash(value) or can_crash(when)):
        undefined = raw("and", when, raw("tuple", value), False)
        yield Constraint(number, undefined, supports.of(when, value), may_crash=True)


def support(*operands: Operand) -> frozenset[str]:
    """The slots that operands read."""
    return frozenset(t.args[0] for t in walk(*operands) if t.op == "ref")


class _Supports:
    """The slots that terms read, each shared term looked at once."""

    def __init__(self) -> None:
        self.bits: dict[str, int] = {}
        self.known: dict[Expr, int] = {}
        self.sets: dict[int, frozenset[str]] = {}

    def of(self, *operands: Operand) -> frozenset[str]:
        """As :func:`support`."""
        mask = 0
        for operand in operands:
            mask |= self.mask(operand)
        found = self.sets.get(mask)
        if found is None:
            names = (name for name, bit in self.bits.items() if mask & bit)
            found = self.sets[mask] = frozenset(names)
        return found

    def mask(self, operand: Operand) -> int:
        """The slots as bits."""
        if isinstance(operand, tuple):
            found = 0
            for part in operand:
                found |= self.mask(part)
            return found
        if not isinstance(operand, Expr):
            return 0
        known = self.known.get(operand)
        if known is None:
            if operand.op == "ref":
                known = self.bits.setdefault(operand.args[0], 1 << len(self.bits))
            else:
                known = 0
                for part in children(operand):
                    known |= self.mask(part)
            self.known[operand] = known
        return known
