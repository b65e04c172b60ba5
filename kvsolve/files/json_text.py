"""JSON as YAML reads it."""

from __future__ import annotations

import re

from kvsolve.files.strand import Strand, joined

__all__ = ["json_strand"]

_PAIR = re.compile(r"\\\\|\\u[dD][89abAB]([0-9a-fA-F]{2})\\u[dD][c-fC-F]([0-9a-fA-F]{2})")


def json_strand(strand: Strand) -> Strand:
    """A JSON text without the two things that YAML takes otherwise: tabs and halved characters."""
    text = strand.text
    if "\t" in text:  # in JSON's strings there are none
        strand = Strand(text.replace("\t", " "), strand.at, strand.to, mapped=strand.mapped)
    parts, done = [], 0
    for match in _PAIR.finditer(text):
        if match.group(1) is None:
            continue
        first, last = strand.span(*match.span())
        parts += [strand.part(done, match.start()), Strand(_character(match), [first], [last])]
        done = match.end()
    return joined([*parts, strand.part(done, len(strand))]) if done else strand


def _character(match: re.Match[str]) -> str:
    raw = bytes(int(match.group()[at : at + 2], 16) for at in (2, 4, 8, 10))
    return raw.decode("utf-16-be")
