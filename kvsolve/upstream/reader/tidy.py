"""From the log of a run to the steps of a program: unused names go, equal refusals merge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, raw, rebuild, walk
from kvsolve.model.program import Gap, Let, Need, Refuse, Set, Step
from kvsolve.upstream.reader.fingerprint import with_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["gaps", "tidy"]


def tidy(steps: list[Step], fields: frozenset[str]) -> list[Step]:
    """The steps of the program."""
    steps = _one_view(steps, fields)
    steps = _without_unused(steps)
    steps = _without_repeats(steps)
    return with_keys(steps)


def gaps(found: Iterable[Gap]) -> list[Gap]:
    """Each gap once, in order."""
    return list(dict.fromkeys(found))


def operands(step: Step) -> tuple[Operand, ...]:
    """The operands of a step."""
    return (step.when,) if isinstance(step, Refuse) else (step.when, step.value)


def _one_view(steps: list[Step], fields: frozenset[str]) -> list[Step]:
    """Where nothing is ever declared for a field, its two views are one: keep the plain name."""
    declared = {s.name for s in steps if isinstance(s, Set) and s.mode == "declare"}
    single = {f"raw.{f}": f for f in fields if f not in declared}
    memo: dict[Expr, Operand] = {}
    kept = [s for s in steps if not (isinstance(s, Set) and s.name in single)]
    return [_renamed(s, single, memo) for s in kept]


def _renamed(step: Step, single: dict[str, str], memo: dict[Expr, Operand]) -> Step:
    when = _rename(step.when, single, memo)
    if isinstance(step, Refuse):
        return replace(step, when=when)
    return replace(step, when=when, value=_rename(step.value, single, memo))


def _rename(operand: Operand, single: dict[str, str], memo: dict[Expr, Operand]) -> Operand:
    if not isinstance(operand, Expr):
        return operand
    if operand not in memo:
        if operand.op == "ref":
            name, version = operand.args
            memo[operand] = raw("ref", single.get(name, name), version)
        else:
            memo[operand] = rebuild(operand, lambda o: _rename(o, single, memo))
    return memo[operand]


def _without_unused(steps: list[Step]) -> list[Step]:
    """Drop named results that nothing reads."""
    used: set[str] = set()
    kept: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, Let) and step.name not in used:
            continue
        for term in walk(*operands(step)):
            if term.op == "ref":
                used.add(term.args[0])
        kept.append(step)
    return kept[::-1]


def _without_repeats(steps: list[Step]) -> list[Step]:
    """Drop refusals and needs that say again what an earlier one said."""
    seen: set[object] = set()
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, (Refuse, Need)):
            key = (type(step), step.place.file, step.place.line, *operands(step))
            if key in seen:
                continue
            seen.add(key)
        kept.append(step)
    return kept
