"""The catalog of a release: code, slug, reason, remedy and ground of every step that can be told.

A step's text is curated where somebody wrote one for its code, else generated from its guard. The
catalog turns into plain tuples and back, so that a compiled pack holds it and only the entries
that are asked for become objects.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from kvsolve.model.finding import Ground
from kvsolve.model.flag import FlagTable
from kvsolve.model.noun import dataclass
from kvsolve.model.program import Program, Refuse, Set
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.late import confirmed, read_curated
from kvsolve.packs.messages import Candidate, Match, rank
from kvsolve.packs.parse_codes import PARSE_CODES, ParseCode
from kvsolve.packs.phrases import PhraseBook
from kvsolve.packs.registry import Registry, function_name, load_registry, update_registry
from kvsolve.packs.reports import Report, read_reports
from kvsolve.packs.texts import Text, read_texts, text_for
from kvsolve.packs.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Catalog", "EntryInfo", "load_catalog", "release_range"]

_UNNAMED_CRASH = "KV3000"


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
        entries: Plain entries, each once.
        by_step: Step -> position in ``entries``, for what a step does.
        by_crash: Step -> position, for a break in it.
        words: Code -> hashes of upstream's message, separated by spaces.
        reports: Reports of accepted combinations that are known to fail.
    """

    def __init__(
        self,
        entries: list[tuple[Any, ...]],
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

    def entry(self, step: int) -> EntryInfo:
        """The entry of a refusal or rewrite; for another step, of a break in it."""
        position = self._by_step.get(step)
        return self.crash(step) if position is None else self._at(position)

    def crash(self, step: int) -> EntryInfo:
        """The entry of a break of upstream in a step."""
        return self._at(self._by_crash[step])

    def by_code(self, code: str) -> EntryInfo | None:
        """The first entry with a code or slug, however it is typed; None where there is none."""
        wanted = code.strip()
        for position, plain in enumerate(self._entries):
            if plain[0] == wanted.upper() or plain[1] == wanted.lower():
                return self._at(position)
        return None

    def all(self) -> Iterator[EntryInfo]:
        """Each code once, in order of code."""
        first: dict[str, int] = {}
        for position, plain in enumerate(self._entries):
            first.setdefault(plain[0], position)
        for code in sorted(first):
            yield self._at(first[code])

    def reports(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[EntryInfo]:
        """The reports that hold for effective values."""
        for report in self._reports:
            if report.holds(values, facts):
                yield self._at(report.entry)

    def candidates(self) -> list[Candidate]:
        """Every refusal with the hashes of its message, for the search by error text."""
        places: dict[str, tuple[set[str], set[str], set[str]]] = {}
        for plain in self._entries:
            if plain[2] == "refuse":
                symbols, files, raises = places.setdefault(plain[0], (set(), set(), set()))
                symbols.add(plain[6][1])
                files.add(plain[6][0])
                raises.add(plain[8] or "")
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
        candidates = self.candidates()
        rarity: dict[str, int] = {}
        for candidate in candidates:
            for run in candidate.words:
                rarity[run] = rarity.get(run, 0) + 1
        return rank(text, candidates, rarity)

    def to_plain(self) -> tuple[Any, ...]:
        """Plain values that :mod:`marshal` can write."""
        reports = [report.to_plain() for report in self._reports]
        return self._entries, self._by_step, self._by_crash, self._words, reports

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> Catalog:
        """The catalog that :meth:`to_plain` wrote."""
        entries, by_step, by_crash, words, reports = plain
        return cls(entries, by_step, by_crash, words, [Report.from_plain(r) for r in reports])


def release_range(releases: tuple[str, ...], order: tuple[str, ...]) -> str:
    """Releases as a range of confirmed ones: ``>=0.5.16,<=0.5.18``; gaps are taken out.

    >>> release_range(("0.5.16", "0.5.18"), ("0.5.16", "0.5.17", "0.5.18"))
    '>=0.5.16,<=0.5.18,!=0.5.17'
    """
    if not releases:
        return ""
    if len(releases) == 1:
        return f"=={releases[0]}"
    inside = order[order.index(releases[0]) : order.index(releases[-1]) + 1]
    gaps = "".join(f",!={release}" for release in inside if release not in releases)
    return f">={releases[0]},<={releases[-1]}{gaps}"


def load_catalog(release: str, program: Program, root: Path | None = None) -> Catalog:
    """The catalog of a release.

    A step that the registry does not hold yet (a program just read again) gets a provisional code.

    Args:
        release: As in ``0.5.23``.
        program: Its program, curated late entries included.
        root: The directory that holds ``codes.toml`` and the texts.

    Raises:
        KvsolveError: A file is malformed.
    """
    return _Builder(release, program, root or constraints_directory() / "sglang").catalog()


class _Builder:
    def __init__(self, release: str, program: Program, root: Path) -> None:
        self.release, self.program, self.root = release, program, root
        self.registry = _complete(_registry(root), program)
        self.index = self.registry.index(release)
        self.crashes = self.registry.crashes()
        self.texts = read_texts(sorted(root.glob("[1-6][0-9]-*.toml")))
        self.late = _late_entries(root, release)
        self.confirmed = frozenset(_toml(root / "checked.toml").get("validator", ()))
        book = PhraseBook.from_data(_toml(root / "phrases.toml"))
        self.wording = Wording(program, _speller(root, release), book)
        self.positions: dict[tuple[Any, ...], int] = {}
        self.words: dict[str, dict[str, None]] = {}

    def catalog(self) -> Catalog:
        by_step: dict[int, int] = {}
        by_crash: dict[int, int] = {}
        for number, step in enumerate(self.program.steps):
            if isinstance(step, (Refuse, Set)):
                by_step[number] = self.position(self.entry(step))
            by_crash[number] = self.position(self.crash(step))
        reports = [
            Report(self.position(_report_info(data)), predicate)
            for data, predicate in read_reports(self.root / "reports.toml", self.release)
        ]
        for known in PARSE_CODES.values():
            self.position(_parse_info(known, self.release))
        self._late_words()
        words = {code: " ".join(hashes) for code, hashes in sorted(self.words.items())}
        return Catalog(list(self.positions), by_step, by_crash, words, reports)

    def position(self, entry: EntryInfo) -> int:
        plain = entry.to_plain()
        return self.positions.setdefault(plain, len(self.positions))

    def entry(self, step: Refuse | Set) -> EntryInfo:
        if isinstance(step, Refuse) and step.key in self.late:
            return self._late(step, self.late[step.key])
        kind = "refuse" if isinstance(step, Refuse) else "set"
        code = self.index[kind, step.key]
        if isinstance(step, Refuse):
            self.words.setdefault(code, {}).update(dict.fromkeys(step.words))
        text = text_for(self.texts, code, self.release)
        return EntryInfo(
            code,
            text.slug if text else _slug(step, code),
            kind,
            text.reason if text else self.wording.reason(step),
            self._remedy(step, text),
            self._flags(step),
            self._ground(code, step),
            step.stage if isinstance(step, Refuse) else "args",
            step.raises if isinstance(step, Refuse) else None,
            None if isinstance(step, Refuse) else step.name.removeprefix("raw."),
            curated=text is not None,
            weight=text.weight if text else 1,
        )

    def _flags(self, step: Refuse | Set) -> tuple[str, ...]:
        taking_part = self.wording.flags(step.when)
        if isinstance(step, Refuse):
            return taking_part
        return tuple(dict.fromkeys([step.name.removeprefix("raw."), *taking_part]))

    def _remedy(self, step: Refuse | Set, text: Text | None) -> str | None:
        if text is not None:
            return text.remedy
        return self.wording.remedy(step) if isinstance(step, Refuse) else None

    def _ground(self, code: str, step: Refuse | Set) -> Ground:
        releases = self.registry.codes[code].releases(self.registry.releases)
        span = release_range(releases, self.registry.releases)
        checked = "validator" if code in self.confirmed else "source"
        place = step.place
        return Ground(place.file, place.symbol, span, place.line or None, checked)

    def crash(self, step: Any) -> EntryInfo:
        place = step.place
        function = function_name(place.symbol) if place else ""
        code = self.crashes.get(function, _UNNAMED_CRASH)
        where = Ground(
            place.file if place else "server_args.py",
            place.symbol if place else "ServerArgs",
            f"=={self.release}",
            (place.line or None) if place else None,
            "validator" if code in self.confirmed else "source",
        )
        message = self.wording.crash(place.symbol if place else "argument resolution")
        slug = f"breaks-in-{_dashed(function)}" if function else "breaks"
        flags = self.wording.flags(getattr(step, "value", step.when))
        return EntryInfo(code, slug, "crash", message, None, flags, where, crash=True)

    def _late(self, step: Refuse, data: Mapping[str, Any]) -> EntryInfo:
        ground = data["ground"]
        where = Ground(
            ground["file"],
            ground["symbol"],
            _span(ground["sglang"]),
            step.place.line or None,
            ground.get("checked", "validator"),
        )
        return EntryInfo(
            data["code"],
            data["slug"],
            "refuse",
            data["reason"],
            data.get("remedy"),
            self.wording.flags(step.when),
            where,
            step.stage,
            step.raises,
            crash=bool(data.get("crash", False)),
            curated=True,
            weight=data.get("weight", 1),
        )

    def _late_words(self) -> None:
        path = self.root / "words" / f"{self.release}.json"
        if path.exists():
            for code, hashes in json.loads(path.read_text(encoding="utf-8")).items():
                self.words[code] = dict.fromkeys(hashes)


def _parse_info(known: ParseCode, release: str) -> EntryInfo:
    ground = Ground("server_args.py", "prepare_server_args", f"=={release}")
    return EntryInfo(
        known.code,
        known.slug,
        "parse",
        known.reason,
        known.remedy,
        (),
        ground,
        "parse",
        "SystemExit",
        curated=True,
    )


def _report_info(data: Mapping[str, Any]) -> EntryInfo:
    ground = data.get("ground", {})
    where = Ground(
        ground.get("file", ""),
        ground.get("symbol", ""),
        _span(ground.get("sglang", data.get("sglang", ""))),
        None,
        ground.get("checked", "reported"),
    )
    return EntryInfo(
        data["code"],
        data["slug"],
        "report",
        data["reason"],
        data.get("remedy"),
        tuple(data.get("flags", ())),
        where,
        data.get("stage", "request"),
        curated=True,
    )


def _span(releases: str | list[str]) -> str:
    return releases if isinstance(releases, str) else ", ".join(releases)


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _registry(root: Path) -> Registry:
    path = root / "codes.toml"
    return load_registry(_toml(path)) if path.exists() else Registry()


def _complete(registry: Registry, program: Program) -> Registry:
    """The registry, continued in memory where the program has entries that it lacks."""
    index = registry.index(program.release)
    steps = [s for s in program.steps if isinstance(s, (Refuse, Set)) and not _is_late(s)]
    known = all(("refuse" if isinstance(s, Refuse) else "set", s.key) in index for s in steps)
    if known and program.release in registry.releases:
        return registry
    read = Program(program.release, tuple(s for s in program.steps if not _is_late(s)))
    return update_registry([read], registry)


def _is_late(step: Any) -> bool:
    return isinstance(step, Refuse) and step.key.startswith("KV")


def _late_entries(root: Path, release: str) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted(root.glob("7[0-9]-*.toml")):
        for item in read_curated(path).get("entry", []):
            if confirmed(release, item["ground"]["sglang"]):
                found[item["code"]] = item
    return found


def _speller(root: Path, release: str) -> Callable[[str], str | None]:
    table = FlagTable.load(root / "flags" / f"{release}.json")

    def spelling(dest: str) -> str | None:
        flags = table.by_dest(dest)
        return flags[0].name if flags else None

    return spelling


def _dashed(name: str) -> str:
    return "-".join(part for part in name.lower().split("_") if part)


def _slug(step: Refuse | Set, code: str) -> str:
    """A name for an entry without a text: what it is about and the digits of its code."""
    if isinstance(step, Set):
        return f"sets-{_dashed(step.name.removeprefix('raw.'))}-{code[2:]}"
    return f"{_dashed(function_name(step.place.symbol))}-{code[2:]}"
