"""A question about a configuration put to the whole context at once.

Learning what a question needs, entry by entry, is quick where a few entries settle it. Where it
takes hundreds, all entries are made clauses, which costs some seconds and then answers for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import finalize

from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.solve.check import Prepared
    from kvsolve.solve.space import Space

__all__ = ["Whole"]


class Whole:
    """All entries of a context over the flags of one space.

    Entries that only lack a fact do not count: nobody knows what they say.

    Args:
        prepared: Pack, context and stage.
        space: The flags that may change.
    """

    def __init__(self, prepared: Prepared, space: Space) -> None:
        self._space = space
        free = (dest for dest in space.dests if space.variable(dest) is not None)
        vary = {dest: space.domain(dest).states for dest in free}
        self._switches = Switches(lower(prepared, space.config, vary=vary), often=True)
        finalize(self, self._switches.__exit__, None, None, None)
        self._steps = [step for step in self._switches.of if step >= 0]

    def leaves_something(self, pins: Mapping[int, int]) -> bool:
        """Whether something valid has some flags in one state each.

        Args:
            pins: The state of each such flag, by variable of the space, as a mask.
        """
        space, clauses = self._space, self._switches.clauses
        literals: list[int] = []
        for variable, mask in pins.items():
            flag = self._switches.lowered.position[space.dests[variable]]
            state = space.order(variable).index(mask.bit_length() - 1)
            literals += clauses.state(flag, state)
        return not self._switches.leave_nothing(self._steps, literals)
