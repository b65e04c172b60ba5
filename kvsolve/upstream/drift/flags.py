"""How the options of two releases differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.model.flag import UNSET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.inputs.history import Rename
    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["FlagChange", "FlagDrift", "compare_flags"]

_COMPARED = ("action", "type", "nargs", "const", "required", "deprecated", "hidden", "dest")


@dataclass(frozen=True, slots=True)
class FlagChange:
    """One property of an option that is not what it was.

    Attributes:
        flag: Canonical spelling in the new release.
        what: ``default``, ``choices``, ``spellings`` or a column of the table.
        before: As it was.
        after: As it is.
    """

    flag: str
    what: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class FlagDrift:
    """How the options of two releases differ.

    Attributes:
        added: Canonical spellings that only the new release has.
        removed: Spellings that only the old release has.
        renamed: Old spelling -> what takes its place.
        changed: Everything else.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: Mapping[str, str]
    changed: tuple[FlagChange, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.renamed or self.changed)


def compare_flags(old: FlagTable, new: FlagTable, renames: Mapping[str, Rename]) -> FlagDrift:
    """Compare the options of two releases.

    Args:
        old: Options of the older release.
        new: Of the newer one.
        renames: Known replacements, old spelling -> rename.
    """
    gone = sorted({s for flag in old for s in flag.spellings if s not in new})
    renamed = {s: " ".join(found) for s in gone if (found := _instead(s, old, new, renames))}
    taken = {name.split(" ")[0] for name in renamed.values()}
    fresh = {f.name for f in new if not any(s in old for s in f.spellings)}
    kept = [(f, old.by_spelling(s)) for f in new for s in f.spellings[:1] if s in old]
    kept += [(f, old.by_spelling(s)) for f in new for s in _older_names(f, old)]
    return FlagDrift(
        tuple(sorted(fresh - taken)),
        tuple(s for s in gone if s not in renamed),
        renamed,
        tuple(change for after, before in kept for change in _changes(before, after)),
    )


def _older_names(flag: Flag, old: FlagTable) -> list[str]:
    """The spelling under which the old release knows an option whose canonical one is new."""
    return [] if flag.name in old else [s for s in flag.spellings[1:] if s in old][:1]


def _instead(
    spelling: str, old: FlagTable, new: FlagTable, renames: Mapping[str, Rename]
) -> tuple[str, ...]:
    """What to write for an option that is gone; empty where nothing takes its place."""
    known = renames.get(spelling)
    if known is not None and known.new in new:
        return known.tokens()
    dest = old.by_spelling(spelling).dest
    same = list(new.by_dest(dest)) if dest in {f.dest for f in new} else []
    return (same[0].name,) if same and same[0].name != spelling else ()


def _changes(before: Flag, after: Flag) -> Iterator[FlagChange]:
    for what in _COMPARED:
        was, now = getattr(before, what), getattr(after, what)
        if was != now:
            yield FlagChange(after.name, what, was, now)
    if before.default != after.default:
        yield FlagChange(after.name, "default", _shown(before.default), _shown(after.default))
    if before.choices != after.choices or before.choices_by_env != after.choices_by_env:
        yield FlagChange(after.name, "choices", _choices(before), _choices(after))
    if set(before.spellings) != set(after.spellings):
        yield FlagChange(after.name, "spellings", list(before.spellings), list(after.spellings))


def _shown(default: Any) -> Any:
    return "(another option's)" if default is UNSET else default


def _choices(flag: Flag) -> list[Any] | None:
    if flag.choices is None:
        return None
    more = [f"{value} (with {name})" for name, values in flag.choices_by_env for value in values]
    return [*flag.choices, *more]
