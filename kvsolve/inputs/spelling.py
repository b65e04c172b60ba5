"""What a misspelt option or value was probably meant to be."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache

__all__ = ["misspelt", "nearest"]

_LIKE = 0.6
_SURELY = 0.85


@lru_cache(maxsize=512)
def nearest(word: str, known: tuple[str, ...], most: int = 3) -> tuple[str, ...]:
    """The known words closest to one, best first.

    Dashes, underscores and letter case do not count; neither does the order of the parts of a
    name, so ``--backend-attention`` finds ``--attention-backend``.
    """
    wanted, parts = _bare(word), _parts(word)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    scored = []
    for candidate in known:
        matcher.set_seq1(_bare(candidate))
        score = max(_alike(matcher), _overlap(parts, _parts(candidate)))
        if score >= _LIKE:
            scored.append((-score, candidate))
    return tuple(candidate for _, candidate in sorted(scored)[:most])


def misspelt(word: str, known: tuple[str, ...]) -> str:
    """The known word that another one is surely a misspelling of, "" where none or several are.

    Two words of the same letters but for one or two in ten are one word misspelt, unless a third
    is as near.
    """
    near = nearest(word, known, 2)
    scores = [SequenceMatcher(None, _bare(word), _bare(other), False).ratio() for other in near]
    if not scores or scores[0] < _SURELY or (len(scores) > 1 and scores[1] >= scores[0]):
        return ""
    return near[0]


def _alike(matcher: SequenceMatcher[str]) -> float:
    """The similarity of the letters, computed in full only where it can be enough."""
    if matcher.real_quick_ratio() < _LIKE or matcher.quick_ratio() < _LIKE:
        return 0.0
    return matcher.ratio()


def _bare(word: str) -> str:
    return word.lstrip("-").replace("-", "_").lower()


def _parts(word: str) -> frozenset[str]:
    return frozenset(_bare(word).split("_"))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of name parts in common, a little below a match of letters."""
    return 0.95 * len(a & b) / len(a | b)
