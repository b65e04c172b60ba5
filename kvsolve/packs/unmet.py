"""Entries that no configuration is known to meet, and why: ``constraints/sglang/unmet.toml``.

The list is written by the search for cases (``tests/conformance/unmet_entries.py``); a few reasons
were read in a release's source. An entry on it stands in the source all the same; what is said is
how far the search went.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.packs.files import constraints_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Unmet", "UnmetError", "load_unmet"]

_REASONS = {
    "facts": "no machine and model searched makes its condition possible",
    "proven": "proven over the values that kvsolve tries: no command is refused by it first",
    "undone": "proven over the values that kvsolve tries: no accepted command keeps what it writes",
}


class UnmetError(KvsolveError):
    """The list of unmet entries is malformed."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """Why no configuration is known to meet an entry.

    Attributes:
        release: Where it was looked for.
        why: ``facts``, ``proven``, ``undone``, or ``read`` for a reason from the source.
        settings: In how many pairs of machine and model that was shown; 0 where it was read.
        reason: What was read, a sentence without its full stop.
    """

    release: str
    why: str
    settings: int = 0
    reason: str = ""

    @property
    def text(self) -> str:
        """One sentence without its full stop."""
        if self.why == "read":
            return f"{self.reason} (read in the source of {self.release})"
        count = "1 setting" if self.settings == 1 else f"{self.settings} settings"
        where = f"{count} of machine and model, environment unset, {self.release}"
        return f"{_REASONS[self.why]} ({where})"


@lru_cache(maxsize=2)
def load_unmet(path: Path | None = None) -> Mapping[str, Unmet]:
    """The list by code; empty where there is no file.

    Raises:
        UnmetError: A line has an unknown reason or lacks a part.
    """
    path = path or constraints_directory() / "sglang" / "unmet.toml"
    if not path.exists():
        return {}
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    found = {}
    for code, row in rows.items():
        told = "reason" if row.get("why") == "read" else "settings"
        if row.get("why") not in {*_REASONS, "read"} or not {"release", told} <= set(row):
            raise UnmetError(f"{path.name}: {code} does not say why, where and how far")
        reason = row.get("reason", "")
        found[code] = Unmet(row["release"], row["why"], row.get("settings", 0), reason)
    return found
