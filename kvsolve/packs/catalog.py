"""The catalog of a release: code, slug, reason, remedy and ground of every step that can be told.

A step's text is curated where somebody wrote one for its code, else generated from its guard. The
catalog turns into plain tuples and back, so that a compiled pack holds it and only the entries
that are asked for become objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.finding import Ground
from kvsolve.model.noun import dataclass
from kvsolve.packs.packed_rows import PackedRows, blocks_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from kvsolve.packs.messages import Candidate, Match
    from kvsolve.packs.reports import Report

__all__ = ["Catalog", "EntryInfo"]


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """What can be told of an entry.

    Attributes:
        code: Stable code.
        slug: Stable short name.
        kind: ``refuse``, ``set``, ``crash``, ``report`` or ``parse``.
        message: The reason, one or two sentences.
        remedy: The way out, None where there is none to name.
        flags: Dests of the flags that take part, the most telling first.
        ground: Where upstream does it.
        stage: Where upstream notices.
        raises: Upstream's exception, None for rewrites and reports.
        dest: The flag that a rewrite changes.
        crash: Upstream breaks without meaning to.
        curated: The text was written by hand.
        weight: How much it counts where entries are ranked.
    """

    code: str
    slug: str
    kind: str
    message: str
    remedy: str | None
    flags: tuple[str, ...]
    ground: Ground
    stage: str = "args"
    raises: str | None = None
    dest: str | None = None
    crash: bool = False
    curated: bool = False
    weight: int = 1

    def to_plain(self) -> tuple[Any, ...]:
        """Tuples and strings only."""
        g = self.ground
        ground = (g.file, g.symbol, g.sglang, g.line, g.checked)
        head = (self.code, self.slug, self.kind, self.message, self.remedy, self.flags, ground)
        tail = (self.stage, self.raises, self.dest, self.crash, self.curated, self.weight)
        return head + tail

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> EntryInfo:
        """The entry that :meth:`to_plain` wrote."""
        code, slug, kind, message, remedy, flags, ground, *rest = plain
        return cls(code, slug, kind, message, remedy, flags, Ground(*ground), *rest)


class Catalog:
    """Entries by step and by code.

    Args:
        entries: Plain entries; few of some thousand are asked for.
        by_step: Step -> position in ``entries``, for what a step does.
        by_crash: Step -> position, for a break in it.
        words: Code -> hashes of upstream's message, separated by spaces.
        reports: Reports of accepted combinations that are known to fail.
    """

    def __init__(
        self,
        entries: Sequence[tuple[Any, ...]],
        by_step: dict[int, int],
        by_crash: dict[int, int],
        words: dict[str, str],
        reports: list[Report],
    ) -> None:
        self._entries = entries
        self._by_step = by_step
        self._by_crash = by_crash
        self._words = words
        self._reports = reports
        self._made: dict[int, EntryInfo] = {}

    def _at(self, position: int) -> EntryInfo:
        if position not in self._made:
            self._made[position] = EntryInfo.from_plain(self._entries[position])
        return self._made[position]

    def _every(self) -> Iterator[EntryInfo]:
        return (self._at(position) for position in range(len(self._entries)))

    def entry(self, step: int) -> EntryInfo:
        """The entry of a refusal or rewrite; for another step, of a break in it."""
        position = self._by_step.get(step)
        return self.crash(step) if position is None else self._at(position)

    def crash(self, step: int) -> EntryInfo:
        """The entry of a break of upstream in a step."""
        return self._at(self._by_crash[step])

    def steps_of(self, codes: Container[str]) -> frozenset[int]:
        """The steps whose refusals or breaks have one of these codes."""
        places = (*self._by_step.items(), *self._by_crash.items())
        return frozenset(step for step, position in places if self._at(position).code in codes)

    def by_code(self, code: str) -> EntryInfo | None:
        """The first entry with a code or slug, however it is typed; None where there is none."""
        wanted = code.strip()
        for entry in self._every():
            if entry.code == wanted.upper() or entry.slug == wanted.lower():
                return entry
        return None

    def all(self) -> Iterator[EntryInfo]:
        """Each code once, in order of code."""
        first: dict[str, EntryInfo] = {}
        for entry in self._every():
            first.setdefault(entry.code, entry)
        yield from (first[code] for code in sorted(first))

    def reports(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[EntryInfo]:
        """The reports that hold for effective values."""
        for report in self._reports:
            if report.holds(values, facts):
                yield self._at(report.entry)

    def reported(self) -> frozenset[str]:
        """Every text in the conditions of reports, and so every flag that one of them reads."""
        return frozenset(text for report in self._reports for text in report.texts())

    def candidates(self) -> list[Candidate]:
        """Every refusal with the hashes of its message, for the search by error text."""
        from kvsolve.packs.messages import Candidate

        places: dict[str, tuple[set[str], set[str], set[str]]] = {}
        for entry in self._every():
            if entry.kind == "refuse":
                symbols, files, raises = places.setdefault(entry.code, (set(), set(), set()))
                symbols.add(entry.ground.symbol)
                files.add(entry.ground.file)
                raises.add(entry.raises or "")
        return [
            Candidate(
                code,
                frozenset(self._words.get(code, "").split()),
                *(frozenset(part) for part in parts),
            )
            for code, parts in sorted(places.items())
        ]

    def find(self, text: str) -> list[Match]:
        """The entries that a pasted error may come from, likeliest first."""
        from kvsolve.packs.messages import rank

        candidates = self.candidates()
        rarity: dict[str, int] = {}
        for candidate in candidates:
            for run in candidate.words:
                rarity[run] = rarity.get(run, 0) + 1
        return rank(text, candidates, rarity)

    def to_plain(self) -> tuple[Any, ...]:
        """Plain values that :mod:`marshal` can write, without the entries."""
        reports = [report.to_plain() for report in self._reports]
        return len(self._entries), self._by_step, self._by_crash, self._words, reports

    def blocks(self) -> list[bytes]:
        """The entries, packed."""
        return blocks_of(self._entries)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...], blocks: Sequence[bytes], first: int) -> Catalog:
        """The catalog that :meth:`to_plain` wrote, with its entries from that block on."""
        count, by_step, by_crash, words, reports = plain
        entries: PackedRows[tuple[Any, ...]] = PackedRows(blocks, count, first)
        if not reports:
            return cls(entries, by_step, by_crash, words, [])
        from kvsolve.packs.reports import Report

        return cls(entries, by_step, by_crash, words, [Report.from_plain(r) for r in reports])
