"""conflict: a minimal set of pins, facts and entries that cannot hold together.

Deletion-based, see Marques-Silva, "Minimal unsatisfiability: models, algorithms and applications"
(2010): take one member away at a time and keep it only if the rest allows something.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.edit import Conflict
from kvsolve.model.expression import is_constant, node, raw, walk
from kvsolve.model.program import Let, Program, Refuse, Set, Step
from kvsolve.model.syntax import render
from kvsolve.packs.compile import FactTable
from kvsolve.solve.completion import Completions
from kvsolve.solve.domains import bare
from kvsolve.solve.judge import ConstraintJudge
from kvsolve.solve.network import Network
from kvsolve.solve.reasons import Literals, Reasoner
from kvsolve.solve.search import Search
from kvsolve.solve.specialise import inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.space import Space

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
    shared.given = masks
    if shared.cheapest({}) is not None or not shared.proven:
        return None
    steps = frozenset(shared.culprits(masks))
    for variable in sorted(masks, key=lambda v: -shared.space.position[v]):
        fewer = {v: mask for v, mask in masks.items() if v != variable}
        if shared.excludes(fewer, steps):
            masks = fewer
    for step in sorted(steps, reverse=True):
        if shared.excludes(masks, steps - {step}):
            steps -= {step}
    return _told(shared, masks, steps)


def _told(shared: Completions, masks: Mapping[int, int], steps: frozenset[int]) -> Conflict:
    space, config = shared.space, shared.config
    pinned = sorted(masks, key=lambda v: space.position[v])
    order = sorted(steps)
    return Conflict(
        pins=tuple((space.dests[v], config.values[space.dests[v]]) for v in pinned),
        facts=_facts(shared, masks, steps),
        codes=tuple(dict.fromkeys(shared.code(step) for step in order)),
        chain=tuple(_chain(shared, masks, steps)),
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
    constraints = tuple(network.constraints.values())
    space = shared.space
    judge = ConstraintJudge(constraints, Reasoner(network, space))
    search = Search(space, judge, deadline=shared.deadline)
    return search.first(masks) is None and search.complete


def _chain(
    shared: Completions, masks: Mapping[int, int], steps: frozenset[int]
) -> list[tuple[str, tuple[str, ...], str]]:
    """Entries in the order in which they narrow the flags down until nothing is left.

    What follows is told as an expression over one flag; ``False`` ends the chain, and an entry
    that only takes part in a choice between cases has nothing that follows by itself.
    """
    space = shared.space
    clauses = [c for c in shared.refute(masks, steps).clauses if c.source is not None]
    clauses.sort(key=lambda c: c.source or 0)
    domains = dict(masks)
    chain: list[tuple[str, tuple[str, ...], str]] = []
    told: set[int] = set()
    moved = True
    while moved:
        moved = False
        for clause in clauses:
            follows = _narrow(space, domains, clause.literals)
            if follows is not None and clause.source is not None:
                moved = follows != "False"
                reads = tuple(space.dests[v] for v, _ in clause.literals)
                chain.append((shared.code(clause.source), reads, follows))
                told.add(clause.source)
                if not moved:
                    return chain
    for step in sorted(steps - told):
        cone = shared.network.constraints[step].cone
        reads = tuple(sorted({bare(s) for s in cone} & set(space.dests)))
        chain.append((shared.code(step), reads, ""))
    return chain


def _narrow(space: Space, domains: dict[int, int], literals: Literals) -> str | None:
    """Apply a clause with one way left; what follows from it, None where nothing new does."""
    open_ = [(v, m) for v, m in literals if domains.get(v, space.full[v]) & ~m]
    if len(open_) > 1:
        return None
    if not open_:
        return "False"
    variable, mask = open_[0]
    before = domains.get(variable, space.full[variable])
    after = before & ~mask
    if after == before:
        return None
    domains[variable] = after
    states = space.domains[variable].states
    left = tuple(s.value for at, s in enumerate(states) if after >> at & 1)
    if not all(is_constant(v) for v in left):
        return f"{space.dests[variable]} changes"
    return render(node("in", raw("ref", space.dests[variable], 0), left))
