"""explain and why: one entry, named or found by the words of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.packs.catalog import EntryInfo
    from kvsolve.packs.pack import Pack

__all__ = ["Explanation", "explain", "why"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One entry, in full.

    Attributes:
        sglang: The release whose words these are.
        entry: What the catalog tells of it.
        conditions: Where it takes place, as the pack reads it: one for each time that it stands in
            the program.
        score: How likely it is the entry behind a pasted text, None where it was named.
        unmet: Why no known configuration meets it; None where one does, or nobody looked.
    """

    sglang: str
    entry: EntryInfo
    conditions: tuple[str, ...]
    score: float | None = None
    unmet: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of an explanation."""
        entry = self.entry
        row: dict[str, Any] = {
            "code": entry.code,
            "slug": entry.slug,
            "kind": entry.kind,
            "stage": entry.stage,
            "raises": entry.raises,
            "crash": entry.crash,
            "flags": list(entry.flags),
            "message": entry.message,
            "remedy": entry.remedy,
            "ground": entry.ground.to_dict(),
            "curated": entry.curated,
            "sglang": self.sglang,
            "conditions": list(self.conditions),
            "unmet": self.unmet,
        }
        return row if self.score is None else {**row, "score": self.score}


def explain(code: str, *, sglang: str | None = None) -> Explanation:
    """Tell of one entry.

    Args:
        code: Its code or slug, as in ``KV1042``.
        sglang: Release; the newest that has the entry where None.

    Raises:
        KvsolveError: No release known has such an entry, or not the one named.
    """
    for pack in _packs(sglang):
        entry = pack.catalog.by_code(code)
        if entry is not None:
            told = _conditions(pack, entry)
            return Explanation(pack.release, entry, told, unmet=_unmet(entry.code))
    where = f"SGLang {sglang}" if sglang else "any release known"
    raise KvsolveError(f"there is no entry {code} in {where}; `kvsolve rules` lists all")


def why(text: str, *, sglang: str | None = None, top: int = 3) -> tuple[Explanation, ...]:
    """Find the entries that a pasted error, log line or traceback may come from.

    Args:
        text: The text.
        sglang: Release; the newest in which something fits where None.
        top: How many to tell, likeliest first.

    Returns:
        Nothing where no entry fits.
    """
    for pack in _packs(sglang):
        found = []
        for match in pack.catalog.find(text)[:top]:
            entry = pack.catalog.by_code(match.code)
            if entry is not None:
                told = _conditions(pack, entry)
                unmet = _unmet(entry.code)
                found.append(Explanation(pack.release, entry, told, match.score, unmet))
        if found:
            return tuple(found)
    return ()


def _unmet(code: str) -> str | None:
    from kvsolve.packs.unmet import load_unmet

    found = load_unmet().get(code)
    return found.text if found else None


def _packs(sglang: str | None) -> Iterator[Pack]:
    from kvsolve.packs.pack import load_pack, releases

    if sglang is not None:
        yield load_pack(sglang)
        return
    for release in reversed(releases()):
        yield load_pack(release)


def _conditions(pack: Pack, entry: EntryInfo) -> tuple[str, ...]:
    """Guards of the steps that have an entry's code, in program order."""
    from kvsolve.model.syntax import render

    steps = pack.program.steps
    kinds = ("refuse", "set")
    here = (
        number
        for number, info in enumerate(pack.steps)
        if info.kind in kinds and pack.catalog.entry(number).code == entry.code
    )
    return tuple(dict.fromkeys(render(steps[number].when) for number in here))
