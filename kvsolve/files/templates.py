"""Templates: Helm charts, Jinja, GitHub's expressions.

What stands between braces is not known before somebody renders it. It becomes one mark each, so
that the rest of the file reads as what it will be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.strand import Strand, joined

if TYPE_CHECKING:
    from kvsolve.files.unknown import Unknowns

__all__ = ["is_template", "without_templates"]

_BRACES = re.compile(r"\$?\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_FILLED = "a template fills it in"


def is_template(text: str) -> bool:
    """Whether a text has braces that somebody fills in."""
    return "{{" in text or "{%" in text


def without_templates(strand: Strand, unknowns: Unknowns) -> tuple[Strand, tuple[int, ...]]:
    """The text with a mark for each part that a template fills in.

    Args:
        strand: The text.
        unknowns: Keeps what is not known.

    Returns:
        The text, lines that hold nothing but a template left empty; and the offsets of those lines:
        around them more or less may come out.
    """
    text, at = strand.text, strand.at
    parts: list[Strand] = []
    directives: list[int] = []
    done = 0
    for match in _BRACES.finditer(text):
        start, end = match.span()
        parts.append(strand.part(done, start))
        done = end
        if _alone(text, start, end) or text[start : start + 2] == "{#":
            directives.append(at[start])
        else:
            first, last = strand.span(start, end)
            parts.append(Strand(unknowns.mark(match.group(), _FILLED), [first], [last]))
    parts.append(strand.part(done, len(strand)))
    return joined(parts), tuple(directives)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether the line holds templates only."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : len(text) if last < 0 else last]
    return not _BRACES.sub("", line).strip() and not line.lstrip().startswith("- ")
