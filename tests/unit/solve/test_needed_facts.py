"""Taking away what can be spared, several at once, as one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kvsolve.solve.needed_facts import fewest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

NAMES = "abcdefgh"


def one_by_one(members: Sequence[str], sufficient: Collection[frozenset[str]]) -> list[str]:
    """What is left when each member in turn is taken away where the others suffice."""
    kept = list(members)
    for member in members:
        others = [m for m in kept if m != member]
        if any(wanted <= set(others) for wanted in sufficient):
            kept = others
    return kept


@given(st.lists(st.frozensets(st.sampled_from(NAMES)), max_size=5))
def test_what_is_left_is_what_taking_away_one_by_one_leaves(found: list[frozenset[str]]) -> None:
    sufficient = [*found, frozenset(NAMES)]
    kept = fewest(NAMES, lambda members: any(wanted <= set(members) for wanted in sufficient))
    assert kept == one_by_one(NAMES, sufficient)


def test_what_nothing_needs_is_taken_away_at_once() -> None:
    asked: list[Sequence[str]] = []

    def suffice(members: Sequence[str]) -> bool:
        asked.append(members)
        return True

    assert fewest(NAMES, suffice) == []
    assert len(asked) == 1
