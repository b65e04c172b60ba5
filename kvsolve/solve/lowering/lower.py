"""From a context to a finite problem: variables with states, and literals that must not hold.

A flag is a variable, its states are those of its domain. Every entry gives two literals: upstream
stops there, and nobody can tell because a fact is missing. A configuration is *valid* where none of
them holds, exactly as ``check`` has it. An entry that computes with too many values is left
*pending*: the literals then allow too much, and who uses them has to ask :meth:`Lowered.objection`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.context import Config
from kvsolve.model.expression import Expr
from kvsolve.packs.compile import initial_slots
from kvsolve.packs.evaluate import Interpreter
from kvsolve.solve.grid import values_of
from kvsolve.solve.lowering.gates import FALSE, TRUE, bits
from kvsolve.solve.lowering.outcomes import Encoder, TooManyOutcomesError
from kvsolve.solve.network import CRASHED, UNKNOWN, Network, network_of, outcome
from kvsolve.solve.space import spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import State
    from kvsolve.solve.specialise import Constraint

__all__ = ["Lowered", "crashing_parts", "lower"]

_HEAVY = 2500
"""Gates of an entry alone from which on it is not quick to evaluate."""


class Lowered:
    """A context as a finite problem.

    Attributes:
        prepared: Pack, context and stage.
        config: What the flags that do not vary are held at.
        dests: The flags that vary, in declared order.
        states: The states of each.
        broken: Step and literal of every entry that some configuration breaks.
        unsure: The same for entries that some configuration leaves unknown.
        pending: Entries that are not lowered.
        doubts: For each of those a literal that holds wherever it objects, and perhaps elsewhere.
        light: Of all literals those that take few gates.
        suspect: For the other entries that are lowered, literals of which one holds wherever one of
            them stops upstream or is unknown, and perhaps elsewhere.
    """

    def __init__(
        self, prepared: Prepared, config: Config, domains: Mapping[str, Sequence[State]]
    ) -> None:
        self.prepared, self.config = prepared, config
        self.dests = tuple(domains)
        self.states = tuple(tuple(states) for states in domains.values())
        self.position = {dest: at for at, dest in enumerate(self.dests)}
        held = initial_slots(config.values, config.given)
        slots = {(name, 0): value for name, value in held.items()}
        self.encoder = Encoder(self.dests, self.states, slots, prepared.facts)
        self.gates = self.encoder.gates
        self.broken: list[tuple[int, int]] = []
        self.unsure: list[tuple[int, int]] = []
        self.pending: list[Constraint] = []
        self.doubts: list[int] = []
        self.suspect: list[int] = []
        self.light: list[int] = []
        self._needed: set[int] = set()
        for constraint in network_of(prepared).constraints.values():
            self._lower(constraint)

    def _lower(self, constraint: Constraint) -> None:
        try:
            crashing = crashing_parts(constraint.broken)
            if crashing is None:
                truth = self.encoder.truth(constraint.broken)
            else:
                truth = self.encoder.crash(*crashing)
        except TooManyOutcomesError:
            self.pending.append(constraint)
            self.doubts.append(self._guard(constraint.broken))
            return
        broken = self.gates.either(truth.holds, truth.crashes)
        if broken != FALSE:
            self.broken.append((constraint.step, broken))
        unsure = truth.unknown if self.prepared.decides(constraint.step) else FALSE
        if unsure != FALSE:
            self.unsure.append((constraint.step, unsure))
        self._weigh(constraint, (broken, unsure))

    def _weigh(self, constraint: Constraint, literals: tuple[int, int]) -> None:
        """Sort an entry's literals into those quick to evaluate and those that are not."""
        new = self._grow(literals)
        guard = self._guard(constraint.broken) if new > _HEAVY else TRUE
        if guard != TRUE and not self._usual(guard):
            self.suspect.append(guard)
        else:
            self.light.extend(literal for literal in literals if literal != FALSE)

    def _usual(self, literal: int) -> bool:
        """Whether a literal holds where every flag is in its first state."""
        fixed = dict.fromkeys(range(len(self.states)), 0)
        return bool(self.gates.values([literal], {}, 1, fixed)[0])

    def _grow(self, literals: Iterable[int]) -> int:
        """How many nodes literals need that no earlier ones needed."""
        before = len(self._needed)
        stack = [abs(literal) for literal in literals]
        while stack:
            node = stack.pop()
            if node not in self._needed:
                self._needed.add(node)
                stack.extend(abs(part) for part in self.gates.parts.get(node, ()))
        return len(self._needed) - before

    def _guard(self, broken: Any) -> int:
        """Holds wherever a conjunction may hold, crash or be unknown: of the parts that can be
        lowered none is false before one that has no value."""
        parts = broken.args if isinstance(broken, Expr) and broken.op == "and" else ()
        kept: list[int] = []
        for part in parts:
            try:
                truth = self.encoder.truth(part)
            except TooManyOutcomesError:
                break
            if not truth.sure:
                break
            kept.append(truth.holds)
        return self.gates.both(*kept)

    @cached_property
    def forbidden(self) -> tuple[int, ...]:
        """The literals of which none may hold, each once."""
        return tuple(dict.fromkeys(literal for _, literal in (*self.broken, *self.unsure)))

    @property
    def dead(self) -> bool:
        """Nothing is valid whatever the flags are."""
        return TRUE in self.forbidden

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """For each flag its states as masks of those that no entry tells apart, in order."""
        tests: list[set[int]] = [set() for _ in self.dests]
        for node in self.gates.below((*self.forbidden, *self._pending_tests())):
            if node in self.gates.tests:
                variable, mask = self.gates.tests[node]
                tests[variable].add(mask)
        return tuple(
            _classes(len(states), masks) for states, masks in zip(self.states, tests, strict=True)
        )

    def _pending_tests(self) -> list[int]:
        """Literals that tell apart what pending entries may tell apart."""
        encoder = self.encoder
        leaves: dict[Expr, None] = {}
        for constraint in self.pending:
            leaves |= dict.fromkeys(encoder.leaves(constraint.broken))
        return [lit for leaf in leaves for _, lit in encoder.outcomes(leaf).values()]

    def config_at(self, at: Sequence[int]) -> Config:
        """The configuration with every flag that varies in such a state."""
        values, given = dict(self.config.values), dict(self.config.given)
        for dest, told, number in zip(self.dests, self.told, at, strict=True):
            value, typed = told[number]
            values[dest] = value
            if typed is not None:
                given[dest] = typed
            else:
                given.pop(dest, None)
        return Config(values, given)

    @cached_property
    def told(self) -> tuple[tuple[tuple[Any, str | None], ...], ...]:
        """For each state of each flag its value, and how the command line spells the flag."""
        flags, given = self.prepared.pack.flags, self.config.given
        return tuple(
            tuple(
                (s.value, spelling(flags, dest, s.value, given.get(dest)) if s.typed else None)
                for s in states
            )
            for dest, states in zip(self.dests, self.states, strict=True)
        )

    def objection(self, at: Sequence[int]) -> list[tuple[int, int]] | None:
        """What a pending entry has against a configuration that the literals allow.

        Returns:
            Variables with the masks of states under which the entry objects just as well; None
            where no pending entry objects.
        """
        for constraint in self.pending:
            tracer = _Tracer(self.encoder, at)
            crashing = crashing_parts(constraint.broken)
            value = outcome(tracer, crashing[0] if crashing else constraint.broken)
            if crashing and value not in (CRASHED, UNKNOWN):
                value = outcome(tracer, crashing[1]) if value else False
                value = value if value in (CRASHED, UNKNOWN) else False
            doubt = value is UNKNOWN and self.prepared.decides(constraint.step)
            if doubt or value is CRASHED or (value is not UNKNOWN and value):
                return sorted(tracer.reads.items())
        return None


