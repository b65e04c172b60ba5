"""The constraints that are left over a few varying flags once all others are held.

Every constraint becomes a predicate over the states of the flags that vary in its cone; what no
varying flag can change is decided at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.context import Config
from kvsolve.model.expression import (
    Expr,
    Operand,
    walk,
)
from kvsolve.packs.compile import initial_slots
from kvsolve.packs.evaluate import Interpreter
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.domains import State, bare, default_of, domain_of
from kvsolve.solve.network import CRASHED, Network, network_of, outcome
from kvsolve.solve.reasons import is_broken
from kvsolve.solve.space import spelling

if TYPE_CHECKING:
    from kvsolve.model.flag import FlagTable

__all__ = ["Grid", "GridConstraint", "grid_of", "values_of"]


@dataclass(frozen=True, slots=True)
class GridConstraint:
    """What one entry asks of varying flags.

    Attributes:
        scope: Positions of the flags, in order.
        allows: Tells whether states of these flags, in this order, are accepted.
    """

    scope: tuple[int, ...]
    allows: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Grid:
    """A finite-domain problem over the varying flags.

    Attributes:
        config: What the other flags are held at.
        flags: The release's options.
        dests: The varying flags, in declared order.
        states: The states of each.
        constraints: What the entries ask.
        dead: Some entry refuses whatever the varying flags are.
    """

    config: Config
    flags: FlagTable
    dests: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    constraints: tuple[GridConstraint, ...]
    dead: bool

    def config_at(self, at: Sequence[int]) -> Config:
        """The configuration with the varying flags in these states."""
        values, given = dict(self.config.values), dict(self.config.given)
        for dest, states, number in zip(self.dests, self.states, at, strict=True):
            state = states[number]
            values[dest] = state.value
            if state.typed:
                given[dest] = spelling(self.flags, dest, state.value, given.get(dest))
            else:
                given.pop(dest, None)
        return Config(values, given)


Vary = Mapping[str, Sequence[Any] | None] | Iterable[str]


def grid_of(prepared: Prepared, config: Config, vary: Vary) -> Grid:
    """The problem that is left when all but some flags are held.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that are held.
        vary: The flags that vary, with their values; None for all representatives.

    Raises:
        KvsolveError: A flag to vary is not an option of the release.
    """
    network = network_of(prepared)
    wanted = dict(vary) if isinstance(vary, Mapping) else dict.fromkeys(vary)
    flags = prepared.pack.flags
    unknown = [d for d in wanted if d not in flags.fields or not flags.by_dest(d)]
    if unknown:
        raise KvsolveError(f"{unknown[0]} is no option of {prepared.pack.release} that can vary")
    order = {dest: at for at, dest in enumerate(flags.fields)}
    dests = tuple(sorted(wanted, key=order.__getitem__))
    states = tuple(values_of(d, config, flags, network, wanted[d]) for d in dests)
    maker = _Maker(prepared, network, config, dests, states)
    made = [maker.constraint(c.broken) for c in network.constraints.values()]
    return Grid(
        config,
        flags,
        dests,
        states,
        tuple(c for c in made if isinstance(c, GridConstraint)),
        any(c is False for c in made),
    )


def values_of(
    dest: str,
    config: Config,
    flags: FlagTable,
    network: Network,
    values: Sequence[Any] | None = None,
) -> tuple[State, ...]:
    """The states of a flag, one for each value.

    The default stands for the flag that is not given, unless the command says it.
    """
    default = default_of(flags, dest)
    if values is not None:
        return tuple(State(v, not same_value(v, default)) for v in values)
    domain = domain_of(dest, config, flags, network.literals)
    kept: list[State] = []
    for at, state in enumerate(domain.states):
        again = any(same_value(state.value, k.value) for k in kept)
        if at == domain.start and again:
            kept = [k for k in kept if not same_value(state.value, k.value)]
            again = False
        if not again:
            kept.append(state)
    return tuple(kept)


class _Maker:
    """Makes predicates over states out of terms over slots."""

    def __init__(
        self,
        prepared: Prepared,
        network: Network,
        config: Config,
        dests: tuple[str, ...],
        states: tuple[tuple[State, ...], ...],
    ) -> None:
        self.facts, self.network, self.dests, self.states = prepared.facts, network, dests, states
        self.held = initial_slots(config.values, config.given)
        self.config = config
        self.position = {dest: at for at, dest in enumerate(dests)}
        self.slots: dict[Operand, list[str]] = {}

    def constraint(self, broken: Operand) -> GridConstraint | bool:
        """A refusal's guard as a constraint; False where it always holds, True where never."""
        term = self.folded(_parts_of(broken))
        scope = tuple(sorted(self.position[d] for d in self.read(term)))
        if not scope:
            return not self.stops(term)
        decision = _Decision(self, term, scope)
        return GridConstraint(scope, decision.allows)

    def read(self, term: Operand) -> set[str]:
        """The varying flags that a term reads."""
        refs = (t for t in walk(*(term if isinstance(term, tuple) else (term,))) if t.op == "ref")
        return {bare(t.args[0]) for t in refs} & set(self.dests)

    def folded(self, term: Operand) -> Operand:
        """A guard under the values of the flags that are held."""
        if isinstance(term, tuple):
            return tuple(self.folded(part) for part in term)
        if not isinstance(term, Expr):
            return term
        for dest in sorted({bare(ref.args[0]) for ref in self.network.refs_of(term)}):
            if dest not in self.position and isinstance(term, Expr):
                state = State(self.config.values.get(dest), dest in self.config.given)
                term = self.network.assigner(dest, state).fold(term)
        return term

    def slots_of(self, term: Operand) -> list[str]:
        """The slots that a term reads."""
        found = self.slots.get(term)
        if found is None:
            parts = term if isinstance(term, tuple) else (term,)
            found = self.slots[term] = [t.args[0] for t in walk(*parts) if t.op == "ref"]
        return found

    def stops(self, term: Operand, at: Mapping[int, int] | None = None) -> bool:
        """Whether upstream stops, by the exact interpreter."""
        slots = {(name, 0): self.held[name] for name in self.slots_of(term)}
        for position, number in (at or {}).items():
            dest, state = self.dests[position], self.states[position][number]
            slots[dest, 0] = slots[f"raw.{dest}", 0] = state.value
            slots[f"given.{dest}", 0] = state.value if state.typed else None
        run = Interpreter(slots, self.facts)
        if not isinstance(term, tuple):
            return is_broken(outcome(run, term))
        when = outcome(run, term[0])
        return when is CRASHED or (is_broken(when) and outcome(run, term[1]) is CRASHED)


