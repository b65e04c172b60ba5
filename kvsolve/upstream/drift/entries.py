"""How the entries of two programs differ: refusals and rewrites, matched by their codes."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvsolve.model.program import Refuse, Set
from kvsolve.packs.code_assignment import update_registry
from kvsolve.packs.code_units import atoms_of, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.model.program import Program
    from kvsolve.packs.registry import Registry

__all__ = ["EntryChange", "EntryDrift", "EntryView", "compare_entries"]

_NUMBER = re.compile(r"_\d+\b")
_BOUND = re.compile(r"\bv\d+\b")


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry as one release has it.

    Attributes:
        code: Its code; provisional where the registry does not hold it yet.
        kind: ``refuse`` or ``set``.
        about: The exception of a refusal, the field of a rewrite.
        symbol: The function.
        place: ``file:line``.
        texts: Guards, and of a rewrite the values, one for each inlining.
        asks: The questions that the guards ask.
        position: Of its first step in the program.
        provisional: The registry does not hold the code.
    """

    code: str
    kind: str
    about: str
    symbol: str
    place: str
    texts: tuple[str, ...]
    asks: frozenset[str]
    position: int
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class EntryChange:
    """An entry that both releases have, with another guard or value.

    Attributes:
        before: As the old release has it.
        after: As the new one has it.
    """

    before: EntryView
    after: EntryView

    @property
    def no_longer(self) -> tuple[str, ...]:
        """Questions that only the old guard asks."""
        return tuple(sorted(self.before.asks - self.after.asks))

    @property
    def newly(self) -> tuple[str, ...]:
        """Questions that only the new guard asks."""
        return tuple(sorted(self.after.asks - self.before.asks))


@dataclass(frozen=True, slots=True)
class EntryDrift:
    """How the entries of two releases differ.

    Attributes:
        added: Only the new release has them.
        removed: Only the old one has them.
        changed: Another guard, or another value.
        moved: Codes whose place among the other refusals is another: the first message that a
            user meets may be another.
    """

    added: tuple[EntryView, ...]
    removed: tuple[EntryView, ...]
    changed: tuple[EntryChange, ...]
    moved: tuple[EntryView, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.moved)


def compare_entries(old: Program, new: Program, registry: Registry) -> EntryDrift:
    """Compare the entries of two programs.

    Args:
        old: Of the older release.
        new: Of the newer one.
        registry: Codes given so far; stays as it is.
    """
    complete = update_registry([old, new], registry)
    known = frozenset(registry.codes)
    before = _views(old, complete.index(old.release), known)
    after = _views(new, complete.index(new.release), known)
    both = [code for code in after if code in before]
    changed = (EntryChange(before[code], after[code]) for code in both)
    return EntryDrift(
        tuple(view for code, view in after.items() if code not in before),
        tuple(view for code, view in before.items() if code not in after),
        tuple(c for c in changed if c.before.texts != c.after.texts),
        tuple(after[code] for code in _moved(before, after)),
    )


def _views(
    program: Program, index: Mapping[tuple[str, str], str], known: frozenset[str]
) -> dict[str, EntryView]:
    """Entries by code, in program order."""
    steps: dict[str, list[tuple[int, Refuse | Set]]] = {}
    for position, step in enumerate(program.steps):
        if isinstance(step, (Refuse, Set)) and step.key:
            kind = "refuse" if isinstance(step, Refuse) else "set"
            steps.setdefault(index[kind, step.key], []).append((position, step))
    return {code: _view(code, found, code not in known) for code, found in steps.items()}


def _view(code: str, found: Sequence[tuple[int, Refuse | Set]], provisional: bool) -> EntryView:
    position, first = found[0]
    refusal = isinstance(first, Refuse)
    questions = {_plain(atom) for _, step in found for atom in atoms_of(step.when)}
    return EntryView(
        code,
        "refuse" if refusal else "set",
        first.raises if isinstance(first, Refuse) else first.name.removeprefix("raw."),
        first.place.symbol,
        f"{first.place.file}:{first.place.line}",
        tuple(sorted({_text(step) for _, step in found})),
        frozenset(questions),
        position,
        provisional,
    )


def _text(step: Refuse | Set) -> str:
    guard = _plain(plain_text(step.when))
    return guard if isinstance(step, Refuse) else f"{_plain(plain_text(step.value))} if {guard}"


def _plain(text: str) -> str:
    """Without the numbers that tell results of one name, and bound variables, apart."""
    return _BOUND.sub("v", _NUMBER.sub("", text))


def _moved(before: Mapping[str, EntryView], after: Mapping[str, EntryView]) -> list[str]:
    """Refusals outside a longest run that both releases have in one order."""
    codes = [c for c, view in after.items() if c in before and view.kind == "refuse"]
    places = [before[code].position for code in codes]
    kept = _longest_rising(places)
    return [code for number, code in enumerate(codes) if number not in kept]


def _longest_rising(numbers: Sequence[int]) -> frozenset[int]:
    """Positions of a longest strictly rising subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for position, number in enumerate(numbers):
        at = bisect_left(tails, number)
        if at == len(tails):
            tails.append(number)
            ends.append(position)
        else:
            tails[at], ends[at] = number, position
        previous.append(ends[at - 1] if at else -1)
    kept = []
    position = ends[-1] if ends else -1
    while position >= 0:
        kept.append(position)
        position = previous[position]
    return frozenset(kept)
