"""Making the catalog of a release from its program, the registry of codes and the curated texts.

Apart from :mod:`kvsolve.packs.catalog`, since a check reads one made before and needs none of this.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from kvsolve.model.finding import Ground
from kvsolve.model.flag import FlagTable
from kvsolve.model.program import Program, Refuse, Set
from kvsolve.packs.catalog import Catalog, EntryInfo
from kvsolve.packs.code_assignment import update_registry
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.late import confirmed, read_curated
from kvsolve.packs.parse_codes import PARSE_CODES, ParseCode
from kvsolve.packs.phrase_book import PhraseBook
from kvsolve.packs.registry import Registry, function_name, load_registry
from kvsolve.packs.reports import Report, read_reports
from kvsolve.packs.shares import Shares
from kvsolve.packs.texts import Text, read_texts, text_for
from kvsolve.packs.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["load_catalog", "release_range"]

_UNNAMED_CRASH = "KV3000"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


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
        spelling = _speller(root, release)
        self.wording = Wording(program, spelling, book)
        self.shares = Shares(self.wording.results, spelling, book)
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
        place = (step.key, step.place.file, step.place.symbol)
        if isinstance(step, Refuse) and place in self.late:
            return self._late(step, self.late[place])
        kind = "refuse" if isinstance(step, Refuse) else "set"
        code = self.index[kind, step.key]
        if isinstance(step, Refuse):
            self.words.setdefault(code, {}).update(dict.fromkeys(step.words))
        text = text_for(self.texts, code, self.release)
        share = self.shares.of(step) if isinstance(step, Refuse) and not text else None
        if share:
            text = Text(code, f"{share.slug}-{code[2:]}", share.reason, share.remedy)
        return EntryInfo(
            code,
            text.slug if text else _slug(step, code),
            kind,
            text.reason if text else self.wording.reason(step),
            self._remedy(step, text),
            share.flags if share else self._flags(step),
            self._ground(code, step),
            step.stage if isinstance(step, Refuse) else "args",
            step.raises if isinstance(step, Refuse) else None,
            None if isinstance(step, Refuse) else step.name.removeprefix("raw."),
            curated=text is not None and not share,
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
        flags = self.wording.flags(getattr(step, "value", step.when))
        slug = f"breaks-in-{_dashed(function)}" if function else "breaks"
        told = self.wording.broken(step)
        if told is not None:
            return EntryInfo(code, slug, "crash", *told, flags, where, crash=True)
        message = self.wording.crash(place.symbol if place else "argument resolution", flags)
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
    ground = Ground(known.file, known.symbol, f"=={release}")
    return EntryInfo(
        known.code,
        known.slug,
        "parse",
        known.reason,
        known.remedy,
        (),
        ground,
        "parse",
        known.raises,
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


def _late_entries(root: Path, release: str) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    """By code, file and function: a code may stand for one rule at several places."""
    found: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for path in sorted(root.glob("7[0-9]-*.toml")):
        for item in read_curated(path).get("entry", []):
            ground = item["ground"]
            if confirmed(release, ground["sglang"]):
                found[item["code"], ground["file"], ground["symbol"]] = item
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
    return f"{_dashed(_place_name(step.place.symbol))}-{code[2:]}"


def _place_name(symbol: str) -> str:
    """The function that a refusal stands in; for a constructor the class that it makes."""
    *owners, name = symbol.split(".")
    if name != "__init__" or not owners:
        return function_name(symbol)
    return _HUMP.sub("_", owners[-1])
