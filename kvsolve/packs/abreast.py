"""Running one configuration in many contexts that have most facts in common.

The contexts form a tree: each hangs on the one that is most like it. Of each its baseline is kept,
and which units the change from the one above reaches. A configuration runs in the topmost context,
which tells the units that it reaches there. In the next context a unit that only the configuration
reaches does what it did above; one that only the change of context reaches does what it does in
the context's own baseline; and what neither reaches does what it ever does. So only the units that
both reach run again, and those that these mark, since a unit's outcome depends on the cells that it
reads and on facts alone. The traces are those of whole runs.
"""

from __future__ import annotations

from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.packs.compile import UNSET, Unknowable
from kvsolve.packs.evaluate import Trace
from kvsolve.packs.remembered import Remembered
from kvsolve.packs.unlike import unlike

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kvsolve.model.program import Program
    from kvsolve.packs.compile import FactTable
    from kvsolve.packs.units import Baseline, Units

__all__ = ["Abreast"]

_NEAR = 40
"""Contexts before one that it is compared with, to find the one that is most like it."""


class _Lane(NamedTuple):
    """One of the contexts.

    Attributes:
        baseline: Its baseline.
        above: The context that it is compared with.
        reach: The units that the change from there reaches, a byte for each; the same as a number.
        cells: The cells that the change leaves with another value, and these.
        finals: The final values among them; :data:`UNSET` where one is not known.
        told: What the baseline tells of the units reached.
        remembered: What was interpreted there, where something is not known.
    """

    baseline: Baseline
    above: int
    reach: bytes
    number: int
    cells: list[tuple[int, Any]]
    finals: list[tuple[str, Any]]
    told: Trace
    remembered: Remembered


class _State(NamedTuple):
    """A configuration's run in a context.

    Attributes:
        cells: The cells after it.
        reach: The units that it may have reached from the context's baseline, a byte for each.
        trace: The whole trace.
    """

    cells: list[Any]
    reach: int
    trace: Trace


