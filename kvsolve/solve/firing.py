"""Whether an entry can fire in a context: a witness, or the proof that nothing makes it fire.

Three questions of growing strength are asked of a refusal: can its condition hold at all; can it be
the first to stop a start, as upstream would tell it; and is there a configuration that it alone
refuses. A SAT solver answers them over the domains of :mod:`kvsolve.solve.domains`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kvsolve.model.program import Refuse
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.lowering.lower import lower
from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import State

__all__ = ["Firing", "Firings", "Reach"]


class Reach(StrEnum):
    """How far an entry gets, the strongest that is known."""

    NEVER = "never"
    SHADOWED = "shadowed"
    IMPLIED = "implied"
    ALONE = "alone"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Firing:
    """What is known of an entry in a context.

    Attributes:
        step: Position of the refusal in the program.
        reach: ``never``: its condition cannot hold. ``shadowed``: others always stop a start before
            it. ``implied``: all that it refuses, others refuse as well. ``alone``: it is the only
            one to refuse the witness. ``open``: it computes with too much to be decided.
        witness: A configuration with that reach and few flags; None where there is none.
        others: For ``shadowed`` and ``implied``, a minimal set of steps that between them refuse
            all that the entry refuses (before it, if shadowed).
        by_facts: For ``never``, the context alone decides it.
    """

    step: int
    reach: Reach
    witness: Config | None = None
    others: tuple[int, ...] = ()
    by_facts: bool = False


class Firings:
    """Answers for the entries of one context. Use it as a context manager."""

    def __init__(self, prepared: Prepared, config: Config, *, held: Iterable[str] = ()) -> None:
        """Prepare to answer.

        Args:
            prepared: Pack, context and stage.
            config: What witnesses keep as it is where it is given.
            held: Dests that are no matter of choice.
        """
        self.prepared = prepared
        self.lowered = lower(prepared, config, held=held)
        self._switches = Switches(self.lowered)
        self._roots = dict(self.lowered.broken)
        self._pending = {c.step for c in self.lowered.pending}
        self._rest = _at_rest(self.lowered.states, self.lowered.classes)
        literals = self._switches.clauses.literals
        self._calm = [own[n] for own, n in zip(literals, self._rest, strict=True) if own]

    def __enter__(self) -> Firings:
        return self

    def __exit__(self, *about: object) -> None:
        self._switches.__exit__(*about)

    def steps(self) -> Iterator[int]:
        """The refusals of the stages judged, also those that the context rules out."""
        for number, step in enumerate(self.prepared.pack.program.steps):
            if isinstance(step, Refuse) and self.prepared.judges(number):
                yield number

    def firing(self, step: int) -> Firing:
        """How far an entry gets."""
        if step in self._pending:
            return Firing(step, Reach.OPEN)
        root = self._roots.get(step, FALSE)
        if root == FALSE:
            return Firing(step, Reach.NEVER, by_facts=True)
        fires = [] if root == TRUE else [self._switches.clauses.literal(root)]
        others = self._others(step, root)
        earlier = [other for other in others if max(other, ~other) < step]
        if (chosen := self._switches.member(others, fires)) is not None:
            return Firing(step, Reach.ALONE, self._few_flags(chosen, others, fires))
        if (chosen := self._switches.member(earlier, fires)) is not None:
            witness = self._few_flags(chosen, earlier, fires)
            return Firing(step, Reach.IMPLIED, witness, self._needed(others, fires))
        if (chosen := self._switches.member((), fires)) is not None:
            witness = self._few_flags(chosen, (), fires)
            return Firing(step, Reach.SHADOWED, witness, self._needed(earlier, fires))
        return Firing(step, Reach.NEVER)

    def _others(self, step: int, root: int) -> list[int]:
        """The entries that are another one: neither under its code nor with its condition."""
        entry = self.prepared.pack.catalog.entry
        own = str(entry(step).code)
        return [
            other
            for other in self._switches.of
            if self._roots.get(other) != root and str(entry(max(other, ~other)).code) != own
        ]

    def _needed(self, steps: list[int], fires: list[int]) -> tuple[int, ...]:
        return tuple(max(s, ~s) for s in self._switches.needed(steps, fires))

    def _few_flags(self, chosen: list[int], steps: Iterable[int], fires: list[int]) -> Config:
        """The member with every flag as nobody gave it that can be so, one after the other."""
        steps = list(steps)
        literals, rest = self._switches.clauses.literals, self._rest
        self._switches.prefer(self._calm)
        chosen = self._switches.member(steps, fires) or chosen
        for flag, own in enumerate(literals):
            if own and chosen[flag] != rest[flag]:
                calm = [o[rest[v]] for v, o in enumerate(literals) if o and chosen[v] == rest[v]]
                calmer = self._switches.member(steps, [*fires, *calm, own[rest[flag]]])
                chosen = calmer or chosen
        return self.lowered.config_at(self._states(chosen))

    def _states(self, chosen: list[int]) -> list[int]:
        """A state of each flag out of its class, not given where that is one of them."""
        found = []
        for states, own, number in zip(
            self.lowered.states, self.lowered.classes, chosen, strict=True
        ):
            inside = [at for at in range(len(states)) if own[number] >> at & 1]
            found.append(min(inside, key=lambda at, s=states: s[at].typed))  # type: ignore[misc]
        return found


def _at_rest(states: Iterable[Sequence[State]], classes: Iterable[Sequence[int]]) -> list[int]:
    """For each flag the class in which nobody gave it; the first where it must be given."""
    found = []
    for own, masks in zip(states, classes, strict=True):
        at = next((n for n, state in enumerate(own) if not state.typed), 0)
        found.append(next(n for n, mask in enumerate(masks) if mask >> at & 1))
    return found
