"""full: every pair of values of every modelled flag, and why those that clash do.

Pairs that no valid configuration has are gathered in blocks: the values of two flags that clash for
the same reason. A value that no valid configuration has at all is told once, not in all its pairs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.solve.cells import CellJudge, CellState, Ruling
from kvsolve.solve.support import PairSupport, Support, support

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

__all__ = ["Block", "FullMatrix", "ValueRuling", "block_reasons", "full_matrix", "value_rulings"]


@dataclass(frozen=True, slots=True)
class ValueRuling:
    """What is known of one value of a flag.

    Attributes:
        dest: The flag.
        value: The value.
        ruling: Its state, with the reasons or the cheapest edits.
    """

    dest: str
    value: Any
    ruling: Ruling

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a value."""
        return {
            "dest": self.dest,
            "value": self.value,
            "state": str(self.ruling.state),
            "codes": list(self.ruling.codes),
            "edits": [e.to_dict() for e in self.ruling.edits],
            "facts": list(self.ruling.lacks),
        }


@dataclass(frozen=True, slots=True)
class Block:
    """Values of two flags that never go together, all for one reason.

    Attributes:
        row: A flag and some of its values.
        col: Another flag and some of its values.
        state: ``no``, or ``unknown`` where an entry that lacks a fact has a part in it.
        codes: A minimal set of entries that excludes each of the pairs.
    """

    row: tuple[str, tuple[Any, ...]]
    col: tuple[str, tuple[Any, ...]]
    state: CellState
    codes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a block."""
        (row, rows), (col, cols) = self.row, self.col
        return {
            "row": {"dest": row, "values": list(rows)},
            "col": {"dest": col, "values": list(cols)},
            "state": str(self.state),
            "codes": list(self.codes),
        }


@dataclass(frozen=True, slots=True)
class FullMatrix:
    """All pairs of values of the flags of a context.

    Attributes:
        context: What is the same for all.
        flags: The flags with their values, in declared order.
        values: Every value, flag by flag.
        blocks: The pairs of values that clash although each has a valid configuration.
        counts: How many pairs are ``supported``, ``unsupported``, ``dead`` or ``unknown``.
        complete: Every pair is decided.
    """

    context: Mapping[str, Any]
    flags: tuple[tuple[str, tuple[Any, ...]], ...]
    values: tuple[ValueRuling, ...]
    blocks: tuple[Block, ...]
    counts: Mapping[str, int]
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a full matrix; pairs that it does not list are supported."""
        return {
            "context": dict(self.context),
            "flags": [{"dest": dest, "values": list(values)} for dest, values in self.flags],
            "values": [value.to_dict() for value in self.values],
            "pairs": [block.to_dict() for block in self.blocks],
            "counts": dict(self.counts),
            "complete": self.complete,
        }


Clash = tuple[int, int, int, int]
"""Two flags and two of their classes that clash: flag, class, flag, class."""


def full_matrix(
    prepared: Prepared,
    config: Config,
    *,
    flags: Sequence[str] = (),
    held: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    reasons: Callable[[PairSupport, Sequence[Clash]], Iterable[Ruling]] | None = None,
) -> FullMatrix:
    """Judge every pair of values.

    Args:
        prepared: Pack, context and stage.
        config: What it gives is kept; the other flags may all help.
        flags: Show only pairs of these, all that some entry reads where empty.
        held: Dests that are no matter of choice.
        context: What to say of the context in the answer.
        time_limit: Seconds for deciding the pairs; what is left then is unknown.
        reasons: Tells the codes for clashes, in order; here, one after the other, where None.
    """
    found = support(prepared, config, held=held, time_limit=time_limit)
    shown = [n for n, dest in enumerate(found.dests) if not flags or dest in flags]
    clashes, counts = _clashes(found, shown)
    told = (reasons or block_reasons)(found, clashes)
    blocks = _blocks(found, dict(zip(clashes, told, strict=True)))
    return FullMatrix(
        dict(context or {}),
        tuple((found.dests[n], _values(found, n)) for n in shown),
        tuple(value_rulings(prepared, config, found, shown, held)),
        tuple(blocks),
        counts,
        found.complete,
    )


