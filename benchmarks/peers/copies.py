"""Disjoint copies of a pack's program, to see how costs grow with its size.

Every flag and every slot of a copy has a name of its own; facts are shared. Nothing joins the
copies, so the answers about one are those about the original.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, Operand, raw, rebuild
from kvsolve.model.flag import FlagTable
from kvsolve.model.program import Let, Set
from kvsolve.packs.compile import compile_program
from kvsolve.packs.pack import Pack
from kvsolve.packs.units import compile_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.model.program import Program, Step

__all__ = ["copied", "name_of"]


def name_of(slot: str, copy: int) -> str:
    """The name of a slot or flag in a copy; the first copy is the original."""
    return slot if copy == 0 else f"{slot}__{copy}"


def copied(pack: Pack, copies: int) -> Pack:
    """A pack of so many copies of another."""
    program = pack.program
    parts = [list(_steps(program, copy)) for copy in range(copies)]
    whole = replace(program, steps=tuple(step for part in parts for step in part))
    flags = [
        replace(flag, dest=name_of(flag.dest, copy), spellings=_spelled(flag.spellings, copy))
        for copy in range(copies)
        for flag in pack.flags
    ]
    fields = {name_of(d, c): v for c in range(copies) for d, v in pack.flags.fields.items()}
    tables = {
        "modelled": sorted(name_of(d, c) for c in range(copies) for d in pack.modelled),
        "unread": [],
        "last_stage": pack.last_stage,
    }
    table = FlagTable(pack.release, flags, fields, {})
    made = Pack(pack.release, table, pack.steps * copies, compile_program(whole), tables)
    vars(made)["program"] = whole
    vars(made)["catalog"] = _Catalog(pack.catalog, len(program.steps))
    made._units = compile_units(whole)
    return made


def _spelled(spellings: Iterable[str], copy: int) -> tuple[str, ...]:
    return tuple(name_of(spelling, copy) for spelling in spellings)


def _steps(program: Program, copy: int) -> Iterator[Step]:
    memo: dict[Expr, Operand] = {}

    def moved(operand: Operand) -> Operand:
        if isinstance(operand, tuple):
            return tuple(moved(part) for part in operand)
        if not isinstance(operand, Expr):
            return operand
        if operand not in memo:
            if operand.op == "ref":
                name, version = operand.args
                memo[operand] = raw("ref", name_of(name, copy), version)
            else:
                memo[operand] = rebuild(operand, moved, raw)
        return memo[operand]

    for step in program.steps:
        changes: dict[str, Any] = {"when": moved(step.when)}
        if hasattr(step, "value"):
            changes["value"] = moved(step.value)
        if isinstance(step, (Let, Set)):
            changes["name"] = name_of(step.name, copy)
        yield replace(step, **changes)


class _Catalog:
    """The catalog of the original, asked about steps of copies."""

    def __init__(self, catalog: Any, length: int) -> None:
        self.catalog, self.length = catalog, length

    def entry(self, step: int) -> Any:
        copy, own = divmod(step, self.length)
        return self._moved(self.catalog.entry(own), copy)

    def crash(self, step: int) -> Any:
        copy, own = divmod(step, self.length)
        return self._moved(self.catalog.crash(own), copy)

    def _moved(self, entry: Any, copy: int) -> Any:
        return replace(entry, flags=tuple(name_of(dest, copy) for dest in entry.flags))

    def reports(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
        return self.catalog.reports(values, facts)