class Abreast:
    """Contexts in which the same configurations are run.

    Args:
        units: The program.
        program: What the units were cut from.
        values: Value of each flag as parsed, in the run that all others are compared with.
        given: Flags that were typed there.
        tables: The facts of each context; they must not change.
    """

    def __init__(
        self,
        units: Units,
        program: Program,
        values: Mapping[str, Any],
        given: Collection[str],
        tables: Sequence[FactTable],
    ) -> None:
        self._units, self._program = units, program
        self._fixed: list[list[Any]] = []
        self._lanes: list[_Lane | None] = []
        for facts in tables:
            self._add(values, given, facts)
        self._fixed.clear()

    def _add(self, values: Mapping[str, Any], given: Collection[str], facts: FactTable) -> None:
        fixed = self._units.fixed(facts)
        above = self._nearest(fixed)
        self._fixed.append(fixed)
        if above < 0:
            first = self._units.baseline(values, given, facts)
            top = None
            if first is not None:
                top = _Lane(first, -1, b"", 0, [], [], Trace(), Remembered(self._units))
            self._lanes.append(top)
            return
        lane = self._lanes[above]
        moved = lane and lane.baseline.moved(facts, self._program, fixed)
        self._lanes.append(lane and moved and self._lane(above, lane.baseline, *moved))

    def _nearest(self, fixed: Sequence[Any]) -> int:
        """The context before with the fewest other facts; -1 where there is none to begin from."""
        found, least = -1, len(fixed) + 1
        for at in range(max(0, len(self._lanes) - _NEAR), len(self._lanes)):
            lane = self._lanes[at]
            if lane is not None and not lane.baseline.doubtful:
                count = sum(map(is_not, fixed, self._fixed[at]))
                if count < least:
                    found, least = at, count
        return found

    def _lane(self, above: int, before: Baseline, base: Baseline, marks: bytearray) -> _Lane:
        pairs = enumerate(zip(base.cells, before.cells, strict=True))
        cells = [(cell, new) for cell, (new, old) in pairs if new is not old and unlike(new, old)]
        names, unit_of = self._units.layout.finals, self._units.layout.unit_of
        finals = [
            (names[cell], UNSET if type(value) is Unknowable else value)
            for cell, value in cells
            if cell in names
        ]
        whole = base.trace
        told = Trace(
            [step for step in whole.refusals if marks[unit_of[step]]],
            [write for write in whole.writes if marks[unit_of[write.step]]],
            [failure for failure in whole.failures if marks[unit_of[failure.step]]],
        )
        number = int.from_bytes(marks, "little")
        memory = Remembered(self._units)
        return _Lane(base, above, bytes(marks), number, cells, finals, told, memory)

    def traces(self, values: Mapping[str, Any], given: Collection[str]) -> Iterator[Trace | None]:
        """The trace in each context; None where that context has to be run by itself.

        Where it is the very trace of a context before, the two do the same.

        Args:
            values: Value of each flag as parsed.
            given: Flags that were typed.
        """
        states: list[_State | None] = []
        for lane in self._lanes:
            state = None
            if lane is not None and lane.above < 0:
                state = self._begin(lane.baseline, values, given)
            elif lane is not None:
                above = states[lane.above]
                state = above and self._run(lane, above)
            states.append(state)
            yield state and state.trace

    def _begin(
        self, base: Baseline, values: Mapping[str, Any], given: Collection[str]
    ) -> _State | None:
        found = base.reach(values, given)
        if found is None:
            return None
        cells, marks, trace = found
        return _State(cells, int.from_bytes(marks, "little"), base.told(trace, marks))

    def _run(self, lane: _Lane, above: _State) -> _State | None:
        units, base = self._units, lane.baseline
        cells, final = above.cells.copy(), above.trace.values.copy()
        for cell, value in lane.cells:
            cells[cell] = value
        for name, value in lane.finals:
            if value is UNSET:
                final.pop(name, None)
            else:
                final[name] = value
        begun = lane.number & above.reach
        marks = bytearray(begun.to_bytes(len(lane.reach), "little"))
        if base.doubtful:
            new = self._exact(lane, above.reach, cells, marks, final)
        else:
            new = units.run(cells, marks, base.facts, final)
        if new is None:
            return None
        reach = above.reach | int.from_bytes(marks, "little")
        return _State(cells, reach, _merged(units, lane, above.trace, new, marks))

    def _exact(
        self,
        lane: _Lane,
        reach: int,
        cells: list[Any],
        marks: bytearray,
        final: dict[str, Any],
    ) -> Trace | None:
        """Run a context of which something is not known; None where something crashes."""
        from kvsolve.packs.exact_units import ExactRun

        layout, reached = self._units.layout, reach.to_bytes(len(marks), "little")
        at = reached.find(1)
        while at >= 0:
            cell = layout.terms.get(at)
            if cell is not None and type(cells[cell]) is Unknowable:
                # The interpreter looks behind the term, at what the configuration changed.
                for reader in layout.readers[cell]:
                    marks[reader] = 1
            at = reached.find(1, at + 1)
        steps = self._units.steps(self._program)
        base, memory = lane.baseline, lane.remembered
        run = ExactRun(self._units, steps, cells, marks, base.facts, final, base.doubtful, memory)
        trace = run.run()
        crashed = any(failure.reason != "unknown" for failure in trace.failures)
        return None if crashed else trace


def _merged(units: Units, lane: _Lane, above: Trace, new: Trace, marks: bytearray) -> Trace:
    """The whole trace of a run in a lane.

    Args:
        units: The program.
        lane: The context.
        above: What the configuration did in the context that it hangs on.
        new: What the units did that ran; it is completed.
        marks: Which these are.
    """
    unit_of, reach, told = units.layout.unit_of, lane.reach, lane.told
    for old, change in ((above, reach), (told, None)):
        kept = marks if change is None else _either(marks, change)
        new.refusals += [step for step in old.refusals if not kept[unit_of[step]]]
        new.writes += [write for write in old.writes if not kept[unit_of[write.step]]]
        new.failures += [f for f in old.failures if not kept[unit_of[f.step]]]
    new.refusals.sort()
    new.writes.sort()  # by step: none writes twice, so no value is ever compared
    new.failures.sort(key=lambda failure: failure.step)
    return new


def _either(marks: bytearray, reach: bytes) -> bytes:
    found = int.from_bytes(marks, "little") | int.from_bytes(reach, "little")
    return found.to_bytes(len(marks), "little")
