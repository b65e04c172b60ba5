"""full: every pair of values of every modelled flag, and why those that clash do.

Pairs that no valid configuration has are gathered in blocks: the values of two flags that clash for
the same reason. A value that no valid configuration has at all is told once, not in all its pairs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kvsolve.solve.cells import CellJudge, CellState, Ruling
from kvsolve.solve.culprits import Culprits
from kvsolve.solve.support import PairSupport, Support, support
from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.lowering.lower import Lowered

__all__ = ["Block", "FullJudge", "FullMatrix", "FullPart", "ValueRuling", "full_matrix"]

_DECIDING = 0.5
"""The part of the time in which the pairs are decided."""


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
_CLASHES = 500
"""Clashes that are judged together."""
_VALUES = 100
"""Values that are judged together, the dearer questions.

Parts are cut alike however many processes there are: of several reasons for a clash, which one is
found may depend on those looked at before it.
"""


@dataclass(frozen=True, slots=True)
class FullPart:
    """Questions of one context that are answered together.

    Attributes:
        clashes: Classes of which is asked which entries exclude them.
        values: Values, as a flag, a state and whether nothing valid has it, of which is asked what
            their state is.
    """

    clashes: tuple[Clash, ...] = ()
    values: tuple[tuple[int, int, bool], ...] = ()


Judge = Callable[[PairSupport, Sequence[FullPart], float | None], Iterable[Sequence[Ruling | None]]]
"""Judges parts, in order, until a reading of ``time.time``; may do so in several processes."""


def full_matrix(
    prepared: Prepared,
    config: Config,
    *,
    flags: Sequence[str] = (),
    held: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    judge: Judge | None = None,
) -> FullMatrix:
    """Judge every pair of values.

    Args:
        prepared: Pack, context and stage.
        config: What it gives is kept; the other flags may all help.
        flags: Show only pairs of these, all that some entry reads where empty.
        held: Dests that are no matter of choice.
        context: What to say of the context in the answer.
        time_limit: Seconds, half of them for deciding the pairs. What is left then is unknown, and
            so is a value or a clash whose reason there was not the time for.
        judge: Calls :meth:`FullJudge.of` for every part; one after the other here where None.
    """
    until = None if time_limit is None else time.time() + time_limit
    held = tuple(held)
    found = support(prepared, config, held=held, time_limit=time_limit and time_limit * _DECIDING)
    shown = [n for n, dest in enumerate(found.dests) if not flags or dest in flags]
    clashes, counts = _clashes(found, shown)
    asked = [v for v in _asked(found, shown) if v[2] is not None]
    parts = [FullPart(values=part) for part in _cut(asked, _VALUES)]  # type: ignore[arg-type]
    parts += [FullPart(clashes=part) for part in _cut(clashes, _CLASHES)]
    answers = judge(found, parts, until) if judge else _here(found, config, held, parts, until)
    told = [ruling for part in answers for ruling in part]
    late = any(ruling is None for ruling in told)
    known = [ruling or Ruling(CellState.UNKNOWN) for ruling in told]
    values = dict(zip([v[:2] for v in asked], known[: len(asked)], strict=True))
    return FullMatrix(
        dict(context or {}),
        tuple((found.dests[n], _values(found, n)) for n in shown),
        tuple(
            ValueRuling(found.dests[n], state.value, values.get((n, at), _NOT_KNOWN))
            for n in shown
            for at, state in enumerate(found.states[n])
        ),
        tuple(_blocks(found, dict(zip(clashes, known[len(asked) :], strict=True)))),
        counts,
        found.complete and not late,
    )


_NOT_KNOWN = Ruling(CellState.UNKNOWN)
_Item = TypeVar("_Item")


def _cut(items: Sequence[_Item], size: int) -> Iterator[tuple[_Item, ...]]:
    for at in range(0, len(items), size):
        yield tuple(items[at : at + size])


def _asked(found: PairSupport, shown: Sequence[int]) -> Iterator[tuple[int, int, bool | None]]:
    """Every value, with whether it is dead; None where that is not known."""
    for flag in shown:
        for at in range(len(found.states[flag])):
            known = found.value(flag, at)
            yield flag, at, None if known is Support.UNKNOWN else known is Support.DEAD


def _here(
    found: PairSupport,
    config: Config,
    held: Sequence[str],
    parts: Iterable[FullPart],
    until: float | None,
) -> Iterator[Sequence[Ruling | None]]:
    judge = FullJudge(found.lowered, config, held)
    for part in parts:
        yield judge.of(part, until)


class FullJudge:
    """Judges parts of the full matrix of one context.

    The answers of a part are the same whatever parts were judged before.

    Args:
        lowered: The context, all flags that some entry reads and that are not given.
        config: What everything starts from.
        held: Dests that are no matter of choice.
    """

    def __init__(self, lowered: Lowered, config: Config, held: Iterable[str]) -> None:
        self.lowered, self.config, self.held = lowered, config, tuple(held)

    @cached_property
    def _switches(self) -> Switches:
        """Never asked: to make the clauses takes ten times as long as to hand them to a solver."""
        return Switches(self.lowered, often=True)

    def of(self, part: FullPart, until: float | None = None) -> list[Ruling | None]:
        """The answers of a part, in its order; None from where the time is up.

        Args:
            part: What is asked.
            until: Reading of ``time.time`` at which the rest is left.
        """
        lowered, classes = self.lowered, self.lowered.classes
        fresh = self._switches.afresh
        judge = CellJudge(lowered.prepared, self.config, {}, held=self.held, switches=fresh)
        answers: list[Ruling | None] = []
        with Culprits(lowered, fresh()) as culprits:

            def excluded(*values: tuple[int, int]) -> Ruling:
                return _excluded(lowered.prepared, culprits.of(values))

            def late() -> bool:
                return until is not None and time.time() > until

            for a, i, b, j in part.clashes:
                ends = (a, _first(classes[a][i])), (b, _first(classes[b][j]))
                answers.append(None if late() else excluded(*ends))
            for flag, at, dead in part.values:
                if late():
                    answers.append(None)
                elif dead:
                    answers.append(excluded((flag, at)))
                else:
                    judge.time_limit = None if until is None else max(0.0, until - time.time())
                    value = lowered.states[flag][at].value
                    answers.append(judge.ruling({lowered.dests[flag]: value}))
        return answers


def _values(found: PairSupport, flag: int) -> tuple[Any, ...]:
    return tuple(state.value for state in found.states[flag])


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
