"""What of a program is to have a code of its own, and how alike two such things are."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from kvsolve.model.expression import Expr, Operand
from kvsolve.model.program import Place, Program, Refuse, Set
from kvsolve.model.syntax import render
from kvsolve.packs.registry import function_name

__all__ = ["Unit", "atoms_of", "likeness", "overlap", "plain_text", "units_of"]

_SAME_STATEMENT = 0.34
_SAME_WRITE = 0.6
_CROWD = 4
_VERSION = re.compile(r"\(([\w.]+)@\d+\)")
_NUMBER = re.compile(r"_\d+\b")


def plain_text(operand: Operand) -> str:
    """Text of an operand without versions, equal for equal questions."""
    text = render(operand)
    while (stripped := _VERSION.sub(r"\1", text)) != text:
        text = stripped
    return text


def _asked(operand: Operand) -> str:
    """The same without the numbers that tell results of one name apart."""
    return _NUMBER.sub("", plain_text(operand))


def atoms_of(operand: Operand) -> frozenset[str]:
    """The questions that a condition asks: what stands between its ands, ors and nots."""
    found: set[str] = set()
    stack: list[Operand] = [operand]
    while stack:
        term = stack.pop()
        if isinstance(term, Expr) and term.op in ("and", "or", "not"):
            stack.extend(term.args)
        elif isinstance(term, Expr):
            found.add(_asked(term))
    return frozenset(found)


def _deciding(operand: Operand) -> str:
    """The last conjunct: what the statement itself asks."""
    if isinstance(operand, Expr) and operand.op == "and":
        operand = operand.args[-1]
    return _asked(operand)


@dataclass(slots=True)
class Unit:
    """The steps of one release that are to share a code.

    ``crowded``: they stand where one statement writes many things, the defaults of all models.
    """

    kind: str
    about: str
    place: Place
    keys: dict[str, None]
    atoms: frozenset[str]
    deciding: set[str]
    words: frozenset[str]
    crowded: bool = False

    @property
    def function(self) -> str:
        """Bare name of the function."""
        return function_name(self.place.symbol)

    def holds(self, other: Unit) -> bool:
        """Whether another inlining of the same statement asks about the same things."""
        if self.keys.keys() & other.keys.keys():
            return True
        if self.kind == "set":
            # One statement applies the defaults of every model: only a like guard is the same.
            return overlap(self.atoms, other.atoms) >= _SAME_WRITE
        return bool(self.deciding & other.deciding) or (
            overlap(self.atoms, other.atoms) >= _SAME_STATEMENT
        )

    @property
    def asks(self) -> frozenset[str]:
        """Short hashes of the questions that it asks."""
        return frozenset(hashlib.sha256(atom.encode()).hexdigest()[:5] for atom in self.atoms)

    def add(self, other: Unit) -> None:
        """Take up another inlining."""
        self.keys |= other.keys
        self.deciding |= other.deciding


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of what two sets have in common, 0 to 1."""
    if not a and not b:
        return 1.0
    return len(a & b) / len(a | b)


def likeness(a: Unit, b: Unit) -> float:
    """How alike two units are, 0 to 1: their guards, and their messages where both have one."""
    atoms = overlap(a.atoms, b.atoms)
    if not a.words or not b.words:
        return atoms
    return 0.5 * atoms + 0.5 * overlap(a.words, b.words)


def _single(step: Refuse | Set) -> Unit:
    place = step.place
    if isinstance(step, Refuse):
        atoms, words = atoms_of(step.when), frozenset(step.words)
        return Unit(
            "refuse", step.raises, place, {step.key: None}, atoms, {_deciding(step.when)}, words
        )
    value = f"= {_asked(step.value)}"
    atoms = atoms_of(step.when) | {value}
    about = step.name.removeprefix("raw.")
    return Unit("set", about, place, {step.key: None}, atoms, {value}, frozenset())


def units_of(program: Program) -> list[Unit]:
    """The units of a release, in program order."""
    units: list[Unit] = []
    at: dict[tuple[Any, ...], list[Unit]] = {}
    by_key: dict[tuple[str, str, str], Unit] = {}
    crowd = Counter(s.place for s in program.steps if isinstance(s, Set))
    for step in program.steps:
        if not isinstance(step, (Refuse, Set)) or not step.key:
            continue
        new = _single(step)
        place = (new.kind, new.about, step.place.file, step.place.symbol, step.place.line)
        same = by_key.get((new.kind, new.about, step.key)) or next(
            (u for u in at.get(place, ()) if u.holds(new)), None
        )
        if same is None:
            units.append(same := new)
            at.setdefault(place, []).append(new)
        else:
            same.add(new)
        by_key[new.kind, new.about, step.key] = same
    for group in at.values():
        for unit in group:
            unit.crowded = crowd[unit.place] > _CROWD
    return units
