"""What interpreted units came to, for the runs that come after in the same context.

Where a machine's facts are missing, hundreds of units of every run are interpreted, most of them
with what they had before. What a unit does depends on the slots that it reads and on facts alone,
those behind shared terms included, so that it is kept by their values.
"""

from __future__ import annotations

from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.packs.compile import Unknowable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from kvsolve.packs.evaluate import Failure, Write
    from kvsolve.packs.units import Units

__all__ = ["Outcome", "Remembered", "deep_reads"]

_MOST = 4096
"""Outcomes kept for a context; one takes half a kilobyte."""
_PLAIN = frozenset([str, int, bool, type(None), bytes])


class Outcome(NamedTuple):
    """What a unit did.

    Attributes:
        refusals: As in a trace.
        writes: The same.
        failures: The same.
        results: What it handed on, in the order of its cells.
    """

    refusals: list[int]
    writes: list[Write]
    failures: list[Failure]
    results: list[Any]


class Remembered:
    """The outcomes of a context's interpreted units.

    Args:
        units: The program.
    """

    __slots__ = ("_getters", "_known", "_last", "_units")

    def __init__(self, units: Units) -> None:
        self._units = units
        self._getters: dict[int, Callable[[list[Any]], tuple[Any, ...]]] = {}
        self._known: dict[Hashable, Outcome] = {}
        self._last: dict[int, tuple[tuple[Any, ...], Outcome]] = {}

    def read(self, unit: int, cells: list[Any]) -> tuple[Any, ...]:
        """The values that a unit's outcome depends on."""
        getter = self._getters.get(unit)
        if getter is None:
            getter = self._getters[unit] = _getter(deep_reads(self._units)[unit])
        return getter(cells)

    def find(self, unit: int, values: tuple[Any, ...]) -> Outcome | None:
        """The outcome that was kept for these values."""
        last = self._last.get(unit)
        if last is not None and all(map(is_, values, last[0])):
            return last[1]  # mostly they are the very same objects as in the run before
        key = _key(unit, values)
        found = None if key is None else self._known.get(key)
        if found is not None:
            self._last[unit] = values, found
        return found

    def keep(self, unit: int, values: tuple[Any, ...], outcome: Outcome) -> None:
        """Keep an outcome; all are forgotten when there are too many."""
        if len(self._known) >= _MOST:
            self._known.clear()
        key = _key(unit, values)
        if key is not None:
            self._known[key] = outcome
        self._last[unit] = values, outcome


def _key(unit: int, values: tuple[Any, ...]) -> Hashable | None:
    """What an outcome is kept by; None where a value is told only by its identity."""
    kinds = tuple(map(type, values))
    if _PLAIN.issuperset(kinds):
        return unit, values, kinds
    try:
        return unit, tuple(map(_plain, values))
    except TypeError:
        return None


def _getter(cells: frozenset[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    if len(cells) > 1:
        return itemgetter(*sorted(cells))
    return lambda found: tuple(found[cell] for cell in cells)


def deep_reads(units: Units) -> Sequence[frozenset[int]]:
    """For each unit the cells of slots that it reads, those behind shared terms included."""
    found = units.deep
    if found is None:
        found = units.deep = _deep_reads(units)
    return found


def _deep_reads(units: Units) -> tuple[frozenset[int], ...]:
    layout = units.layout
    reads: list[set[int]] = [set() for _ in units.functions]
    for cell, readers in enumerate(layout.readers):
        for unit in readers:
            reads[unit].add(cell)
    unit_of_term = {cell: unit for unit, cell in layout.terms.items()}
    for cells in reads:  # in order: what a term reads was written before it
        for cell in [c for c in cells if c in unit_of_term]:
            cells.remove(cell)
            cells |= reads[unit_of_term[cell]]
    return tuple(map(frozenset, reads))


def _plain(value: Any) -> Hashable:
    """A value by which it is told from all others.

    Raises:
        TypeError: It is something that only its own identity tells from another.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is Unknowable:
        return kind, value.label
    if kind in (list, tuple):
        return kind, tuple(map(_plain, value))
    if kind is float:  # 0.0 is equal to -0.0
        return kind, repr(value)
    if kind is dict:
        return kind, tuple((_plain(name), _plain(item)) for name, item in value.items())
    if kind is frozenset and _PLAIN.issuperset(map(type, value)):
        return kind, frozenset(map(_plain, value))
    raise TypeError(kind)
