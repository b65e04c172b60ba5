"""What each step of a program is, made an object only where somebody asks.

A check looks at the few steps that refuse or write. Making thousands of tuples at every start would
take longer than the check itself, so the table stays packed, in blocks.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["StepInfo", "StepTable", "step_info"]

_BLOCK = 64


class StepInfo(NamedTuple):
    """What a finding needs to know of a step.

    Attributes:
        kind: ``let``, ``set``, ``refuse`` or ``need``.
        name: Slot written, or the exception raised.
        stage: Where upstream notices.
        file: Path below ``sglang/srt``.
        symbol: Innermost function.
        line: Line in this release, 0 where not known.
        caller: The handler that the pipeline called.
        key: Fingerprint.
        mode: How a set writes.
    """

    kind: str
    name: str
    stage: str = "args"
    file: str = ""
    symbol: str = ""
    line: int = 0
    caller: str = ""
    key: str = ""
    mode: str = ""


def step_info(step: Any) -> StepInfo:
    """What there is to know of a step of a program."""
    place = step.place
    kind = type(step).__name__.lower()
    name = step.raises if kind == "refuse" else getattr(step, "name", "")
    stage = getattr(step, "stage", "args")
    known = StepInfo(
        kind, name, stage, key=getattr(step, "key", ""), mode=getattr(step, "mode", "")
    )
    if not place:
        return known
    return known._replace(
        file=place.file, symbol=place.symbol, line=place.line, caller=place.caller
    )


class StepTable(Sequence[StepInfo]):
    """The steps of a program by position.

    Args:
        blocks: Steps as :meth:`to_plain` gives them.
        count: How many there are.
    """

    __slots__ = ("_blocks", "_count", "_read")

    def __init__(self, blocks: list[bytes], count: int) -> None:
        self._blocks = blocks
        self._count = count
        self._read: dict[int, list[StepInfo]] = {}

    @classmethod
    def of(cls, steps: Iterable[StepInfo]) -> StepTable:
        """The table of some steps."""
        every = [tuple(step) for step in steps]
        blocks = [marshal.dumps(every[at : at + _BLOCK]) for at in range(0, len(every), _BLOCK)]
        return cls(blocks, len(every))

    def to_plain(self) -> tuple[list[bytes], int]:
        """Plain values that :mod:`marshal` can write: the arguments of the class."""
        return self._blocks, self._count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, position: int) -> StepInfo: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[StepInfo]: ...
    def __getitem__(self, position: int | slice) -> StepInfo | Sequence[StepInfo]:
        if isinstance(position, slice):
            return tuple(self[at] for at in range(*position.indices(self._count)))
        if position < 0:
            position += self._count
        if not 0 <= position < self._count:
            raise IndexError(f"step {position} of {self._count}")
        number, within = divmod(position, _BLOCK)
        block = self._read.get(number)
        if block is None:
            plain = marshal.loads(self._blocks[number])
            block = self._read[number] = list(map(StepInfo._make, plain))
        return block[within]
