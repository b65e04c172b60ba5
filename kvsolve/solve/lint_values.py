"""Dead and core values, false-optional flags and atomic sets of a context."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kvsolve.solve.check import same_value
from kvsolve.solve.culprits import Culprits
from kvsolve.solve.domains import default_of
from kvsolve.solve.lint import Kind, Remark, atomic_sets, core_values
from kvsolve.solve.support import PairSupport, Support, support

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.model.context import Config
    from kvsolve.packs.pack import Pack
    from kvsolve.solve.check import Prepared

__all__ = ["value_remarks"]

Values = dict[str, tuple[Any, ...]]
Dead = dict[str, list[Any]]


def value_remarks(
    prepared: Prepared,
    config: Config,
    *,
    held: Iterable[str] = (),
    time_limit: float | None = None,
) -> list[Remark]:
    """What there is to remark on the values of the flags that are not given.

    Args:
        prepared: Pack, context and stage.
        config: What it gives is kept.
        held: Dests that are no matter of choice.
        time_limit: Seconds for deciding the pairs of values that atomic sets rest on.
    """
    until = None if time_limit is None else time.monotonic() + time_limit
    found = support(prepared, config, held=held, time_limit=time_limit)
    values: Values = {
        dest: tuple(state.value for state in states)
        for dest, states in zip(found.dests, found.states, strict=True)
    }
    remarks = list(_dead(prepared.pack, found, until))
    dead: Dead = {}
    for remark in remarks:
        if remark.kind is Kind.DEAD_VALUE:
            for dest, value in remark.values:
                dead.setdefault(dest, []).append(value)
    remarks += _of_flags(prepared.pack, values, dead)
    remarks += (Remark(Kind.ATOMIC_SET, None, members) for members in _atomic(prepared.pack, found))
    if not found.complete:
        remarks.append(Remark(Kind.OPEN, detail="not every pair of values was decided in time"))
    return remarks


def _dead(pack: Pack, found: PairSupport, until: float | None) -> Iterator[Remark]:
    """Values that no valid configuration has, each with a minimal set of entries.

    Once the time is up, nobody has looked whether upstream refuses one or a fact is missing.
    """
    with Culprits(found.lowered) as culprits:
        for flag, (dest, states) in enumerate(zip(found.dests, found.states, strict=True)):
            for at, state in enumerate(states):
                known = found.value(flag, at)
                late = until is not None and time.monotonic() > until
                if known is Support.UNKNOWN or (known is Support.DEAD and late):
                    yield Remark(Kind.OPEN, None, ((dest, state.value),))
                elif known is Support.DEAD:
                    steps = culprits.of([(flag, at)])
                    codes = (str(pack.catalog.entry(max(s, ~s)).code) for s in steps)
                    unsure = any(step < 0 for step in steps)
                    kind = Kind.OPEN if unsure else Kind.DEAD_VALUE
                    yield Remark(kind, None, ((dest, state.value),), tuple(dict.fromkeys(codes)))


def _of_flags(pack: Pack, values: Values, dead: Dead) -> Iterator[Remark]:
    """Flags with one value left, and flags that have to be given."""
    for dest, value in core_values(values, dead).items():
        yield Remark(Kind.CORE_VALUE, None, ((dest, value),))
    for dest, lost in dead.items():
        default = default_of(pack.flags, dest)
        if _among(default, lost) and not all(_among(v, lost) for v in values[dest]):
            yield Remark(Kind.FALSE_OPTIONAL, None, ((dest, default),))


def _among(value: Any, values: Sequence[Any]) -> bool:
    return any(same_value(value, other) for other in values)


Member = tuple[str, Any]


def _atomic(pack: Pack, found: PairSupport) -> Iterator[tuple[Member, ...]]:
    """Values that come together or not at all, sets of defaults alone left out."""
    classes = [
        (flag, (mask & -mask).bit_length() - 1, mask)
        for flag, masks in enumerate(found.lowered.classes)
        if len(masks) > 1
        for mask in masks
    ]
    alive = [c for c in classes if found.value(c[0], c[1]) is Support.SUPPORTED]
    left: dict[tuple[int, int], dict[int, list[int]]] = {}
    for place, (a, i, _) in enumerate(alive):
        for b, j, _ in alive[place + 1 :]:
            if a != b and found.tell(a, i, b, j) is not Support.UNSUPPORTED:
                left.setdefault((a, i), {}).setdefault(b, []).append(j)
                left.setdefault((b, j), {}).setdefault(a, []).append(i)
    single = {(flag, at) for flag, at, mask in alive if not mask & (mask - 1)}
    implies = {
        one: frozenset((b, js[0]) for b, js in others.items() if len(js) == 1) & single
        for one, others in left.items()
        if one in single
    }
    lone = {flag for flag, _, _ in alive if sum(f == flag for f, _, _ in alive) == 1}
    for group in atomic_sets(implies):
        members = [(f, at) for f, at in group if f not in lone]
        named = [(found.dests[f], found.states[f][at].value) for f, at in members]
        if len(named) > 1 and any(not same_value(v, default_of(pack.flags, d)) for d, v in named):
            yield tuple(named)