class _Tracer(Interpreter):
    """Evaluates a term in one configuration and notes what the result rests on."""

    def __init__(self, encoder: Encoder, at: Sequence[int]) -> None:
        super().__init__(encoder.constant.slots, encoder.facts)
        self.encoder, self.at = encoder, at
        self.reads: dict[int, int] = {}

    def value(self, operand: Any) -> Any:
        owner = self.encoder.owner_of(operand)
        if owner < 0 or self.encoder.free(operand):
            return super().value(operand)
        return self.encoder.tried(operand, owner, self.at[owner], self.reads)


def crashing_parts(broken: Any) -> tuple[Any, Any] | None:
    """Condition and value of a step that is no refusal but may crash; None of a refusal."""
    if isinstance(broken, Expr) and broken.op == "and" and len(broken.args) == 3:
        when, value, never = broken.args
        if never is False and isinstance(value, Expr) and value.op == "tuple":
            return when, value
    return None


def _classes(size: int, masks: Iterable[int]) -> tuple[int, ...]:
    groups: dict[tuple[int, ...], int] = {}
    tests = sorted(masks)
    for state in range(size):
        key = tuple(mask >> state & 1 for mask in tests)
        groups[key] = groups.get(key, 0) | 1 << state
    return tuple(sorted(groups.values(), key=lambda mask: mask & -mask))


def lower(
    prepared: Prepared,
    config: Config,
    *,
    vary: Mapping[str, Sequence[State] | None] | None = None,
    held: Iterable[str] = (),
) -> Lowered:
    """Lower a context.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that do not vary.
        vary: The flags that vary, with their states or None for all representatives; where it is
            None all flags that some entry reads and that the configuration does not give.
        held: Dests that are no matter of choice.

    Raises:
        KvsolveError: A flag to vary is no option of the release.
    """
    network, flags = network_of(prepared), prepared.pack.flags
    if vary is None:
        fixed = {flags.by_spelling(s).dest for s in flags.required} | set(held) | set(config.given)
        chosen: dict[str, Sequence[State] | None] = {
            dest: None for dest in free_flags(prepared, network) if dest not in fixed
        }
    else:
        chosen = {dest: vary[dest] for dest in sorted(vary, key=_order(prepared))}
    domains: dict[str, Sequence[State]] = {}
    for dest, states in chosen.items():
        if dest not in flags.fields or not flags.by_dest(dest):
            raise KvsolveError(f"{dest} is no option of {prepared.pack.release} that can vary")
        found = states if states is not None else values_of(dest, config, flags, network)
        if len(found) > 1 or vary is not None:
            domains[dest] = found
    return Lowered(prepared, config, domains)


def free_flags(prepared: Prepared, network: Network) -> list[str]:
    """The options that some entry of the context reads, in declared order."""
    flags = prepared.pack.flags
    return [d for d in flags.fields if d in network.dests and flags.by_dest(d)]


def _order(prepared: Prepared) -> Any:
    order = {dest: at for at, dest in enumerate(prepared.pack.flags.fields)}
    return lambda dest: order.get(dest, len(order))


def states_in(mask: int) -> tuple[int, ...]:
    """The states of a mask."""
    return tuple(bits(mask))
