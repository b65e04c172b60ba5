"""The values that the solver may give to a flag.

Switches and choices are taken as declared. A number is represented by the values that entries can
tell apart and by customary ones; a list, a JSON value or free text is kept, unset or set to a text
that some entry compares with, never invented.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import (
    ARITHMETIC,
    COMPARISONS,
    Expr,
    Operand,
    children,
    is_constant,
    walk,
)
from kvsolve.model.flag import UNSET, Flag, FlagTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.model.context import Config

__all__ = ["Domain", "Literals", "State", "default_of", "domain_of", "read_literals"]

_NUMERIC = {"int": int, "human_int": int, "float": float}
_CUSTOMARY = tuple(2**n for n in range(14))
_MOST_DIVISORS = 24


@dataclass(frozen=True, slots=True)
class State:
    """One way a flag can stand: its value, and whether the command line says it."""

    value: Any
    typed: bool


@dataclass(frozen=True, slots=True)
class Domain:
    """What a flag may be.

    Attributes:
        dest: The flag.
        states: In declared order; numbers that entries compare with come first.
        start: Index of the state that the configuration has.
        unset: Index of the state in which the flag is not given, None where it must be.
    """

    dest: str
    states: tuple[State, ...]
    start: int
    unset: int | None


@dataclass(frozen=True, slots=True)
class Literals:
    """What entries compare flags with.

    Attributes:
        constants: By dest, the constants.
        numeric_peers: By dest, the flags that stand in a small entry with it.
        asked_if_given: Dests whose presence on the command line matters to some entry.
    """

    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    numeric_peers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    asked_if_given: frozenset[str] = frozenset()


def bare(slot: str) -> str:
    """The dest behind a slot's name."""
    return slot.rpartition(".")[2]


def read_literals(
    operands: Iterable[Operand], cones: Iterable[frozenset[str]], widest: int = 8
) -> Literals:
    """Collect what terms compare flags with.

    Args:
        operands: Conditions and effective values over version 0 of slots.
        cones: The slots of each entry.
        widest: Entries over more flags than this make no numeric peers.
    """
    constants: dict[str, dict[tuple[str, str], Any]] = {}
    asked: set[str] = set()
    slots = _Slots()
    for term in walk(*operands):
        if term.op == "ref" and term.args[0].startswith("given."):
            asked.add(bare(term.args[0]))
        elif term.op in COMPARISONS or term.op in ("mod", "floordiv", "min", "max"):
            for dest, value in _compared(term, slots):
                constants.setdefault(dest, {}).setdefault(_key(value), value)
    peers: dict[str, set[str]] = {}
    for cone in dict.fromkeys(cones):
        dests = {bare(slot) for slot in cone}
        if len(dests) <= widest:
            for dest in dests:
                peers.setdefault(dest, set()).update(dests - {dest})
    return Literals(
        {d: tuple(found.values()) for d, found in constants.items()},
        {d: frozenset(found) for d, found in peers.items()},
        frozenset(asked),
    )


def _compared(term: Expr, slots: _Slots) -> Iterator[tuple[str, Any]]:
    a, b = term.args[:2]
    for side, other in ((a, b), (b, a)):
        if isinstance(side, Expr) and side.op not in ARITHMETIC and is_constant(other):
            ref = slots.of(side)
            if isinstance(ref, Expr):
                several = isinstance(other, (tuple, frozenset))
                for value in sorted(other, key=repr) if several else (other,):
                    yield bare(ref.args[0]), value


class _Slots:
    """The one slot that terms read, each shared term looked at once."""

    def __init__(self) -> None:
        self.known: dict[Expr, Expr | bool] = {}

    def of(self, term: Expr) -> Expr | bool:
        """The slot as a term; False where there is none, True where there are several."""
        found = self.known.get(term)
        if found is None:
            found = term if term.op == "ref" else self._below(term)
            self.known[term] = found
        return found

    def _below(self, term: Expr) -> Expr | bool:
        found: Expr | bool = False
        for part in children(term):
            other = self.of(part) if isinstance(part, Expr) else False
            if other is not False and other is not found:
                if found is not False:
                    return True
                found = other
        return found


