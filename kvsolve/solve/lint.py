"""lint: what a pack says that cannot happen, says twice, or advises wrongly, in a context.

Names after Benavides et al., "Automated analysis of feature models 20 years later" (2010): dead and
core values, false-optional flags, atomic sets. Everything is over the domains of
:mod:`kvsolve.solve.domains`, with what the command gives held as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kvsolve.solve.check import same_value
from kvsolve.solve.firing import Firing, Reach
from kvsolve.solve.judge import broken_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared

__all__ = [
    "Kind",
    "Outcome",
    "Remark",
    "Trial",
    "atomic_sets",
    "core_values",
    "entry_remark",
    "trial",
]


class Kind(StrEnum):
    """What a remark is about."""

    DEAD_VALUE = "dead-value"
    CORE_VALUE = "core-value"
    FALSE_OPTIONAL = "false-optional"
    ATOMIC_SET = "atomic-set"
    NEVER_FIRES = "never-fires"
    SHADOWED = "shadowed"
    IMPLIED = "implied"
    REMEDY = "contradictory-remedy"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing found.

    Attributes:
        kind: What it is about.
        code: The entry, where it is about one.
        values: Flags with values, where it is about these.
        codes: The entries that prove it: that exclude a value, or refuse what the entry refuses.
        witness: A configuration that shows it, where one does.
        proof: How it is known: ``facts`` (the context decides it), ``search`` (nothing else exists
            over the domains) or ``witness``.
        detail: The words of a remedy, or what is left open.
        fault: It is a fault of the pack, not a property of the release.
    """

    kind: Kind
    code: str | None = None
    values: tuple[tuple[str, Any], ...] = ()
    codes: tuple[str, ...] = ()
    witness: Config | None = None
    proof: str = "search"
    detail: str = ""
    fault: bool = False


class Outcome(StrEnum):
    """What becomes of a configuration that a remedy was followed on."""

    HELPS = "helps"
    STILL = "still"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Trial:
    """A remedy tried on a configuration that its entry refuses.

    Attributes:
        outcome: ``helps``: the entry is satisfied and no other refuses instead. ``still``: the
            entry refuses as before. ``refused``: others refuse that did not before.
        config: The configuration after the edits.
        codes: The entries that refuse it and did not before; for ``still`` the entry.
    """

    outcome: Outcome
    config: Config
    codes: tuple[str, ...] = ()


def trial(prepared: Prepared, code: str, before: Config, after: Config) -> Trial:
    """What becomes of a refused configuration when it is edited."""
    was = dict.fromkeys(_codes(prepared, before))
    now = list(dict.fromkeys(_codes(prepared, after)))
    if code in now:
        return Trial(Outcome.STILL, after, (code,))
    new = tuple(c for c in now if c not in was)
    return Trial(Outcome.REFUSED if new else Outcome.HELPS, after, new)


def _codes(prepared: Prepared, config: Config) -> list[str]:
    steps = broken_steps(prepared, prepared.trace(config))
    return [str(prepared.pack.catalog.entry(step).code) for step in steps]


def entry_remark(prepared: Prepared, firing: Firing) -> list[Remark]:
    """What there is to remark on how far an entry gets; nothing where all is well."""
    code = prepared.pack.catalog.entry
    name = str(code(firing.step).code)
    kinds = {
        Reach.NEVER: Kind.NEVER_FIRES,
        Reach.SHADOWED: Kind.SHADOWED,
        Reach.IMPLIED: Kind.IMPLIED,
        Reach.OPEN: Kind.OPEN,
    }
    if firing.reach not in kinds:
        return []
    others = tuple(dict.fromkeys(str(code(step).code) for step in firing.others))
    proof = "facts" if firing.by_facts else "search"
    return [Remark(kinds[firing.reach], name, (), others, firing.witness, proof)]


def core_values(
    values: Mapping[str, Sequence[Any]], dead: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The flags that have one value left, with it.

    Args:
        values: Every value of each flag.
        dead: Those that no valid configuration has.
    """
    found = {}
    for dest, every in values.items():
        lost = dead.get(dest, ())
        left = [v for v in every if not any(same_value(v, d) for d in lost)]
        if len(left) == 1 < len(every):
            found[dest] = left[0]
    return found


def atomic_sets(implies: Mapping[Any, frozenset[Any]]) -> tuple[tuple[Any, ...], ...]:
    """Values of different flags that every valid configuration has all of or none of.

    Args:
        implies: For each value that some valid configuration has, the others that all its
            configurations have.
    """
    found: list[tuple[Any, ...]] = []
    told: set[Any] = set()
    for value, others in implies.items():
        if value in told:
            continue
        group = [value, *(o for o in others if value in implies.get(o, frozenset()))]
        if len(group) > 1:
            told.update(group)
            found.append(tuple(group))
    return tuple(found)
