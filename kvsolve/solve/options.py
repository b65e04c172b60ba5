"""options: what a flag may still be, given the rest of a command.

A value is open where some valid completion of the command has it; what is given stays as it is, and
flags that are not given may be added. Every other value is excluded by a minimal set of entries.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.solve.completion import Completions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.context import Config
    from kvsolve.model.edit import Edit
    from kvsolve.solve.check import Prepared

__all__ = ["FlagOptions", "Option", "options"]


_MANY = 20
"""Flags from which on it pays to prepare for many questions."""


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a flag.

    Attributes:
        value: The value; the default where the flag is not given.
        typed: Whether the command line says it.
        ok: Some valid completion has it; None where the time was too short to tell.
        codes: The entries that exclude it, in upstream's order.
        edits: What must be added beside it, cheapest first.
    """

    value: Any
    typed: bool
    ok: bool | None
    codes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a value."""
        return {
            "value": self.value,
            "typed": self.typed,
            "ok": self.ok,
            "codes": list(self.codes),
            "edits": [e.to_dict() for e in self.edits],
        }


@dataclass(frozen=True, slots=True)
class FlagOptions:
    """Every value of a flag.

    Attributes:
        dest: The flag.
        flag: Its spelling.
        given: The value typed, or None.
        values: In declared order.
    """

    dest: str
    flag: str
    given: Any
    values: tuple[Option, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a flag's options."""
        return {
            "flag": self.flag,
            "dest": self.dest,
            "given": self.given,
            "values": [v.to_dict() for v in self.values],
        }


def options(
    prepared: Prepared,
    config: Config,
    dests: Iterable[str] = (),
    *,
    held: Iterable[str] = (),
    time_limit: float | None = None,
) -> tuple[FlagOptions, ...]:
    """What flags may still be.

    Args:
        prepared: Pack, context and stage.
        config: What is given so far.
        dests: The flags asked about; every flag that some entry reads where empty.
        held: Dests that are no matter of choice.
        time_limit: Seconds after which the remaining values are left open.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    shared = Completions(prepared, config, held=held, deadline=deadline)
    wanted = tuple(dests) or tuple(
        d for d in prepared.pack.flags.fields if d in shared.network.dests
    )
    if len(wanted) > _MANY:
        shared.network.board_of(prepared.pack.flags).proofs.expect_many()
    found = []
    for dest in wanted:
        domain = shared.domain(dest)
        if domain is not None:
            states = range(len(domain.states))
            values = tuple(_option(shared, dest, at) for at in states)
            given = config.values[dest] if dest in config.given else None
            found.append(FlagOptions(dest, prepared.pack.flags.flag(dest).name, given, values))
    return tuple(found)


def _option(shared: Completions, dest: str, at: int) -> Option:
    domain = shared.domain(dest)
    assert domain is not None
    state = domain.states[at]
    fixed = {dest: at}
    best = shared.cheapest(fixed)
    if best is not None:
        return Option(state.value, state.typed, True, (), shared.edits(best, fixed))
    if not shared.proven:
        return Option(state.value, state.typed, None)
    codes = (shared.code(step) for step in shared.culprits(shared.masks(fixed)))
    return Option(state.value, state.typed, False, tuple(dict.fromkeys(codes)))
