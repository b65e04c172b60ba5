"""The search space around a configuration: which flags may change, to what, at which price."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.context import Config
from kvsolve.model.edit import Edit
from kvsolve.solve.check import same_value
from kvsolve.solve.domains import Domain, State, default_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from kvsolve.model.flag import Flag, FlagTable
    from kvsolve.solve.network import Network

__all__ = ["Price", "Space", "edits_of", "spelling"]


class Price(NamedTuple):
    """What a state of a flag costs, most important part first; all parts add up but the last.

    Attributes:
        cost: Weighted cost of the edit.
        foreign: 1 where no broken entry reads the flag itself, or it is a mode nobody asked for.
        edits: 1 where the command line changes.
        elsewhere: 1 where the new value is not the default.
        unlike: 1 where it is not what upstream would choose for an unset flag.
        place: Position in the domain.
    """

    cost: int
    foreign: int
    edits: int
    elsewhere: int
    unlike: int
    place: int


FREE = Price(0, 0, 0, 0, 0, 0)
_NONE = Domain("", (), 0, None)


class Space:
    """What the flags around a configuration may be, and at which price.

    Variables and states have the numbers of the context's :class:`Universe`.

    Attributes:
        config: The configuration that edits start from.
        universe: The states of all flags.
        dests: Dest of each variable.
        domains: By variable, what is known of its states; made by :meth:`variable`.
        start: State of each variable in the configuration.
        full: Mask of the states that each variable may have.
        position: Declared position of each variable's flag.
        away: State of each variable that is not as in an empty command.
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
        native: Container[str] | None = None,
    ) -> None:
        """Make a space.

        Args:
            network: The context.
            flags: The release's options.
            config: Where edits start.
            held: Dests that do not vary.
            weights: Cost factor of a dest; 1 where absent.
            chosen: What upstream makes of a flag that is not given; the default where None.
            also: Further values of flags.
            native: Dests whose edits go before those of others; all where None.
        """
        self.network, self.flags, self.config = network, flags, config
        self.universe = network.universe_of(flags)
        self.held = frozenset(held)
        self.weights = dict(weights or {})
        self.chosen, self.native = chosen, native
        self.also = dict(also or {})
        universe = self.universe
        self.dests = universe.dests
        self.start = universe.rest.copy()
        self.full = universe.full.copy()
        self.position = range(len(self.dests))
        self.domains: list[Domain] = [_NONE] * len(self.dests)
        self.away: dict[int, int] = {}
        self._order: dict[int, list[int]] = {}
        self._prices: dict[int, dict[int, Price]] = {}
        for dest in dict.fromkeys([*config.given, *self.also]):
            if dest in universe.index:
                self._place(universe.index[dest], dest)
        for dest in self.held & universe.index.keys():
            variable = universe.index[dest]
            self.full[variable] = 1 << self.start[variable]

    def _place(self, variable: int, dest: str) -> None:
        """Restrict a flag that is given, or has further values, to its own states."""
        universe = self.universe
        domain = _extended(universe.domain(variable, self.config), self.also.get(dest, ()))
        order = [universe.number(variable, state) for state in domain.states]
        self._order[variable] = order
        self.start[variable] = order[domain.start]
        self.full[variable] = sum(1 << at for at in order)
        if self.start[variable] != universe.rest[variable]:
            self.away[variable] = self.start[variable]

    def order(self, variable: int) -> Sequence[int]:
        """The states that a flag may have, in declared order."""
        found = self._order.get(variable)
        if found is None:
            found = self._order[variable] = list(range(self.universe.full[variable].bit_length()))
        return found

    def domain(self, dest: str) -> Domain:
        """What a flag may be, in declared order."""
        variable = self.universe.index[dest]
        order, states = self.order(variable), self.universe.states[variable]
        unset = self.universe.domains[variable].unset
        start = order.index(self.start[variable])
        return Domain(dest, tuple(states[at] for at in order), start, unset)

    def variable(self, dest: str) -> int | None:
        """Number of a flag's variable, None where the flag is held or has no other state."""
        variable = self.universe.index.get(dest)
        if variable is None:
            return None
        if self.domains[variable] is _NONE:
            full = self.full[variable]
            if not full & (full - 1):
                return None
            states = tuple(self.universe.states[variable])
            unset = self.universe.domains[variable].unset
            domain = Domain(dest, states, self.start[variable], unset)
            shared = self.network.domains.get(dest)
            if shared == domain:
                domain = shared
            elif dest not in self.config.given and dest not in self.also:
                self.network.domains[dest] = domain
            self.domains[variable] = domain
        return variable

    def place(self, changes: Mapping[int, int]) -> dict[int, int]:
        """State of each variable that is not as in an empty command, under changes."""
        found = {**self.away, **changes}
        rest = self.universe.rest
        return {v: s for v, s in found.items() if s != rest[v]}

    def price(self, variable: int, state: int) -> Price:
        """The price of a state."""
        found = self._prices.get(variable)
        if found is None:
            found = self._prices[variable] = self._priced(variable)
        return found[state]

    def _priced(self, variable: int) -> dict[int, Price]:
        dest, start = self.dests[variable], self.start[variable]
        states = self.universe.states[variable]
        weight = self.weights.get(dest, 1)
        default = default_of(self.flags, dest)
        chosen = self.chosen(dest) if self.chosen else default
        foreign = int(self.native is not None and dest not in self.native)
        typed, unset = (
            weight * self.cost(dest, states[start], State(None, typed)) for typed in (True, False)
        )
        prices = {start: FREE}
        for place, at in enumerate(self.order(variable)):
            if at != start:
                state = states[at]
                prices[at] = Price(
                    typed if state.typed else unset,
                    foreign,
                    1,
                    int(not same_value(state.value, default)),
                    int(not same_value(state.value, chosen)),
                    place,
                )
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
        variable = self.universe.index.get(dest)
        if variable is None:
            return State(self.config.values.get(dest), dest in self.config.given)
        at = changes.get(variable, self.start[variable])
        return self.universe.states[variable][at]

    def changed(self, changes: Mapping[int, int]) -> Config:
        """The configuration with changes made; flags keep their places, new ones come last."""
        values, given = dict(self.config.values), dict(self.config.given)
        for variable in sorted(changes):
            dest = self.dests[variable]
            state = self.universe.states[variable][changes[variable]]
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
    for variable in sorted(changes):
        dest, at = space.dests[variable], changes[variable]
        states = space.universe.states[variable]
        before, after = states[space.start[variable]], states[at]
        op = "add" if not before.typed else ("set" if after.typed else "remove")
        typed = space.config.given.get(dest)
        flag = config.given.get(dest) or typed or dest
        cost = space.price(variable, at).cost
        edits.append(Edit(op, dest, flag, before.value, after.value, cost, also(variable)))
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
