"""What the sampler may draw of each flag of a release."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.model.flag import Flag

__all__ = ["TABLES", "FlagPool", "load_tables"]

Tables = dict[str, Any]

UNNAMED_WEIGHT = 0.25
"""Of a flag that the tables do not name."""

NUMBERS = {
    "int": (0, 1, 2, 3, 4, 8, 16, 64, 100, 128, 4096, -1),
    "human_int": ("1", "64", "4096", "8k", "1M", "-1"),
    "float": (0.0, 0.1, 0.5, 0.9, 1.0, 2.0, -1.0),
}
# Numbers that are really addresses, or that name something outside the command.
TOUCHING = re.compile(r"port$|_ip$|path|_dir$|_file$|folder|_key|url|host$|endpoint|socket")


@dataclass(frozen=True, slots=True)
class FlagPool:
    """The drawable flags of one release.

    Attributes:
        flags: By canonical spelling.
        values: What may follow each, empty for a switch.
        weights: How often each is drawn near the boundary.
    """

    flags: Mapping[str, Flag]
    values: Mapping[str, Sequence[str]]
    weights: Mapping[str, float]

    @classmethod
    def of(cls, table: Iterable[Flag], tables: Tables, only: Iterable[str] = ()) -> FlagPool:
        """Collect the flags that can be drawn.

        Args:
            table: Every flag of the release.
            tables: What ``sampling.toml`` says.
            only: Restrict to these names (without dashes); empty for all flags.
        """
        wanted = set(only)
        flags, values, weights = {}, {}, {}
        for flag in table:
            if flag.name in tables["never"] or (wanted and flag.dest not in wanted):
                continue
            named = _named(flag, tables["flags"])
            drawable = _values(flag, named)
            if drawable is not None:
                flags[flag.name] = flag
                values[flag.name] = [str(value) for value in drawable]
                weights[flag.name] = named.get("weight", UNNAMED_WEIGHT)
        return cls(flags, values, weights)

    def canonical(self, spelling: str) -> str | None:
        """The canonical spelling of a drawable flag, None when the release has no such flag."""
        if spelling in self.flags:
            return spelling
        for name, flag in self.flags.items():
            if spelling in flag.spellings:
                return name
        return None


def _named(flag: Flag, named: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    for spelling in flag.spellings:
        if spelling in named:
            return named[spelling]
    return {}


def _values(flag: Flag, named: Mapping[str, Any]) -> Sequence[Any] | None:
    """What may follow the flag, or None when nothing sensible is known."""
    if not flag.takes_value:
        return ()
    if "values" in named:
        return list(named["values"])
    if flag.choices:
        return flag.choices
    if TOUCHING.search(flag.dest):
        return None
    return NUMBERS.get(flag.type)


def load_tables(path: Path) -> Tables:
    """Read ``sampling.toml`` and write out its groups of models."""
    with path.open("rb") as file:
        tables = tomllib.load(file)
    groups = tables["models"]
    for bundle in tables["bundles"].values():
        named = bundle["models"]
        bundle["models"] = [
            model
            for name in named
            for model in (groups[name[1:]] if name.startswith("@") else [name])
        ]
    return tables


TABLES = load_tables(Path(__file__).with_name("sampling.toml"))
