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
    Crash,
    Expr,
    Operand,
    Unknown,
    is_constant,
    raw,
    substitute,
    walk,
)
from kvsolve.packs.compile import compile_predicate, initial_slots
from kvsolve.packs.evaluate import Interpreter, NotReached
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.domains import State, bare, default_of, domain_of
from kvsolve.solve.network import Network, network_of, outcome
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
        self.facts, self.network, self.states = prepared.facts, network, states
        self.position = {dest: at for at, dest in enumerate(dests)}
        self.held = initial_slots(config.values, config.given)
        self.memo: dict[Expr, Operand] = {}

    def constraint(self, broken: Operand) -> GridConstraint | bool:
        """A refusal's guard as a constraint; False where it always holds, True where never."""
        term = self.substituted(broken)
        slots = sorted({t.args[0] for t in walk(term) if t.op == "ref"})
        scope = tuple(sorted({p for s in slots if (p := self.position.get(bare(s))) is not None}))
        if not scope:
            fixed = {(s, 0): self.held[s] for s in slots}
            return not is_broken(outcome(Interpreter(fixed, self.facts), term))
        return GridConstraint(scope, self.predicate(term, slots, scope))

    def substituted(self, broken: Operand) -> Operand:
        """The guard with held flags filled in.

        Folding must not drop what may only crash, nor decide what a missing fact leaves open.
        """
        if self.network.is_unsure(broken):
            return broken
        if isinstance(broken, Expr) and broken.op == "and" and broken.args[-1] is False:
            parts = (substitute(a, self.leaf, self.memo) for a in broken.args)
            return raw("and", *parts)
        return substitute(broken, self.leaf, self.memo)

    def leaf(self, term: Expr) -> Operand:
        if term.op == "ref" and bare(term.args[0]) not in self.position:
            value = self.held.get(term.args[0])
            return value if is_constant(value) else term
        return term

    def predicate(
        self, term: Operand, slots: list[str], scope: tuple[int, ...]
    ) -> Callable[..., bool]:
        base = {s: self.held[s] for s in slots if bare(s) not in self.position}
        moving = [
            (s, s.startswith("given."), scope.index(self.position[bare(s)]))
            for s in slots
            if bare(s) in self.position
        ]
        states = [self.states[p] for p in scope]
        broken = _evaluator(term, self.facts)
        known: dict[tuple[int, ...], bool] = {}

        def allows(*at: int) -> bool:
            found = known.get(at)
            if found is None:
                values = dict(base)
                for slot, given, place in moving:
                    state = states[place][at[place]]
                    values[slot] = state.value if state.typed or not given else None
                found = known[at] = not broken(values)
            return found

        return allows


def _evaluator(term: Operand, facts: Any) -> Callable[[dict[str, Any]], bool]:
    """Whether a guard stops upstream, as a function of slot values."""

    def exactly(values: dict[str, Any]) -> bool:
        run = Interpreter({(s, 0): v for s, v in values.items()}, facts)
        return is_broken(outcome(run, term))

    try:
        run = compile_predicate(term)
    except (SyntaxError, RecursionError, MemoryError):
        return exactly

    def fast(values: dict[str, Any]) -> bool:
        try:
            return bool(run(values, facts))
        except Unknown:
            return False
        except (Crash, NotReached):
            return True
        except Exception:
            return exactly(values)

    return fast
