"""Reports: combinations that upstream accepts and that are publicly reported to fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.packs.compile import Predicate, compile_predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Report", "read_reports"]


class Report:
    """A report and when it holds.

    Args:
        entry: Position of its entry in the catalog.
        condition: Its compiled condition, as :meth:`Predicate.marshal` wrote it.
    """

    __slots__ = ("_condition", "_predicate", "entry")

    def __init__(self, entry: int, condition: bytes) -> None:
        self.entry = entry
        self._condition = condition
        self._predicate: Predicate | None = None

    def holds(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
        """Whether it speaks of these effective values; one that cannot be told does not."""
        try:
            return bool(self.predicate(values, facts))
        except Exception:
            # A fact that is not known, or a value of another type: nothing to warn of.
            return False

    @property
    def predicate(self) -> Predicate:
        """Its condition, made when somebody first asks."""
        if self._predicate is None:
            self._predicate = Predicate.unmarshal(self._condition)
        return self._predicate

    def texts(self) -> frozenset[str]:
        """Every text in its condition, the names of the flags that it reads among them."""
        return self.predicate.texts()

    def to_plain(self) -> tuple[int, bytes]:
        """Plain values that :mod:`marshal` can write."""
        return self.entry, self._condition

    @classmethod
    def from_plain(cls, plain: tuple[int, bytes]) -> Report:
        """The report that :meth:`to_plain` wrote."""
        return cls(*plain)


def read_reports(path: Path, release: str) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    """The reports for a release, each with its compiled condition.

    Raises:
        CuratedError: The file is malformed; names file and code.
    """
    from kvsolve.model.syntax import parse
    from kvsolve.packs.late import CuratedError, confirmed, read_curated

    if not path.exists():
        return
    for item in read_curated(path).get("report", []):
        releases = item.get("sglang") or item.get("ground", {}).get("sglang")
        if releases is not None and not confirmed(release, releases):
            continue
        try:
            predicate = compile_predicate(parse(item["when"]))
        except (KeyError, TypeError, KvsolveError) as error:
            raise CuratedError(f"{path.name}, {item.get('code', 'report')}: {error}") from None
        yield item, predicate.marshal()
