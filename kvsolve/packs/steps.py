"""What a finding needs to know of the steps of a program."""

from __future__ import annotations

from typing import Any, NamedTuple

from kvsolve.packs.packed_rows import PackedRows

__all__ = ["StepInfo", "StepTable", "step_info"]


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
    kind = type(step).__name__.lower()
    name = step.raises if kind == "refuse" else getattr(step, "name", "")
    stage = getattr(step, "stage", "args")
    mode = getattr(step, "mode", "")
    known = StepInfo(kind, name, stage, key=getattr(step, "key", ""), mode=mode)
    at = step.place
    if not at:
        return known
    return known._replace(file=at.file, symbol=at.symbol, line=at.line, caller=at.caller)


class StepTable(PackedRows[StepInfo]):
    """The steps of a program by position."""

    __slots__ = ()

    def _rows(self, block: bytes) -> list[StepInfo]:
        return list(map(StepInfo._make, super()._rows(block)))
