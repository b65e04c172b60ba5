"""Reports: combinations that upstream accepts and that are publicly reported to fail."""

from __future__ import annotations

import marshal
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Report", "read_reports"]


class Report:
    """A report and when it holds.

    Args:
        entry: Position of its entry in the catalog.
        code: Code of its compiled condition.
    """

    __slots__ = ("_code", "_run", "entry")

    def __init__(self, entry: int, code: CodeType) -> None:
        self.entry = entry
        self._code = code
        self._run: FunctionType | None = None

    def holds(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
        """Whether it speaks of these effective values; one that cannot be told does not."""
        if self._run is None:
            from kvsolve.packs.compile import _GLOBALS

            self._run = FunctionType(self._code, dict(_GLOBALS))
        try:
            return bool(self._run(values, facts))
        except Exception:
            # A fact that is not known, or a value of another type: nothing to warn of.
            return False

    def to_plain(self) -> tuple[int, bytes]:
        """Plain values that :mod:`marshal` can write."""
        return self.entry, marshal.dumps(self._code)

    @classmethod
    def from_plain(cls, plain: tuple[int, bytes]) -> Report:
        """The report that :meth:`to_plain` wrote."""
        return cls(plain[0], marshal.loads(plain[1]))


def read_reports(path: Path, release: str) -> Iterator[tuple[Mapping[str, Any], CodeType]]:
    """The reports for a release, each with its compiled condition.

    Raises:
        CuratedError: The file is malformed; names file and code.
    """
    from kvsolve.model.syntax import parse
    from kvsolve.packs.compile import compile_predicate
    from kvsolve.packs.late import CuratedError, confirmed, read_curated

    if not path.exists():
        return
    for item in read_curated(path).get("report", []):
        releases = item.get("sglang") or item.get("ground", {}).get("sglang")
        if releases is not None and not confirmed(release, releases):
            continue
        try:
            function = compile_predicate(parse(item["when"]))
        except (KeyError, TypeError, KvsolveError) as error:
            raise CuratedError(f"{path.name}, {item.get('code', 'report')}: {error}") from None
        yield item, function.__code__