def _parts_of(broken: Operand) -> Operand:
    """The guard; for a mere crash its condition and what may crash, which folding keeps apart."""
    if isinstance(broken, Expr) and broken.op == "and" and broken.args[-1] is False:
        return broken.args[:2]
    return broken


class _Decision:
    """A guard as a decision diagram: one flag is filled in after the other, equal rests are one."""

    def __init__(self, maker: _Maker, term: Operand, scope: tuple[int, ...]) -> None:
        self.maker, self.term, self.scope = maker, term, scope
        self.exact = maker.network.is_unsure(term[0] if isinstance(term, tuple) else term)
        if isinstance(term, tuple):
            self.exact = self.exact or maker.network.is_unsure(term[1])
        self.rows: dict[tuple[Operand, int], list[Operand | None]] = {}
        self.ends: dict[Operand, bool] = {}
        self.known: dict[tuple[int, ...], bool] = {}
        self.assigners = [
            [maker.network.assigner(maker.dests[p], s) for s in maker.states[p]] for p in scope
        ]

    def allows(self, *at: int) -> bool:
        """Whether states of the flags in the scope are accepted."""
        if self.exact:
            found = self.known.get(at)
            if found is None:
                member = dict(zip(self.scope, at, strict=True))
                found = self.known[at] = not self.maker.stops(self.term, member)
            return found
        node = self.term
        for place, number in enumerate(at):
            if not isinstance(node, (Expr, tuple)):
                break
            row = self.rows.get((node, place))
            if row is None:
                row = self.rows[node, place] = [None] * len(self.assigners[place])
            step = row[number]
            if step is None:
                step = row[number] = _settled(self.assigners[place][number].fold(node))
            node = step
        return self.ends[node] if node in self.ends else self.end(node)

    def end(self, node: Operand) -> bool:
        """What a guard with every flag filled in says; kept."""
        stops = bool(node) if not isinstance(node, (Expr, tuple)) else self.maker.stops(node)
        found = self.ends[node] = not stops
        return found


def _settled(node: Operand) -> Operand:
    """A folded guard; True or False where that is all that is left of it."""
    if isinstance(node, tuple):
        return node if isinstance(node[0], Expr) or node[0] else False
    return node if isinstance(node, Expr) else bool(node)
