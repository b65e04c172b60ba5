"""Premises of the later stages: when upstream comes to what is read there.

Where reading starts in the middle, a hand-written premise says which launches come so far. Premises
are written in the language of the entries, with the names that the curated files define
(``late_is_mla``, ``late_backends``, ...), so that one definition serves both.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.expression import Expr, Operand, raw, rebuild, walk
from kvsolve.model.program import Place
from kvsolve.model.syntax import parse
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.late import confirmed, read_curated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.upstream.reader.run import Run

__all__ = ["Premises"]

_FILES = "7[0-9]-*.toml"
_PREFIX = "late_"


@dataclass(slots=True)
class Premises:
    """Premises of a release, over the names that its curated files define.

    Attributes:
        run: The run; its newest values are what the names of flags mean.
    """

    run: Run
    _defined: Mapping[str, str] = field(default_factory=dict)
    _terms: dict[str, Operand] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._defined = _definitions(self.run.tree.release)
        for name in self._defined:
            # Now, since what is logged while something is read is taken back; those that no
            # premise uses go when the program is tidied.
            with suppress(KvsolveError):
                self._named(name)

    def of(self, text: str) -> Operand:
        """A premise as a term of the program.

        Raises:
            KvsolveError: It is no expression, or speaks of a name that the release has not.
        """
        term = parse(text, self.run.log.versions)
        return self._resolved(term)

    def first(self, *texts: str) -> Operand | None:
        """The first of several premises that the release can say; None where it can say none."""
        for text in texts:
            with suppress(KvsolveError):
                return self.of(text)
        return None

    def said(self, name: str, text: str) -> Operand:
        """What something is, unknown where the release has not what the text speaks of."""
        found = self.first(text)
        return raw("opaque", name) if found is None else found

    def _resolved(self, operand: Operand) -> Operand:
        if not isinstance(operand, Expr):
            return operand
        if operand.op == "ref":
            return self._slot(operand)
        return rebuild(operand, self._resolved)

    def _slot(self, slot: Expr) -> Operand:
        name = slot.args[0]
        if name.startswith(_PREFIX):
            return self._named(name)
        if name.removeprefix("given.") not in self.run.fields:
            raise KvsolveError(f"SGLang {self.run.tree.release} has no flag {name}.")
        return slot

    def _named(self, name: str) -> Operand:
        if name not in self._terms:
            if name not in self._defined:
                raise KvsolveError(f"no curated file defines {name} for {self.run.tree.release}.")
            value = self.of(self._defined[name])
            wish = name.removeprefix(_PREFIX)
            told = isinstance(value, Expr) and sum(1 for _ in walk(value)) > 1
            place = Place("", wish, 0, wish)
            self._terms[name] = self.run.log.let(wish, value, True, place) if told else value
        return self._terms[name]


def _definitions(release: str) -> dict[str, str]:
    """Name -> what it means in a release; for one that no range covers, what it meant last."""
    found: dict[str, str] = {}
    last: dict[str, str] = {}
    root = constraints_directory() / "sglang"
    rows: list[Mapping[str, Any]] = []
    for path in sorted(root.glob(_FILES)):
        rows += read_curated(path).get("let", [])
    for row in rows:
        last[row["name"]] = row["value"]
        if confirmed(release, row.get("sglang", ">=0")):
            found[row["name"]] = row["value"]
    return last | found
