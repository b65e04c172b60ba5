"""From a pack in a context to a problem: kvsolve's own lowering and exports, and drawn commands."""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.peers.copies import copied, name_of
from benchmarks.peers.problem import Model, Problem, Query, Rule, Switched
from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import gpu_profile
from kvsolve.inputs.models import DEVICE_FLAGS, MODEL_FLAGS, find_model
from kvsolve.model.context import Config, Context
from kvsolve.outputs.exports import EXPORTS
from kvsolve.packs.pack import load_pack
from kvsolve.solve.check import Prepared
from kvsolve.solve.domains import State, default_of, domain_of
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.counting import Counting
from kvsolve.solve.lowering.gates import bits
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.network import network_of
from kvsolve.solve.space import Space, spelling
from kvsolve.solve.switches import Switches
from kvsolve.upstream.coverage import FIRST_SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "Lowering",
    "Setting",
    "first_scope",
    "make_problem",
    "model_of",
    "narrowed",
    "pin_literals",
]

SEED = 20
_PRODUCT, _WIDE = 400_000, 1_000_000


class Setting:
    """A pack in a context, with the empty command to start from.

    Attributes:
        prepared: The context.
        empty: A command that names the model only.
        held: Flags that are no matter of choice.
    """

    def __init__(self, release: str, gpu: str, model: str, copies: int = 1) -> None:
        facts = context_facts(release, gpu_profile(gpu), find_model(model))
        pack = load_pack(release)
        self.copies = copies
        whole = pack if copies == 1 else copied(pack, copies)
        self.prepared = Prepared(whole, Context(release, gpu, 8, model, "table", facts))
        flags = whole.flags
        values = {dest: default_of(flags, dest) for dest in flags.fields}
        paths = [name_of("model_path", copy) for copy in range(copies)]
        values |= dict.fromkeys(paths, model)
        self.empty = Config(values, {dest: flags.flag(dest).name for dest in paths})
        named = ["model_path", *(MODEL_FLAGS | DEVICE_FLAGS)]
        self.held = frozenset(name_of(d, c) for c in range(copies) for d in named)

    def config(self, typed: Iterable[tuple[str, Any]]) -> Config:
        """The command that gives these values."""
        values, given = dict(self.empty.values), dict(self.empty.given)
        for dest, value in typed:
            values[dest] = value
            given[dest] = spelling(self.prepared.pack.flags, dest, value)
        return Config(values, given)

    @property
    def free(self) -> list[str]:
        """The flags that some entry reads and that are a matter of choice."""
        flags, network = self.prepared.pack.flags, network_of(self.prepared)
        found = (d for d in flags.fields if d in network.dests and flags.by_dest(d))
        return [d for d in found if d not in self.held]

    def draw(self, source: random.Random) -> tuple[tuple[str, Any], ...]:
        """A few random flags at random values."""
        prepared, typed = self.prepared, {}
        literals = network_of(prepared).literals
        for dest in source.sample(self.free, source.randint(1, 6)):
            states = domain_of(dest, self.empty, prepared.pack.flags, literals).states
            choices = [state.value for state in states if state.typed]
            if choices:
                typed[dest] = source.choice(choices)
        return tuple(typed.items())

    def commands(self, seed: int, *, invalid: bool) -> Iterator[Config]:
        """Random commands that something refuses, or that nothing does."""
        source = random.Random(seed)
        while True:
            typed = self.draw(source)
            config = self.config(typed)
            if typed and bool(self.prepared.broken(config)) == invalid:
                yield config


class Lowering:
    """Every modelled flag of a setting as clauses, over all states that some commands need.

    Attributes:
        refusing: What nothing refuses.
        valid: What nothing refuses and no fact is missing for.
    """

    def __init__(self, setting: Setting, configs: Sequence[Config]) -> None:
        self.setting = setting
        prepared, held = setting.prepared, setting.held
        network, flags = network_of(prepared), prepared.pack.flags
        self.spaces = [Space(network, flags, config, held=held) for config in configs]
        universe = network.universe_of(flags)
        self.index = universe.index
        states = {d: tuple(universe.states[universe.index[d]]) for d in setting.free}
        vary = {d: own for d, own in states.items() if len(own) > 1}
        self.valid = lower(prepared, setting.empty, vary=vary)
        self.refusing = lower(prepared, setting.empty, vary=vary)
        self.refusing.unsure.clear()  # before anything is made of them

    def query(self, config: Config, space: Space) -> Query:
        """A command over the classes of ``refusing``."""
        lowered = self.refusing
        start, costs, pins = [], [], []
        for at, (dest, classes) in enumerate(zip(lowered.dests, lowered.classes, strict=True)):
            variable = self.index[dest]
            here = space.start[variable]
            if dest in config.given:
                pins.append(at)
            start.append(next(n for n, mask in enumerate(classes) if mask >> here & 1))
            costs.append(tuple(_cost(space, variable, mask) for mask in classes))
        typed = ((d, config.values[d]) for d in config.given if d not in self.setting.held)
        return Query(tuple(typed), tuple(start), tuple(costs), tuple(pins))

    def queries(self, configs: Sequence[Config]) -> list[Query]:
        """The commands that the lowering was made for."""
        return [self.query(c, s) for c, s in zip(configs, self.spaces, strict=True)]


