"""Finding the entry behind a pasted error without storing a word of upstream's text.

Upstream's messages are kept as hashes of short word runs: four consecutive words of a literal
part (a placeholder ends the part), lower-cased, the first eight hex digits of their SHA-256.
A message whose literal parts are all shorter is kept as the hashes of those parts. A pasted
text is cut into runs the same way, so equal words meet whatever stands in the placeholders.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "MOST_RUNS",
    "RUN_LENGTH",
    "Candidate",
    "Match",
    "hash_message",
    "hash_pasted",
    "rank",
    "words_of",
]

RUN_LENGTH = 4
"""Words in a run."""

MOST_RUNS = 16
"""Runs kept of a message: those with the smallest hashes, so that the choice is stable."""

_SHORTEST = 2
_FAINTEST = 0.05
_WORD = re.compile(r"[a-z0-9]+(?:[._'][a-z0-9]+)*")
_FRAME = re.compile(r'File "([^"]+)", line \d+, in ([\w<>.]+)')
_EXCEPTION = re.compile(r"^\s*(?:[\w.]+\.)?(\w+(?:Error|Exception|Exit|Interrupt))\b", re.MULTILINE)


def words_of(text: str) -> list[str]:
    """The words of a text, lower-cased; dashes and punctuation separate, underscores do not.

    >>> words_of("--page-size=64 needs attn_cp_size > 1.")
    ['page', 'size', '64', 'needs', 'attn_cp_size', '1']
    """
    return _WORD.findall(text.lower())


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]


def _runs(words: list[str], length: int) -> Iterator[str]:
    for start in range(len(words) - length + 1):
        yield _digest(words[start : start + length])


def hash_message(parts: Iterable[str]) -> tuple[str, ...]:
    """Hashes of a message, sorted, at most :data:`MOST_RUNS`.

    Args:
        parts: The literal parts of the message, in order; a placeholder stands between two.

    >>> hash_message(["Unknown backend ", "."]) == hash_message(["unknown backend"])
    True
    """
    cut = [words_of(part) for part in parts]
    found = {run for words in cut for run in _runs(words, RUN_LENGTH)}
    if not found:
        found = {_digest(words) for words in cut if len(words) >= _SHORTEST}
    return tuple(sorted(found)[:MOST_RUNS])


def hash_pasted(text: str) -> frozenset[str]:
    """Hashes of every run of a pasted text that a stored message could hold.

    Log prefixes and the line breaks of a terminal only cost the runs that they cut.
    """
    words = words_of(text)
    lengths = range(_SHORTEST, RUN_LENGTH + 1)
    return frozenset(run for length in lengths for run in _runs(words, length))


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known of an entry for the search.

    Attributes:
        code: Code of the entry.
        words: Hashes of upstream's message, over all its places and releases.
        symbols: Qualified names of the functions that raise it.
        files: Files of those, below ``sglang/srt``.
        raises: Exceptions.
    """

    code: str
    words: frozenset[str]
    symbols: frozenset[str]
    files: frozenset[str]
    raises: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that a pasted text may come from.

    Attributes:
        code: Code of the entry.
        score: Higher is likelier; 1 is a whole message.
        runs: Hashes that met.
        of: Hashes that the entry's message has.
        place: Whether the text names the function that raises it.
    """

    code: str
    score: float
    runs: int
    of: int
    place: bool


def _frames(text: str) -> Iterator[tuple[str, str]]:
    for path, function in _FRAME.findall(text):
        yield path.rpartition("sglang/srt/")[2], function.rpartition(".")[2]


def _same_place(candidate: Candidate, frames: Iterable[tuple[str, str]]) -> bool:
    names = {symbol.rpartition(".")[2] for symbol in candidate.symbols}
    return any(function in names and path in candidate.files for path, function in frames)


def rank(text: str, candidates: Iterable[Candidate], rarity: Mapping[str, int]) -> list[Match]:
    """The entries that a text may come from, likeliest first.

    A run counts by how few entries share it; of equal shares the longer message wins. The
    innermost frame of a traceback and the exception decide between entries with equal words; a
    frame alone is a weak hint.

    Args:
        text: Error text, log line or traceback.
        candidates: The entries.
        rarity: In how many entries each hash occurs.
    """
    pasted, frames = hash_pasted(text), list(_frames(text))[-1:]
    exceptions = set(_EXCEPTION.findall(text))
    matches = [_match(c, pasted, frames, exceptions, rarity) for c in candidates]
    return sorted((m for m in matches if m), key=lambda m: (-m.score, -m.runs, m.code))


def _match(
    candidate: Candidate,
    pasted: frozenset[str],
    frames: list[tuple[str, str]],
    exceptions: set[str],
    rarity: Mapping[str, int],
) -> Match | None:
    met = candidate.words & pasted
    place = _same_place(candidate, frames)
    if not met and not place:
        return None
    weight = sum(1 / rarity.get(run, 1) for run in sorted(met))
    total = sum(1 / rarity.get(run, 1) for run in sorted(candidate.words)) or 1.0
    share = weight / total
    # A message of a word or two is met in many texts; a long one hardly by chance.
    strength = min(len(met), 3) / 3
    score = share * strength + (0.3 if place else 0.0)
    if exceptions and not exceptions & candidate.raises:
        score *= 0.7
    if score < _FAINTEST:
        return None
    return Match(candidate.code, round(score, 4), len(met), len(candidate.words), place)
