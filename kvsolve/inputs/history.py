"""Where among the known releases an option exists, and what takes its place elsewhere."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

__all__ = ["History", "Rename", "history", "load_renames"]


@dataclass(frozen=True, slots=True)
class Rename:
    """What to write instead of an option that is gone.

    Attributes:
        old: The option that is gone.
        new: The option in its place, "" when there is none.
        value: The value of the new option that means what the old switch meant, "" when it takes
            the old one's value or none.
        values: Old value -> new value, where they differ.
        note: What else to know.
    """

    old: str
    new: str
    value: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def tokens(self, given: Sequence[str] = ()) -> tuple[str, ...]:
        """What to write for the old option with its values; empty when nothing takes its place."""
        if not self.new:
            return ()
        if self.value:
            return (self.new, self.value)
        return (self.new, *(self.values.get(value, value) for value in given))


@dataclass(frozen=True, slots=True)
class History:
    """An option over the known releases.

    Attributes:
        releases: Those that have it, oldest first; empty when none has.
        since: The first release that has it while an older known one has not, "" when it was
            always there.
        gone: The first release after the last one that has it, "" when the newest still has it.
        instead: What takes its place in the release asked about, None when unknown.
    """

    releases: tuple[str, ...] = ()
    since: str = ""
    gone: str = ""
    instead: Rename | None = None


def history(
    spelling: str,
    release: str,
    known: Sequence[tuple[str, Container[str]]],
    renames: Mapping[str, Rename],
) -> History:
    """Tell where an option is known.

    Args:
        spelling: The option string, for example ``--nsa-prefill-backend``.
        release: The release whose parser does not know it.
        known: (release, its option strings) in order of release; a flag table will do.
        renames: What :func:`load_renames` gave.
    """
    having = [at for at, (_, options) in enumerate(known) if spelling in options]
    names = [name for name, _ in known]
    return History(
        tuple(names[at] for at in having),
        names[having[0]] if having and having[0] else "",
        names[having[-1] + 1] if having and having[-1] + 1 < len(names) else "",
        _living(spelling, dict(known).get(release, ()), renames),
    )


def _living(spelling: str, options: Container[str], renames: Mapping[str, Rename]) -> Rename | None:
    """The rename of an option, followed until it names one that the release has."""
    found = step = renames.get(spelling)
    seen = {spelling}
    while step is not None and step.new and step.new not in options and step.new not in seen:
        seen.add(step.new)
        step = renames.get(step.new)
        if step is not None:
            found = step
    return found


def load_renames(text: str, where: str = "renames.toml") -> dict[str, Rename]:
    """Read the table of renamed options: old option string -> rename.

    Raises:
        KvsolveError: The text is no such table.
    """
    try:
        entries = [Rename(**entry) for entry in tomllib.loads(text)["flag"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise KvsolveError(f"{where} is no table of renamed options: {error}.") from error
    return {entry.old: entry for entry in entries}
