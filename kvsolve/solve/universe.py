"""Every way in which the flags of a context can stand, numbered once.

Queries restrict the states of a flag by masks over these numbers, so that what one query learns of
a context holds in the next. A value that only one user ever typed gets a number of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.context import Config
from kvsolve.solve.domains import Domain, Literals, State, default_of, domain_of

if TYPE_CHECKING:
    from kvsolve.model.flag import FlagTable

__all__ = ["Universe"]


class Universe:
    """Variables and their states.

    Attributes:
        dests: Dest of each variable, in declared order: every flag that has an option.
        index: Variable of a dest.
        states: By variable, the states met so far; what nobody typed comes first.
        rest: By variable, the state in an empty command.
        full: By variable, the mask of the states of a flag that is not given.
    """

    def __init__(self, flags: FlagTable, literals: Literals) -> None:
        self.flags, self.literals = flags, literals
        self.dests = [dest for dest in flags.fields if flags.by_dest(dest)]
        self.index = {dest: at for at, dest in enumerate(self.dests)}
        values = {dest: default_of(flags, dest) for dest in flags.fields}
        self._empty = Config(values, {})
        self.domains = [domain_of(d, self._empty, flags, literals) for d in self.dests]
        self.states = [list(domain.states) for domain in self.domains]
        self.rest = [domain.start for domain in self.domains]
        self.full = [(1 << len(domain.states)) - 1 for domain in self.domains]
        self._numbers = [
            {_key(state): at for at, state in enumerate(states)} for states in self.states
        ]

    def domain(self, variable: int, config: Config) -> Domain:
        """The domain of a flag around a configuration."""
        dest = self.dests[variable]
        if dest not in config.given:
            return self.domains[variable]
        return domain_of(dest, config, self.flags, self.literals)

    def fixed(self, dest: str) -> State:
        """The state of a field that no option sets."""
        return State(self._empty.values.get(dest), False)

    def number(self, variable: int, state: State) -> int:
        """The number of a state, a new one where it was not met before."""
        numbers, key = self._numbers[variable], _key(state)
        found = numbers.get(key)
        if found is None:
            found = numbers[key] = len(self.states[variable])
            self.states[variable].append(state)
        return found


def _key(state: State) -> tuple[Any, ...]:
    return type(state.value).__name__, repr(state.value), state.typed