def _cost(space: Space, variable: int, mask: int) -> int | None:
    mask &= space.full[variable]
    start = space.start[variable]
    if mask >> start & 1:
        return 0
    return min((space.price(variable, state).cost for state in bits(mask)), default=None)


def make_problem(
    release: str, gpu: str, model: str, *, copies: int = 1, commands: int = 20
) -> Problem:
    """A problem with so many commands of each kind."""
    setting = Setting(release, gpu, model, copies)
    invalid = list(islice(setting.commands(SEED, invalid=True), 4 * commands))
    partial = list(islice(setting.commands(SEED + 1, invalid=False), commands))
    lowering = Lowering(setting, [*invalid, *partial])
    queries = lowering.queries([*invalid, *partial])
    with Switches(lowering.refusing) as switches:
        clauses = switches.clauses
        switched = Switched(clauses.clauses, clauses.top, tuple(sorted(switches.of.values())))
        stuck = [
            query
            for query in queries[: len(invalid)]
            if switches.leave_nothing(switches.of, pin_literals(clauses.literals, query))
        ]
    scope = narrowed(setting, first_scope(setting))
    product, wide = products(setting)
    return Problem(
        release,
        gpu,
        model,
        copies,
        model_of(lowering.refusing, rules=True),
        model_of(lowering.valid),
        switched,
        model_of(scope, rules=True),
        model_of(product, rules=True),
        model_of(wide, rules=True),
        tuple(queries[:commands]),
        tuple(stuck[:commands]),
        tuple(queries[len(invalid) :]),
        len(lowering.refusing.pending),
    )


def pin_literals(literals: Sequence[Sequence[int]], query: Query) -> list[int]:
    """The literals that everything typed stays."""
    return [literals[v][query.start[v]] for v in query.pins if literals[v]]


def model_of(lowered: Lowered, *, rules: bool = False, to: Iterable[str] = tuple(EXPORTS)) -> Model:
    """A lowered context as plain data, by the product's own exports."""
    texts = {name: "\n".join(EXPORTS[name](lowered)) + "\n" for name in to}
    return Model(
        tuple(lowered.dests),
        tuple(map(len, lowered.classes)),
        tuple(map(tuple, Clauses(lowered).literals)),
        texts,
        tuple(rules_of(lowered)) if rules else (),
    )


def rules_of(lowered: Lowered) -> Iterator[Rule]:
    """The entries as functions of the classes of the flags that they read."""
    gates = lowered.gates
    for root in lowered.forbidden:
        scope = tuple(sorted(gates.variables([root])))
        body = [f"def allows({', '.join(f'x{v}' for v in scope)}):", " g1 = True"]
        for node in gates.below([root]):
            if node in gates.tests:
                variable, mask = gates.tests[node]
                own = [n for n, c in enumerate(lowered.classes[variable]) if c & mask]
                body.append(f" g{node} = x{variable} in {set(own)}")
            else:
                parts = [f"g{p}" if p > 0 else f"not g{-p}" for p in gates.parts[node]]
                body.append(f" g{node} = {' and '.join(parts)}")
        body.append(f" return {'not ' if root > 0 else ''}g{abs(root)}")
        yield Rule(scope, "\n".join(body) + "\n")


def narrowed(setting: Setting, vary: Mapping[str, Sequence[State] | None]) -> Lowered:
    """A few flags, all others held; every value is a class of its own, so that peers count values
    and not classes."""
    lowered = lower(setting.prepared, setting.empty, vary=vary)
    vars(lowered)["classes"] = tuple(
        tuple(1 << state for state in range(len(states))) for states in lowered.states
    )
    return lowered


def first_scope(setting: Setting) -> dict[str, Sequence[State] | None]:
    """The flags of the first scope that are a matter of choice, with all their representatives."""
    named = (d for d in setting.free if d in FIRST_SCOPE or "hicache" in d or "hierarchical" in d)
    return dict.fromkeys(named)


def products(setting: Setting) -> tuple[Lowered, Lowered]:
    """Flags whose values have about 400,000 combinations, and flags with over a million valid."""
    whole = lower(setting.prepared, setting.empty, vary=dict.fromkeys(setting.free))
    order = sorted(
        zip(whole.dests, whole.states, strict=True), key=lambda p: p[0] not in FIRST_SCOPE
    )
    taken: dict[str, Sequence[State] | None] = {}
    size = 1
    for dest, states in order:
        if 2 <= len(states) <= 12 and size * len(states) <= _PRODUCT:
            taken[dest] = states
            size *= len(states)
    product = narrowed(setting, dict(taken))
    # Switches that stand alone make many more of which most are valid.
    wide = product
    for dest, states in order:
        if Counting(wide).lower >= _WIDE:
            break
        if dest not in taken and len(states) == 2:
            tried = narrowed(setting, {**taken, dest: states})
            if Counting(tried).lower > Counting(wide).lower:
                taken[dest], wide = states, tried
    return product, wide