def _key(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def default_of(flags: FlagTable, dest: str) -> Any:
    """The value of a flag that is not given."""
    if dest in flags.fields:
        return flags.fields[dest]
    default = flags.defaults.get(dest)
    return None if default is UNSET else default


def domain_of(dest: str, config: Config, flags: FlagTable, literals: Literals) -> Domain:
    """The domain of a flag around a configuration.

    Args:
        dest: The flag.
        config: Its own value is always a member, and shapes the numbers.
        flags: The release's options.
        literals: What entries compare with.
    """
    own = State(config.values.get(dest), dest in config.given)
    default = default_of(flags, dest)
    found: dict[tuple[str, str, bool], State] = {}

    def add(value: Any, typed: bool) -> None:
        found.setdefault((*_key(value), typed), State(value, typed))

    options = _usable(flags.by_dest(dest), own.typed)
    required = any(f.required for f in options)
    if not required:
        add(default, False)
    retype = dest in literals.asked_if_given
    for flag in options:
        opposite = flag.action == "boolean" and own.typed
        for value in _values(flag, own, literals, config):
            if retype or opposite or _key(value) != _key(default):
                add(value, True)
    add(own.value, own.typed)
    states = tuple(found.values())
    unset = None if required else 0
    return Domain(dest, states, states.index(own), unset)


def _usable(options: tuple[Flag, ...], typed: bool) -> list[Flag]:
    """The options to propose: the ones that stay, or the first where there is nothing better."""
    good = [f for f in options if not f.deprecated and not f.hidden]
    return [f for f in (good or options[:1]) if typed or f.action not in ("ignore", "refuse")]


def _values(flag: Flag, own: State, literals: Literals, config: Config) -> Iterator[Any]:
    if flag.action == "store_true":
        yield True
    elif flag.action == "boolean":
        yield from (True, False)
    elif flag.action == "const":
        yield flag.const
    elif flag.action == "store" and flag.nargs in (None, "?"):
        if flag.choices is not None:
            yield from flag.choices
        elif flag.type in _NUMERIC:
            yield from _numbers(flag, own, literals, config)
        elif flag.type in ("", "str", "nullable_str"):
            compared = literals.constants.get(flag.dest, ())
            yield from (v for v in compared if isinstance(v, str) and v)


def _numbers(flag: Flag, own: State, literals: Literals, config: Config) -> list[Any]:
    """Representatives, those closest to the user's value first, else compared values first."""
    kind = _NUMERIC[flag.type]
    compared = [v for v in literals.constants.get(flag.dest, ()) if _is_number(v)]
    sides = [side for v in compared for side in _either_side(v, kind)]
    found = [*sorted(kind(v) for v in compared if v == kind(v)), *sorted(sides)]
    if kind is int:
        found += _CUSTOMARY
    if own.typed and _is_number(own.value):
        found += _around(own.value, kind)
        for peer in sorted(literals.numeric_peers.get(flag.dest, ())):
            value = config.values.get(peer)
            if _is_number(value) and value == kind(value):
                found.append(kind(value))
        found.sort(key=lambda v: (_distance(v, own.value), v))
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _either_side(value: float, kind: type) -> tuple[Any, Any]:
    """A value below and one above; sizes and counts are not taken below 1 for that."""
    if kind is int:
        below = math.ceil(value) - 1
        return (below if below > 0 or value < 0 else math.floor(value) + 1), math.floor(value) + 1
    step = abs(value) * 0.1 or 0.1
    return round(value - step, 6), round(value + step, 6)


def _around(value: Any, kind: type) -> list[Any]:
    if kind is float:
        return [value / 2, value * 2]
    size = abs(value)
    if size > 1 << 24:
        divisors = [size >> n for n in range(1, _MOST_DIVISORS) if size % (1 << n) == 0]
    else:
        small = [d for d in range(1, math.isqrt(size) + 1) if size % d == 0]
        divisors = sorted({d for n in small for d in (n, size // n)}, reverse=True)
    return [*divisors[:_MOST_DIVISORS], 2 * value, 4 * value]


def _distance(value: float, own: float) -> float:
    if value > 0 and own > 0:
        return abs(math.log(value / own))
    return 100.0 + abs(value - own)
