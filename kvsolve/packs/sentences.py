"""Phrases put together to sentences: which to tell, and in what order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.packs.phrase_book import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.packs.phrase_book import Phrase

__all__ = ["circumstances", "most_telling", "together", "without_repeats"]

_MOST_PHRASES = 6


def without_repeats(phrases: Sequence[Phrase]) -> list[Phrase]:
    """Phrases without those that another phrase makes plain.

    A bare flag goes where another phrase says more of it, what a flag is not where it is not given
    at all, and a second list of models' architectures.
    """
    used = [p.text for p in phrases if p.role == "flag"]
    absent = {p.text for p in phrases if p.role == "without"}
    kept: list[Phrase] = []
    for p in phrases:
        more = p.role == "flag" and any(t != p.text and t.startswith(f"{p.text} ") for t in used)
        unset = p.role == "flag" and " other than " in p.text and p.text.split()[0] in absent
        again = _is_architecture(p) and any(map(_is_architecture, kept))
        if not (more or unset or again):
            kept.append(p)
    return kept


def _is_architecture(phrase: Phrase) -> bool:
    return phrase.role == "clause" and phrase.text.startswith("the model's architecture is ")


def most_telling(phrases: list[Phrase]) -> list[Phrase]:
    """The phrases to show where there are too many: what is used before what is not, the last
    conditions before the first."""
    if len(phrases) <= _MOST_PHRASES:
        return phrases
    rank = {"flag": 0, "where": 1, "clause": 2, "without": 3}
    order = sorted(range(len(phrases)), key=lambda i: (rank[phrases[i].role], -i))
    kept = set(order[:_MOST_PHRASES])
    return [p for i, p in enumerate(phrases) if i in kept]


def together(texts: list[str]) -> str:
    """Flags used together: ``--a with --b and --c``."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{texts[0]} with {listed(texts[1:], 'and', 10)}"


def circumstances(phrases: Sequence[Phrase], further: Sequence[str] = ()) -> str:
    """Everything but the flags that are used, as the end of a sentence.

    Args:
        phrases: What has a wording.
        further: What conditions without a short wording are about.
    """
    by_role: dict[str, list[str]] = {}
    for phrase in phrases:
        by_role.setdefault(phrase.role, []).append(phrase.text)
    parts = []
    if without := by_role.get("without"):
        parts.append(f" without {listed(without, 'and', 10)}")
    if where := by_role.get("where"):
        parts.append(" " + ", ".join(where))
    clauses = by_role.get("clause", [])
    if clauses:
        parts.append(f" when {listed(clauses, 'and', 10)}")
    told = " ".join(p.text for p in phrases)
    new = [subject for subject in further if subject not in told]
    if new:
        parts.append(f", depending on {listed(new, 'and')}")
    elif further:
        parts.append(f", for some values of {listed(list(further), 'and')}")
    return "".join(parts)
