"""The comparison of two releases as text, Markdown and plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.inputs.history import load_renames
from kvsolve.outputs.words import short_value
from kvsolve.packs.cataloguing import load_catalog
from kvsolve.packs.files import constraints_directory, read_toml
from kvsolve.packs.registry import load_registry
from kvsolve.upstream.drift.entries import compare_entries
from kvsolve.upstream.drift.flags import compare_flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.packs.catalog import EntryInfo
    from kvsolve.upstream.drift.entries import EntryChange, EntryDrift, EntryView
    from kvsolve.upstream.drift.flags import FlagChange, FlagDrift
    from kvsolve.upstream.drift.sides import Side

__all__ = ["Drift", "compare", "markdown", "plain", "text"]

_LONGEST = 160
_MOST_FLAGS = 4


@dataclass(frozen=True, slots=True)
class Drift:
    """What changes from one release to another.

    Attributes:
        old: The older release.
        new: The newer one.
        flags: Options.
        entries: Refusals and rewrites of argument resolution.
        infos: What a person reads of each entry, by code.
    """

    old: str
    new: str
    flags: FlagDrift
    entries: EntryDrift
    infos: Mapping[str, EntryInfo]


def compare(old: Side, new: Side) -> Drift:
    """Compare two releases.

    Raises:
        KvsolveError: A file of the packs is malformed.
    """
    root = constraints_directory() / "sglang"
    path = root / "renames.toml"
    renames = load_renames(path.read_text(encoding="utf-8"), path.name)
    registry = load_registry(read_toml(root / "codes.toml"))
    entries = compare_entries(old.program, new.program, registry)
    before = load_catalog(old.release, old.program)
    after = load_catalog(new.release, new.program)
    infos = {view.code: before.entry(view.position) for view in entries.removed}
    changed = (change.after for change in entries.changed)
    for view in (*entries.added, *changed, *entries.moved):
        infos[view.code] = after.entry(view.position)
    flags = compare_flags(old.flags, new.flags, renames)
    return Drift(old.release, new.release, flags, entries, infos)


def plain(drift: Drift) -> dict[str, Any]:
    """The comparison as JSON holds it."""
    entries = drift.entries
    return {
        "old": drift.old,
        "new": drift.new,
        "flags": {
            "added": list(drift.flags.added),
            "removed": list(drift.flags.removed),
            "renamed": dict(drift.flags.renamed),
            "changed": [_plain_flag(change) for change in drift.flags.changed],
        },
        "entries": {
            "added": [_plain_entry(view, drift) for view in entries.added],
            "removed": [_plain_entry(view, drift) for view in entries.removed],
            "changed": [_plain_change(change, drift) for change in entries.changed],
            "moved": [_plain_entry(view, drift) for view in entries.moved],
        },
    }


def _plain_flag(change: FlagChange) -> dict[str, Any]:
    return {
        "flag": change.flag,
        "what": change.what,
        "before": change.before,
        "after": change.after,
    }


def _plain_entry(view: EntryView, drift: Drift) -> dict[str, Any]:
    return {
        "code": None if view.provisional else view.code,
        "name": drift.infos[view.code].slug,
        "flags": list(drift.infos[view.code].flags),
        "reason": drift.infos[view.code].message,
        "kind": view.kind,
        "about": view.about,
        "symbol": view.symbol,
        "place": view.place,
        "guards": list(view.texts),
    }


def _plain_change(change: EntryChange, drift: Drift) -> dict[str, Any]:
    return {
        **_plain_entry(change.after, drift),
        "guards_before": list(change.before.texts),
        "no_longer_asks": list(change.no_longer),
        "newly_asks": list(change.newly),
    }


def text(drift: Drift) -> str:
    """The comparison for a terminal."""
    return "\n".join(_lines(drift, heading="{}", item="  {}", code="{}")) + "\n"


def markdown(drift: Drift) -> str:
    """The comparison as Markdown."""
    lines = list(_lines(drift, heading="\n## {}\n", item="- {}", code="`{}`"))
    return "\n".join([f"# {lines[0]}", *lines[1:]]) + "\n"


def _lines(drift: Drift, *, heading: str, item: str, code: str) -> Iterator[str]:
    yield f"SGLang {drift.old} to {drift.new}"
    sections = [*_flag_sections(drift.flags, code), *_entry_sections(drift, code)]
    if not any(items for _, items in sections):
        yield item.format("options, refusals and rewrites are the same")
    for title, items in sections:
        if items:
            yield heading.format(f"{title}: {len(items)}")
            yield from (item.format(line) for line in items)


def _flag_sections(drift: FlagDrift, code: str) -> list[tuple[str, list[str]]]:
    renamed = [f"{code.format(o)} is now {code.format(n)}" for o, n in drift.renamed.items()]
    return [
        ("options added", [code.format(name) for name in drift.added]),
        ("options removed", [code.format(name) for name in drift.removed]),
        ("options renamed", renamed),
        ("options changed", [_flag_line(change, code) for change in drift.changed]),
    ]


def _flag_line(change: FlagChange, code: str) -> str:
    name = f"{code.format(change.flag)}: {change.what}"
    if isinstance(change.before, (list, tuple)) and isinstance(change.after, (list, tuple)):
        gone = [short_value(v) for v in change.before if v not in change.after]
        came = [short_value(v) for v in change.after if v not in change.before]
        parts = [f"+ {', '.join(came)}"] * bool(came) + [f"- {', '.join(gone)}"] * bool(gone)
        return f"{name} {'; '.join(parts) or 'in another order'}"
    return f"{name} {_brief(change.before)} -> {_brief(change.after)}"


def _entry_sections(drift: Drift, code: str) -> list[tuple[str, list[str]]]:
    out = []
    for kind, word in (("refuse", "refusals"), ("set", "rewrites")):
        of = [
            ("added", [_entry_line(v, drift) for v in drift.entries.added if v.kind == kind]),
            ("removed", [_entry_line(v, drift) for v in drift.entries.removed if v.kind == kind]),
            ("changed", _change_lines(drift, kind, code)),
        ]
        out += [(f"{word} {what}", lines) for what, lines in of]
    out.append(("refusals moved", [_entry_line(view, drift) for view in drift.entries.moved]))
    return out


def _entry_line(view: EntryView, drift: Drift) -> str:
    info = drift.infos[view.code]
    code = "(no code yet)" if view.provisional else view.code
    flags = ", ".join("--" + name.replace("_", "-") for name in info.flags[:_MOST_FLAGS])
    parts = [f"{code} {info.slug}", flags, f"{view.place} {view.symbol}"]
    return "  ".join(part for part in parts if part)


def _change_lines(drift: Drift, kind: str, code: str) -> list[str]:
    changes = [c for c in drift.entries.changed if c.after.kind == kind]
    return [_entry_line(c.after, drift) + _asked(c, code) for c in changes]


def _asked(change: EntryChange, code: str) -> str:
    parts = [f"\n      + {code.format(_brief(q))}" for q in change.newly]
    parts += [f"\n      - {code.format(_brief(q))}" for q in change.no_longer]
    return "".join(parts) or f"\n      {_other(change)}"


def _other(change: EntryChange) -> str:
    same = change.before.kind == "refuse" or _values(change.before) == _values(change.after)
    return "the same questions, combined in another way" if same else "another value"


def _values(view: EntryView) -> Sequence[str]:
    return [found.partition(" if ")[0] for found in view.texts]


def _brief(value: Any) -> str:
    shown = value if isinstance(value, str) else short_value(value)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
