"""A program as plain values, and back: what the cache keeps of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.program import Gap, Let, Need, Place, Program, Refuse, Set
from kvsolve.model.table import read_terms, write_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.expression import Operand
    from kvsolve.model.program import Step

__all__ = ["program_to_plain", "read_plain_program"]

_LET, _SET, _REFUSE, _NEED = range(4)


def program_to_plain(program: Program) -> tuple[Any, ...]:
    """Plain values that :mod:`marshal` can write."""
    places: dict[Place | None, int] = {None: 0}
    steps = []
    for step in program.steps:
        places.setdefault(step.place, len(places))
        steps.append(_plain_step(step, places[step.place]))
    for gap in program.gaps:
        places.setdefault(gap.place, len(places))
    gaps = [(places[g.place], g.reason, g.refusals, g.reads) for g in program.gaps]
    where = [(p.file, p.symbol, p.line, p.caller) for p in places if p is not None]
    head = (program.release, program.source, dict(program.statements))
    return head, where, steps, gaps, write_terms(_operands(program))


def _operands(program: Program) -> Iterator[Operand]:
    for step in program.steps:
        yield step.when
        yield None if isinstance(step, Refuse) else step.value


def _plain_step(step: Step, place: int) -> tuple[Any, ...]:
    if isinstance(step, Let):
        return _LET, place, step.name
    if isinstance(step, Set):
        return _SET, place, step.name, step.mode, step.key
    if isinstance(step, Refuse):
        return _REFUSE, place, step.raises, step.key, step.words, step.stage
    return _NEED, place


def read_plain_program(plain: tuple[Any, ...]) -> Program:
    """The program that :func:`program_to_plain` wrote; its terms are those of the language."""
    (release, source, statements), where, rows, gaps, table = plain
    places = [None, *(Place(*p) for p in where)]
    terms = iter(read_terms(table))
    steps = []
    for (kind, place, *rest), when, value in zip(rows, terms, terms, strict=True):
        steps.append(_step(kind, places[place], rest, when, value))
    unread = tuple(Gap(places[p], *rest) for p, *rest in gaps)
    return Program(release, tuple(steps), unread, source, statements)


def _step(kind: int, place: Any, rest: list[Any], when: Operand, value: Operand) -> Step:
    if kind == _REFUSE:
        raises, key, words, stage = rest
        return Refuse(raises, when, place, key, words, stage)
    if kind == _SET:
        name, mode, key = rest
        return Set(name, value, when, place, mode, key)
    return Let(rest[0], value, when, place) if kind == _LET else Need(value, when, place)
