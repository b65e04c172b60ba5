"""Giving codes to programs: what an entry continues keeps its code, the rest gets a new one.

A release that is read again is recognised by fingerprint, else by function and line. An entry of a
new release takes the code of the entry that it continues: the one with the same fingerprint, else
the likeliest of the same function (same exception or field; guard and message words decide), else
one that moved to another function with its words. Only what continues nothing gets a new code.

Several inlinings of one statement share a code when they ask about the same things.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.packs.code_units import Unit, likeness, overlap, units_of
from kvsolve.packs.registry import Code, Registry, RegistryError, function_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.model.program import Program

__all__ = ["update_registry"]

_FIRST = {"refuse": 1001, "crash": 3001, "set": 4001}
_LAST = {"refuse": 2999, "crash": 3999, "set": 7999}
_SAME_FUNCTION = 0.45
_ONLY_ONE = 0.2
_MOVED = 0.75
_CROWDED = 0.5
_ONE_LINE = 0.3


class _Assignment:
    """Takes releases in order and gives each unit its code."""

    def __init__(self, registry: Registry) -> None:
        self.known = registry
        self.codes: dict[str, Code] = dict(registry.codes)
        self.last: dict[str, Unit] = {}
        self._oldest: dict[str, Unit] = {}
        self.by_key: dict[tuple[str, str, str], str] = {
            (c.kind, c.about, key): c.code for c in self.codes.values() for key in c.keys
        }
        self.numbers = {kind: self._highest(kind) for kind in _FIRST}

    def _highest(self, kind: str) -> int:
        taken = [int(c.code[2:]) for c in self.codes.values() if c.kind == kind]
        return max(taken, default=_FIRST[kind] - 1)

    def _next(self, kind: str) -> str:
        self.numbers[kind] += 1
        if self.numbers[kind] > _LAST[kind]:
            raise RegistryError(f"the registry has no code left for another {kind}")
        return f"KV{self.numbers[kind]}"

    def release(self, program: Program) -> None:
        units = units_of(program)
        assigned: dict[int, str] = {}
        taken: set[str] = set()
        self._registered(program.release, units, assigned, taken)
        self._by_fingerprint(units, assigned, taken)
        self._by_likeness(units, assigned, taken, same_function=True)
        self._by_likeness(units, assigned, taken, same_function=False)
        self._forget(program.release)
        for number, unit in enumerate(units):
            code = assigned.get(number) or self._next(unit.kind)
            self._record(code, unit, program.release)
        self._crashes(program)

    def turn_back(self) -> None:
        """From here on each release is older than the one before: compare with the oldest units."""
        self.last = dict(self._oldest)

    def _registered(
        self, release: str, units: list[Unit], assigned: dict[int, str], taken: set[str]
    ) -> None:
        index = self.known.index(release)
        for number, unit in enumerate(units):
            codes = [c for key in unit.keys if (c := index.get((unit.kind, key)))]
            if codes:
                assigned[number] = codes[0]
                taken.add(codes[0])
        self._by_line(release, units, assigned, taken)

    def _by_line(
        self, release: str, units: list[Unit], assigned: dict[int, str], taken: set[str]
    ) -> None:
        """Codes of a release read before, for what the reader words differently now."""
        at: dict[tuple[str, str, str, int], list[str]] = {}
        for code in self.known.codes.values():
            if release in code.lines and code.code not in taken:
                function = function_name(code.symbol)
                at.setdefault((code.kind, code.about, function, code.lines[release]), []).append(
                    code.code
                )
        left: dict[tuple[str, str, str, int], list[int]] = {}
        for number, unit in enumerate(units):
            if number not in assigned:
                place = (unit.kind, unit.about, unit.function, unit.place.line)
                left.setdefault(place, []).append(number)
        for place, numbers in left.items():
            self._on_one_line([(n, units[n]) for n in numbers], at.get(place, []), assigned, taken)

    def _on_one_line(
        self,
        units: list[tuple[int, Unit]],
        codes: list[str],
        assigned: dict[int, str],
        taken: set[str],
    ) -> None:
        """Units and codes of one line: single ones belong together, else what they ask decides."""
        if len(units) == len(codes) == 1:
            assigned[units[0][0]] = codes[0]
            taken.add(codes[0])
            return
        pairs = sorted(
            (-overlap(unit.asks, self.known.codes[code].asks), number, code)
            for number, unit in units
            for code in codes
        )
        for distance, number, code in pairs:
            if -distance >= _ONE_LINE and number not in assigned and code not in taken:
                assigned[number] = code
                taken.add(code)

    def _forget(self, release: str) -> None:
        """Drop what an earlier reading of the release recorded; the codes stay."""
        for code in self.codes.values():
            if release in code.lines or any(release in have for have in code.keys.values()):
                kept = {k: tuple(r for r in have if r != release) for k, have in code.keys.items()}
                keys = {key: have for key, have in kept.items() if have}
                lines = {r: line for r, line in code.lines.items() if r != release}
                self.codes[code.code] = replace(code, keys=keys, lines=lines)

    def _by_fingerprint(self, units: list[Unit], assigned: dict[int, str], taken: set[str]) -> None:
        for number, unit in enumerate(units):
            if number in assigned:
                continue
            found = [c for key in unit.keys if (c := self.by_key.get((unit.kind, unit.about, key)))]
            free = [code for code in found if code not in taken]
            if free:
                assigned[number] = free[0]
                taken.add(free[0])

    def _by_likeness(
        self, units: list[Unit], assigned: dict[int, str], taken: set[str], same_function: bool
    ) -> None:
        pairs = [
            (score, number, code)
            for number, unit in enumerate(units)
            if number not in assigned
            for code, score in self._candidates(unit, taken, same_function)
        ]
        for _, number, code in sorted(pairs, key=lambda p: (-p[0], p[1], p[2])):
            if number not in assigned and code not in taken:
                assigned[number] = code
                taken.add(code)

    def _candidates(
        self, unit: Unit, taken: set[str], same_function: bool
    ) -> list[tuple[str, float]]:
        near = [
            (code, other)
            for code, other in self.last.items()
            if code not in taken
            and (other.kind, other.about) == (unit.kind, unit.about)
            and (other.function == unit.function) is same_function
        ]
        threshold = (_ONLY_ONE if len(near) == 1 else _SAME_FUNCTION) if same_function else _MOVED
        if unit.crowded and same_function:
            threshold = _CROWDED
        scored = [(code, likeness(unit, other)) for code, other in near]
        if not same_function and not unit.words:
            return [(code, score) for code, score in scored if score >= 0.9 and len(unit.atoms) > 2]
        return [(code, score) for code, score in scored if score >= threshold]

    def _record(self, code: str, unit: Unit, release: str) -> None:
        old = self.codes.get(code)
        keys = dict(old.keys) if old else {}
        for key in unit.keys:
            have = keys.get(key, ())
            keys[key] = have if release in have else (*have, release)
            self.by_key[unit.kind, unit.about, key] = code
        lines = dict(old.lines) if old else {}
        symbol, asks = unit.place.symbol, unit.asks
        if old and any(_release_order(r) > _release_order(release) for r in lines):
            symbol, asks = old.symbol, old.asks  # these are the newest reading's
        lines[release] = unit.place.line
        self.codes[code] = Code(code, unit.kind, symbol, unit.about, keys, lines, asks)
        self.last[code] = unit
        self._oldest.setdefault(code, unit)

    def _crashes(self, program: Program) -> None:
        known = {c.symbol for c in self.codes.values() if c.kind == "crash"}
        for step in program.steps:
            name = function_name(step.place.symbol) if step.place else ""
            if name and name not in known:
                known.add(name)
                code = self._next("crash")
                self.codes[code] = Code(code, "crash", name, "")


def update_registry(programs: Sequence[Program], registry: Registry | None = None) -> Registry:
    """The registry continued over programs.

    Args:
        programs: Oldest release first. Give every release that has a program, also those already
            registered: their guards are what a new release is compared with.
        registry: What was assigned so far; it stays as it is, only more is added.

    Raises:
        RegistryError: A kind is out of numbers.
    """
    old = registry or Registry()
    run = _Assignment(old)
    older = _older(programs, old)
    for program in programs:
        if all(program is not one for one in older):
            run.release(program)
    run.turn_back()
    for program in older:
        run.release(program)
    releases = [p.release for p in programs]
    order = [*old.releases, *(r for r in releases if r not in old.releases)]
    order.sort(key=_release_order)
    codes = dict(sorted(run.codes.items(), key=lambda item: int(item[0][2:])))
    return Registry(tuple(order), codes)


def _older(programs: Sequence[Program], registry: Registry) -> list[Program]:
    """Programs of releases before all that are registered, the newest first."""
    if not registry.releases:
        return []
    first = min(map(_release_order, registry.releases))
    found = [p for p in programs if _release_order(p.release) < first]
    return sorted(found, key=lambda p: _release_order(p.release), reverse=True)


def _release_order(release: str) -> tuple[Any, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release))
