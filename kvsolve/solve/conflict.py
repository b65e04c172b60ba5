"""conflict: a minimal set of pins, facts and entries that cannot hold together.

Deletion-based, see Marques-Silva, "Minimal unsatisfiability: models, algorithms and applications"
(2010): take one member away at a time and keep it only if the rest allows something.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.edit import Conflict
from kvsolve.model.expression import walk
from kvsolve.model.program import Let, Program, Refuse, Set, Step
from kvsolve.packs.compile import FactTable
from kvsolve.solve.board import Board
from kvsolve.solve.completion import Completions
from kvsolve.solve.derivation import derivation
from kvsolve.solve.judge import CircuitJudge
from kvsolve.solve.network import Network
from kvsolve.solve.search import Search
from kvsolve.solve.specialise import inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

__all__ = ["conflict", "slice_of"]


def conflict(
    prepared: Prepared,
    config: Config,
    *,
    pins: Iterable[str] | None = None,
    held: Iterable[str] = (),
    deadline: float | None = None,
) -> Conflict | None:
    """Why nothing valid agrees with the pins.

    Args:
        prepared: Pack, context and stage.
        config: The configuration that the pins are read from.
        pins: Dests to hold at their values; all that are given where None.
        held: Dests that are no matter of choice.
        deadline: Clock reading (``time.monotonic``) after which to give up.

    Returns:
        None where there is no conflict, or where the deadline has passed before it was proven.
    """
    wanted = frozenset(config.given if pins is None else pins)
    shared = Completions(prepared, config, free=config.given, held=held, deadline=deadline)
    masks: dict[int, int] = {}
    for dest in sorted(wanted):
        variable = shared.space.variable(dest)
        if variable is not None:
            masks[variable] = 1 << shared.space.start[variable]
    steps = shared.conflicting(masks)
    if steps is None:
        return None
    steps = shared.needed(masks, steps)
    for variable in sorted(masks, reverse=True):
        fewer = {v: mask for v, mask in masks.items() if v != variable}
        if shared.excludes(fewer, steps):
            masks = fewer
    return _told(shared, masks, shared.needed(masks, steps))


def _told(shared: Completions, masks: Mapping[int, int], steps: frozenset[int]) -> Conflict:
    space, config = shared.space, shared.config
    return Conflict(
        pins=tuple((space.dests[v], config.values[space.dests[v]]) for v in sorted(masks)),
        facts=_facts(shared, masks, steps),
        codes=tuple(dict.fromkeys(map(shared.code, sorted(steps)))),
        chain=derivation(shared, masks, steps),
    )


def slice_of(program: Program, steps: Iterable[int]) -> tuple[Program, tuple[int, ...]]:
    """The part of a program that some steps depend on.

    Writes that no step needs stay as writes that never happen, so that versions keep their numbers.

    Returns:
        The part, and for each of its steps the position in the whole.
    """
    writers: dict[str, list[int]] = {}
    for number, step in enumerate(program.steps):
        if isinstance(step, (Let, Set)):
            writers.setdefault(step.name, []).append(number)
    needed = set(steps)
    stack = list(needed)
    while stack:
        step = program.steps[stack.pop()]
        for ref in walk(step.when, None if isinstance(step, Refuse) else step.value):
            if ref.op == "ref":
                new = set(writers.get(ref.args[0], ())[: ref.args[1]]) - needed
                needed |= new
                stack.extend(new)
    kept: list[Step] = []
    origin: list[int] = []
    for number, step in enumerate(program.steps):
        if number in needed:
            kept.append(step)
        elif isinstance(step, (Let, Set)):
            kept.append(replace(step, value=None, when=False))
        else:
            continue
        origin.append(number)
    return replace(program, steps=tuple(kept), gaps=()), tuple(origin)


def _facts(shared: Completions, masks: Mapping[int, int], steps: frozenset[int]) -> tuple[str, ...]:
    """The facts without which the entries would leave something, found by taking each away."""
    part, origin = slice_of(shared.prepared.pack.program, steps)
    known: dict[str, Any] = dict(shared.prepared.facts)
    terms = walk(*(o for s in part.steps for o in (s.when, getattr(s, "value", None))))
    named = sorted({t.args[0] for t in terms if t.op == "fact"} & set(known))
    kept = []
    for name in named:
        value = known.pop(name)
        if not _still_excluded(shared, masks, steps, part, origin, known):
            known[name] = value
            kept.append(name)
    return tuple(kept)


def _still_excluded(
    shared: Completions,
    masks: Mapping[int, int],
    steps: frozenset[int],
    part: Program,
    origin: tuple[int, ...],
    facts: Mapping[str, Any],
) -> bool:
    """Whether a part of the program, knowing only these facts, still leaves nothing."""
    table = FactTable(facts)
    network = Network(inline(part, table), table, lambda at: origin[at] in steps)
    space = shared.space
    board = Board(network, space.universe)
    judge = CircuitJudge(shared.prepared, network, space, only=network.constraints, board=board)
    search = Search(space, judge, learned=board.learned, deadline=shared.deadline)
    return search.first(masks) is None and search.complete
