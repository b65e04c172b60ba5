"""Codes of refusals, rewrites and crashes that stay the same from release to release.

The registry is append-only: a code is never renumbered, reused or dropped. A release that is read
again is recognised by fingerprint, else by function and line. An entry of a new
release takes the code of the entry that it continues: the one with the same fingerprint, else the
likeliest of the same function (same exception or field; guard and message words decide), else
one that moved to another function with its words. Only what continues nothing gets a new code.

Several inlinings of one statement share a code when they ask about the same things.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.expression import Expr, Operand
from kvsolve.model.program import Place, Program, Refuse, Set
from kvsolve.model.syntax import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "Code",
    "Registry",
    "RegistryError",
    "atoms_of",
    "dump_registry",
    "function_name",
    "load_registry",
    "plain_text",
    "update_registry",
]

_FIRST = {"refuse": 1001, "crash": 3001, "set": 4001}
_LAST = {"refuse": 2999, "crash": 3999, "set": 7999}
_SAME_FUNCTION = 0.45
_ONLY_ONE = 0.2
_MOVED = 0.75
_SAME_STATEMENT = 0.34
_SAME_WRITE = 0.6
_CROWDED = 0.5
_CROWD = 4
_VERSION = re.compile(r"\(([\w.]+)@\d+\)")
_NUMBER = re.compile(r"_\d+\b")
_HEAD = """\
# Written by `kvsolve upstream codes`; append-only: a code is never renumbered, reused or dropped.
# One table a code. `keys`: fingerprint -> releases that have it; a changed guard adds another.
"""


class RegistryError(KvsolveError):
    """The registry of codes is malformed or out of numbers."""


@dataclass(frozen=True, slots=True)
class Code:
    """One registered code.

    Attributes:
        code: As in ``KV1042``.
        kind: ``refuse``, ``set`` or ``crash``.
        symbol: Function of the newest release that has it, the bare function name for a crash.
        about: The exception of a refusal, the field of a rewrite, empty for a crash.
        keys: Fingerprint -> releases; empty for a crash.
        lines: Release -> line of the statement, by which a release read again is recognised.
    """

    code: str
    kind: str
    symbol: str
    about: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def releases(self, order: Sequence[str]) -> tuple[str, ...]:
        """Releases that have the entry, in order."""
        have = {release for releases in self.keys.values() for release in releases}
        return tuple(release for release in order if release in have)


@dataclass(frozen=True, slots=True)
class Registry:
    """All codes, in order, and the releases they were assigned over."""

    releases: tuple[str, ...] = ()
    codes: Mapping[str, Code] = field(default_factory=dict)

    def index(self, release: str) -> dict[tuple[str, str], str]:
        """(kind, fingerprint) -> code, for the entries of one release."""
        return {
            (code.kind, key): code.code
            for code in self.codes.values()
            for key, releases in code.keys.items()
            if release in releases
        }

    def crashes(self) -> dict[str, str]:
        """Bare function name -> code of a break in it."""
        return {c.symbol: c.code for c in self.codes.values() if c.kind == "crash"}


def function_name(symbol: str) -> str:
    """The function that a symbol ends in, without class and leading underscores.

    >>> function_name("ServerArgs._handle_page_size")
    'handle_page_size'
    """
    return symbol.rpartition(".")[2].lstrip("_") or symbol


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
class _Unit:
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
        return function_name(self.place.symbol)

    def holds(self, other: _Unit) -> bool:
        """Whether another inlining of the same statement asks about the same things."""
        if self.keys.keys() & other.keys.keys():
            return True
        if self.kind == "set":
            # One statement applies the defaults of every model: only a like guard is the same.
            return _overlap(self.atoms, other.atoms) >= _SAME_WRITE
        return bool(self.deciding & other.deciding) or (
            _overlap(self.atoms, other.atoms) >= _SAME_STATEMENT
        )

    def add(self, other: _Unit) -> None:
        self.keys |= other.keys
        self.deciding |= other.deciding


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    if not a and not b:
        return 1.0
    return len(a & b) / len(a | b)


def _likeness(a: _Unit, b: _Unit) -> float:
    atoms = _overlap(a.atoms, b.atoms)
    if not a.words or not b.words:
        return atoms
    return 0.5 * atoms + 0.5 * _overlap(a.words, b.words)


def _single(step: Refuse | Set) -> _Unit:
    place = step.place
    if isinstance(step, Refuse):
        atoms, words = atoms_of(step.when), frozenset(step.words)
        return _Unit(
            "refuse", step.raises, place, {step.key: None}, atoms, {_deciding(step.when)}, words
        )
    value = f"= {_asked(step.value)}"
    atoms = atoms_of(step.when) | {value}
    about = step.name.removeprefix("raw.")
    return _Unit("set", about, place, {step.key: None}, atoms, {value}, frozenset())


def _units(program: Program) -> list[_Unit]:
    """The units of a release, in program order."""
    units: list[_Unit] = []
    at: dict[tuple[Any, ...], list[_Unit]] = {}
    by_key: dict[tuple[str, str, str], _Unit] = {}
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


class _Assignment:
    """Takes releases in order and gives each unit its code."""

    def __init__(self, registry: Registry) -> None:
        self.known = registry
        self.codes: dict[str, Code] = dict(registry.codes)
        self.last: dict[str, _Unit] = {}
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
        units = _units(program)
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

    def _registered(
        self, release: str, units: list[_Unit], assigned: dict[int, str], taken: set[str]
    ) -> None:
        index = self.known.index(release)
        for number, unit in enumerate(units):
            codes = [c for key in unit.keys if (c := index.get((unit.kind, key)))]
            if codes:
                assigned[number] = codes[0]
                taken.add(codes[0])
        self._by_line(release, units, assigned, taken)

    def _by_line(
        self, release: str, units: list[_Unit], assigned: dict[int, str], taken: set[str]
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
            codes = at.get(place, [])
            # With as many of both the order tells them apart; else likeness has to.
            if len(codes) == len(numbers):
                assigned.update(zip(numbers, codes, strict=True))
                taken.update(codes)

    def _forget(self, release: str) -> None:
        """Drop what an earlier reading of the release recorded; the codes stay."""
        for code in self.codes.values():
            if release in code.lines or any(release in have for have in code.keys.values()):
                kept = {k: tuple(r for r in have if r != release) for k, have in code.keys.items()}
                keys = {key: have for key, have in kept.items() if have}
                lines = {r: line for r, line in code.lines.items() if r != release}
                self.codes[code.code] = replace(code, keys=keys, lines=lines)

    def _by_fingerprint(
        self, units: list[_Unit], assigned: dict[int, str], taken: set[str]
    ) -> None:
        for number, unit in enumerate(units):
            if number in assigned:
                continue
            found = [c for key in unit.keys if (c := self.by_key.get((unit.kind, unit.about, key)))]
            free = [code for code in found if code not in taken]
            if free:
                assigned[number] = free[0]
                taken.add(free[0])

    def _by_likeness(
        self, units: list[_Unit], assigned: dict[int, str], taken: set[str], same_function: bool
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
        self, unit: _Unit, taken: set[str], same_function: bool
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
        scored = [(code, _likeness(unit, other)) for code, other in near]
        if not same_function and not unit.words:
            return [(code, score) for code, score in scored if score >= 0.9 and len(unit.atoms) > 2]
        return [(code, score) for code, score in scored if score >= threshold]

    def _record(self, code: str, unit: _Unit, release: str) -> None:
        old = self.codes.get(code)
        keys = dict(old.keys) if old else {}
        for key in unit.keys:
            have = keys.get(key, ())
            keys[key] = have if release in have else (*have, release)
            self.by_key[unit.kind, unit.about, key] = code
        lines = {**(old.lines if old else {}), release: unit.place.line}
        self.codes[code] = Code(code, unit.kind, unit.place.symbol, unit.about, keys, lines)
        self.last[code] = unit

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
    for program in programs:
        run.release(program)
    releases = [p.release for p in programs]
    order = [*old.releases, *(r for r in releases if r not in old.releases)]
    order.sort(key=_release_order)
    codes = dict(sorted(run.codes.items(), key=lambda item: int(item[0][2:])))
    return Registry(tuple(order), codes)


def _release_order(release: str) -> tuple[Any, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release))


def _spans(releases: Sequence[str], order: Sequence[str]) -> str:
    """Releases as runs, ``0.5.16..0.5.18 0.5.21``."""
    places = sorted(order.index(release) for release in releases)
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return " ".join(order[a] if a == b else f"{order[a]}..{order[b]}" for a, b in runs)


def _unspanned(text: str, order: Sequence[str]) -> Iterator[str]:
    for part in text.split():
        first, _, last = part.partition("..")
        yield from order[order.index(first) : order.index(last or first) + 1]


def dump_registry(registry: Registry) -> str:
    """The text of ``codes.toml``; the same bytes every time."""
    return "\n".join(_dump(registry)) + "\n"


def _dump(registry: Registry) -> Iterator[str]:
    yield _HEAD
    yield f"releases = [{', '.join(map(_quoted, registry.releases))}]"
    yield "\n[crashes]"
    for code in registry.codes.values():
        if code.kind == "crash":
            yield f"{code.code} = {_quoted(code.symbol)}"
    for code in registry.codes.values():
        if code.kind != "crash":
            yield f"\n[{code.code}]"
            yield f"symbol = {_quoted(code.symbol)}"
            yield f"{'raises' if code.kind == 'refuse' else 'sets'} = {_quoted(code.about)}"
            spans = {key: _spans(have, registry.releases) for key, have in _by_age(code, registry)}
            inner = ", ".join(f"{_bare(key)} = {_quoted(span)}" for key, span in spans.items())
            yield f"keys = {{ {inner} }}"
            lines = (code.lines[r] for r in registry.releases if r in code.lines)
            yield f"lines = [{', '.join(map(str, lines))}]"


def _by_age(code: Code, registry: Registry) -> list[tuple[str, tuple[str, ...]]]:
    """Fingerprints with their releases, the oldest first."""
    order = registry.releases
    return sorted(
        code.keys.items(), key=lambda item: (min(order.index(r) for r in item[1]), item[0])
    )


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def load_registry(data: Mapping[str, Any]) -> Registry:
    """The registry from the parsed ``codes.toml``.

    Raises:
        RegistryError: It is malformed; names the table.
    """
    releases = data.get("releases")
    crashes = data.get("crashes", {})
    if not isinstance(releases, list) or not isinstance(crashes, dict):
        raise RegistryError("codes.toml needs `releases` and the table `crashes`")
    codes = {code: Code(code, "crash", str(symbol), "") for code, symbol in crashes.items()}
    for code, table in data.items():
        if code not in ("releases", "crashes"):
            codes[code] = _load_code(code, table, releases)
    ordered = sorted(codes.items(), key=lambda item: int(item[0][2:]))
    return Registry(tuple(releases), dict(ordered))


def _load_code(code: str, table: Any, releases: Sequence[str]) -> Code:
    try:
        kind = "refuse" if "raises" in table else "set"
        about = table["raises"] if kind == "refuse" else table["sets"]
        keys = {key: tuple(_unspanned(text, releases)) for key, text in table["keys"].items()}
        if not re.fullmatch(r"KV\d{4}", code):
            raise ValueError("a code is KV and four digits")
        have = {release for span in keys.values() for release in span}
        lines = dict(zip((r for r in releases if r in have), table.get("lines", ()), strict=False))
        return Code(code, kind, table["symbol"], about, keys, lines)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RegistryError(f"codes.toml, table {code}: {error}") from None
