"""The search space around a configuration: which flags may change, to what, at which price."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.context import Config
from kvsolve.model.edit import Edit
from kvsolve.solve.check import same_value
from kvsolve.solve.domains import Domain, State, default_of, domain_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kvsolve.model.flag import Flag, FlagTable
    from kvsolve.solve.network import Network

__all__ = ["Price", "Space", "edits_of", "spelling"]


class Price(NamedTuple):
    """What a state of a flag costs, most important part first; all parts add up but the last.

    Attributes:
        cost: Weighted cost of the edit.
        edits: 1 where the command line changes.
        elsewhere: 1 where the new value is not the default.
        unlike: 1 where it is not what upstream would choose for an unset flag.
        place: Position in the domain.
    """

    cost: int
    edits: int
    elsewhere: int
    unlike: int
    place: int


FREE = Price(0, 0, 0, 0, 0)


class Space:
    """Variables with finite domains, made when first asked for.

    Attributes:
        config: The configuration that edits start from.
        dests: Dest of each variable.
        domains: Domain of each variable.
        start: State of each variable in the configuration.
        full: Mask of all states of each variable.
        price: Price of each state of each variable.
        position: Declared position of each variable's flag.
    """

    def __init__(
        self,
        network: Network,
        flags: FlagTable,
        config: Config,
        *,
        held: Iterable[str] = (),
        weights: Mapping[str, int] | None = None,
        chosen: Callable[[str], Any] | None = None,
        also: Mapping[str, Iterable[Any]] | None = None,
    ) -> None:
        self.network, self.flags, self.config = network, flags, config
        self.held = frozenset(held)
        self.weights = dict(weights or {})
        self.chosen = chosen
        self.also = dict(also or {})
        self.dests: list[str] = []
        self.domains: list[Domain] = []
        self.start: list[int] = []
        self.full: list[int] = []
        self.price: list[list[Price]] = []
        self.position: list[int] = []
        self._index: dict[str, int | None] = {}
        self._positions = {dest: at for at, dest in enumerate(flags.fields)}

    def variable(self, dest: str) -> int | None:
        """Number of a flag's variable, None where the flag is held or has no other state."""
        if dest not in self._index:
            self._index[dest] = self._make(dest)
        return self._index[dest]

    def _make(self, dest: str) -> int | None:
        if dest in self.held or not self.flags.by_dest(dest) or dest not in self.config.values:
            return None
        domain = _extended(self._domain(dest), self.also.get(dest, ()))
        if len(domain.states) < 2:
            return None
        self.dests.append(dest)
        self.domains.append(domain)
        self.start.append(domain.start)
        self.full.append((1 << len(domain.states)) - 1)
        self.price.append(self._prices(domain))
        self.position.append(self._positions.get(dest, len(self._positions)))
        return len(self.dests) - 1

    def _domain(self, dest: str) -> Domain:
        """The domain of a flag; one that is not given has the same in every configuration."""
        known = self.network.domains
        if dest in self.config.given:
            return domain_of(dest, self.config, self.flags, self.network.literals)
        if dest not in known:
            known[dest] = domain_of(dest, self.config, self.flags, self.network.literals)
        return known[dest]

    def _prices(self, domain: Domain) -> list[Price]:
        weight = self.weights.get(domain.dest, 1)
        default = default_of(self.flags, domain.dest)
        chosen = self.chosen(domain.dest) if self.chosen else default
        before = domain.states[domain.start]
        typed, unset = (
            weight * self.cost(domain.dest, before, State(None, typed)) for typed in (True, False)
        )
        prices = []
        for place, state in enumerate(domain.states):
            if place == domain.start:
                prices.append(FREE)
                continue
            cost = typed if state.typed else unset
            elsewhere = not same_value(state.value, default)
            unlike = not same_value(state.value, chosen)
            prices.append(Price(cost, 1, int(elsewhere), int(unlike), place))
        return prices

    def cost(self, dest: str, before: State, after: State) -> int:
        """Cost of an edit before weights: add 1, set 2, remove 3 for a switch and 2 else."""
        if not before.typed:
            return 1
        if after.typed:
            return 2
        spelled = self.config.given.get(dest, "")
        known = spelled in self.flags
        flag = self.flags.by_spelling(spelled) if known else self.flags.flag(dest)
        return 2 if flag.takes_value else 3

    def state(self, dest: str, changes: Mapping[int, int]) -> State:
        """The state of a flag under changes of variables."""
        variable = self.variable(dest)
        if variable is None:
            return State(self.config.values.get(dest), dest in self.config.given)
        at = changes.get(variable, self.start[variable])
        return self.domains[variable].states[at]

    def changed(self, changes: Mapping[int, int]) -> Config:
        """The configuration with changes made; flags keep their places, new ones come last."""
        values, given = dict(self.config.values), dict(self.config.given)
        for variable in sorted(changes, key=self.position.__getitem__):
            dest = self.dests[variable]
            state = self.domains[variable].states[changes[variable]]
            values[dest] = state.value
            if state.typed:
                given[dest] = spelling(self.flags, dest, state.value, given.get(dest))
            else:
                given.pop(dest, None)
        return Config(values, given)


def _extended(domain: Domain, values: Iterable[Any]) -> Domain:
    """The domain with a typed state for each value that it lacks."""
    states = list(domain.states)
    for value in values:
        if not any(same_value(value, state.value) for state in states):
            states.append(State(value, True))
    return domain if len(states) == len(domain.states) else replace(domain, states=tuple(states))


def edits_of(
    space: Space,
    changes: Mapping[int, int],
    config: Config,
    also: Callable[[int], tuple[Any, ...]] = lambda _: (),
) -> tuple[Edit, ...]:
    """The edits that changes of variables stand for, in declared order of the flags.

    Args:
        space: Where the variables live.
        changes: State of each changed variable.
        config: The configuration that results.
        also: Other values that would do, by variable.
    """
    edits = []
    for variable in sorted(changes, key=lambda v: (space.position[v], v)):
        domain, at = space.domains[variable], changes[variable]
        before, after = domain.states[domain.start], domain.states[at]
        op = "add" if not before.typed else ("set" if after.typed else "remove")
        typed = space.config.given.get(domain.dest)
        flag = config.given.get(domain.dest) or typed or domain.dest
        cost = space.price[variable][at].cost
        edits.append(Edit(op, domain.dest, flag, before.value, after.value, cost, also(variable)))
    return tuple(edits)


def spelling(flags: FlagTable, dest: str, value: Any, typed: str | None = None) -> str:
    """The option string that gives a flag a value: the user's own where it can.

    Args:
        flags: The release's options.
        dest: The flag.
        value: The value to give it.
        typed: The spelling that the user typed, if any.
    """
    if typed is not None and typed in flags:
        flag = flags.by_spelling(typed)
        if _gives(flag, value) and flag.action != "boolean":
            return typed
    for flag in flags.by_dest(dest):
        if _gives(flag, value):
            return _of_boolean(flag, value) if flag.action == "boolean" else flag.name
    return typed or flags.flag(dest).name


def _gives(flag: Flag, value: Any) -> bool:
    if flag.action == "store_true":
        return value is True
    if flag.action == "boolean":
        return isinstance(value, bool)
    if flag.action == "const":
        return same_value(flag.const, value)
    return flag.action in ("store", "alias", "lora_paths")


def _of_boolean(flag: Flag, value: bool) -> str:
    negative = [s for s in flag.spellings if s.startswith("--no-")]
    positive = [s for s in flag.spellings if not s.startswith("--no-")]
    wanted = positive if value else negative
    return (wanted or list(flag.spellings))[0]
