"""From what readers find to commands whose words have places."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.files.found import FoundCommand, Layout, Token, Unresolved
from kvsolve.files.unknown import has_unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.files.found import Document
    from kvsolve.files.shell import Launch
    from kvsolve.files.shell_values import Field
    from kvsolve.files.unknown import Unknowns

__all__ = ["command_of_launch", "shared_locked", "split_environment", "token_of"]


def token_of(
    field: Field, layout: Layout, unknowns: Unknowns, uses: Mapping[str, int] | None = None
) -> Token:
    """A word with its place.

    Args:
        field: The word.
        layout: How the words around it are set out.
        unknowns: Keeps what is not known.
        uses: How often the script expands each variable.
    """
    text = field.strand.text
    unknown = "; ".join(unknowns.reasons(text)) if has_unknown(text) else ""
    often = sorted(name for name in field.via if (uses or {}).get(name, 0) > 1)
    locked = field.locked or ("" if field.strand.mapped else "its place in the file is not certain")
    if often and not locked:
        locked = f"it comes from ${often[0]}, which is used {(uses or {})[often[0]]} times"
    return Token(
        unknowns.written(text),
        field.start,
        field.end,
        layout._replace(group=field.group, alone=field.alone),
        field.quote,
        unknown,
        locked or unknown,
        field.splits,
    )


def split_environment(
    env: Mapping[str, str], unknowns: Unknowns
) -> tuple[dict[str, str], dict[str, str]]:
    """The variables that are known, and the reasons for those that are not."""
    known = {name: text for name, text in env.items() if not has_unknown(text)}
    reasons = {
        name: "; ".join(unknowns.reasons(text)) for name, text in env.items() if has_unknown(text)
    }
    return known, reasons


def command_of_launch(
    launch: Launch, document: Document, unknowns: Unknowns, form: str = "shell"
) -> FoundCommand:
    """A launch command of a script as a found one."""
    layout = Layout("shell", 0, nested=launch.nested)
    tokens = tuple(token_of(f, layout, unknowns, launch.uses) for f in launch.fields)
    known, reasons = split_environment(launch.env, unknowns)
    location = document.location(launch.start)
    return FoundCommand(tokens, form, location, known, reasons, launch.image)


def shared_locked(commands: Iterable[FoundCommand]) -> list[FoundCommand]:
    """The commands, words that several of them share locked."""
    found = list(commands)
    counts = Counter((t.start, t.end) for c in found for t in c.tokens if t.end > t.start)
    shared = {span for span, count in counts.items() if count > 1}
    if not shared:
        return found
    return [replace(c, tokens=_locked(c.tokens, shared)) for c in found]


def _locked(tokens: Sequence[Token], shared: set[tuple[int, int]]) -> tuple[Token, ...]:
    reason = "several commands share it"
    return tuple(
        t._replace(locked=t.locked or reason) if (t.start, t.end) in shared else t for t in tokens
    )


def notes_for(offsets: Iterable[int], reason: str, text: str = "") -> tuple[Unresolved, ...]:
    """Remarks about places of a file."""
    return tuple(Unresolved(text, reason, offset) for offset in offsets)