def _values(found: PairSupport, flag: int) -> tuple[Any, ...]:
    return tuple(state.value for state in found.states[flag])


def value_rulings(
    prepared: Prepared,
    config: Config,
    found: PairSupport,
    shown: Sequence[int],
    held: Iterable[str] = (),
) -> Iterator[ValueRuling]:
    """Every value with its state: the cheapest edits where it needs some, else the reason."""
    from kvsolve.solve.culprits import Culprits

    judge = CellJudge(prepared, config, {}, held=held)
    with Culprits(found.lowered) as culprits:
        for flag in shown:
            for at, state in enumerate(found.states[flag]):
                known = found.value(flag, at)
                if known is Support.DEAD:
                    ruling = _excluded(prepared, culprits.of([(flag, at)]))
                elif known is Support.SUPPORTED:
                    ruling = judge.ruling({found.dests[flag]: state.value})
                else:
                    ruling = Ruling(CellState.UNKNOWN)
                yield ValueRuling(found.dests[flag], state.value, ruling)


def _excluded(prepared: Prepared, steps: Sequence[int]) -> Ruling:
    """What is known of values that entries leave nothing for; some may only lack a fact."""
    entries = [prepared.pack.catalog.entry(max(step, ~step)) for step in steps]
    codes = tuple(dict.fromkeys(str(entry.code) for entry in entries))
    unsure = any(step < 0 for step in steps)
    return Ruling(CellState.UNKNOWN if unsure else CellState.NO, codes)


def _clashes(found: PairSupport, shown: Sequence[int]) -> tuple[list[Clash], dict[str, int]]:
    """The pairs of classes that clash, in order, and how many pairs of values are of each kind."""
    classes = [
        (flag, n, _first(mask), mask.bit_count())
        for flag in shown
        for n, mask in enumerate(found.lowered.classes[flag])
    ]
    clashes: list[Clash] = []
    counts: Counter[Support] = Counter()
    for place, (a, i, row, rows) in enumerate(classes):
        for b, j, col, cols in classes[place + 1 :]:
            if a != b:
                known = found.tell(a, row, b, col)
                counts[known] += rows * cols
                if known is Support.UNSUPPORTED:
                    clashes.append((a, i, b, j))
    return clashes, {str(kind.value): counts[kind] for kind in Support}


def block_reasons(found: PairSupport, clashes: Sequence[Clash]) -> Iterator[Ruling]:
    """What excludes each of some pairs of classes."""
    from kvsolve.solve.culprits import Culprits

    classes = found.lowered.classes
    with Culprits(found.lowered) as culprits:
        for a, i, b, j in clashes:
            steps = culprits.of([(a, _first(classes[a][i])), (b, _first(classes[b][j]))])
            yield _excluded(found.lowered.prepared, steps)


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _blocks(found: PairSupport, told: Mapping[Clash, Ruling]) -> Iterator[Block]:
    """Clashes of two flags for one reason, put together as rows that clash with the same values."""
    groups: dict[tuple[int, int, Ruling], dict[int, list[int]]] = {}
    for (a, i, b, j), ruling in told.items():
        groups.setdefault((a, b, ruling), {}).setdefault(i, []).append(j)
    for (a, b, ruling), rows in groups.items():
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, clashing in rows.items():
            alike.setdefault(tuple(clashing), []).append(i)
        for others, own in alike.items():
            row = found.dests[a], _of_classes(found, a, own)
            col = found.dests[b], _of_classes(found, b, others)
            yield Block(row, col, ruling.state, ruling.codes)


def _of_classes(found: PairSupport, flag: int, numbers: Iterable[int]) -> tuple[Any, ...]:
    mask = 0
    for number in numbers:
        mask |= found.lowered.classes[flag][number]
    return tuple(s.value for at, s in enumerate(found.states[flag]) if mask >> at & 1)
