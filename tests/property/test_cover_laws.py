"""Counts are lengths of lists, samples are fair, and covering arrays cover what is feasible."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.solve.cover import cover
from kvsolve.solve.lowering.counting import Counting
from kvsolve.solve.lowering.lower import Lowered, lower
from kvsolve.solve.lowering.projection import projection
from kvsolve.solve.lowering.tables import assignments
from tests.property.strategies import VALUES, Case, cases, random_case
from tests.property.test_lowering_laws import is_surely_valid, members, naive, subsets

if TYPE_CHECKING:
    from kvsolve.model.context import Config

_CHI_SQUARE_999 = 3.0902
"""The standard normal deviate that one draw in a thousand exceeds."""


def of(case: Case, vary: list[str]) -> Lowered:
    return lower(case.prepared, case.config, vary=dict.fromkeys(vary))


@settings(max_examples=250, deadline=None)
@given(cases(), subsets)
def test_listing_and_counting_are_the_filtered_product(case: Case, vary: list[str]) -> None:
    lowered = of(case, vary)
    expected = naive(case, lowered)
    assert list(assignments(lowered)) == [at for at in members(lowered) if at in expected]
    counting = Counting(lowered)
    assert counting.exact
    assert counting.lower == len(expected)


@settings(max_examples=150, deadline=None)
@given(cases(), subsets)
def test_bounds_hold_when_there_is_no_time(case: Case, vary: list[str]) -> None:
    counting = Counting(of(case, vary), deadline=0.0)
    assert counting.lower <= len(naive(case, counting.lowered)) <= counting.upper


@settings(max_examples=60, deadline=None)
@given(cases(), subsets)
def test_every_sample_is_valid(case: Case, vary: list[str]) -> None:
    counting = Counting(of(case, vary))
    if counting.lower:
        source = random.Random(case.seed)
        for _ in range(20):
            assert is_surely_valid(case, counting.lowered.config_at(counting.draw(source)))


def test_samples_are_uniform() -> None:
    """Chi-square, by the Wilson and Hilferty approximation, on ten packs with a fixed seed."""
    tried = 0
    for seed in range(200):
        case = random_case(seed)
        counting = Counting(of(case, ["codec", "depth", "extra", "bravo"]))
        cells = counting.lower
        if cells < 6:
            continue
        draws, source = 200 * cells, random.Random(seed)
        seen = Counter(counting.draw(source) for _ in range(draws))
        assert len(seen) == cells
        chi = sum((n - 200) ** 2 / 200 for n in seen.values())
        freedom = cells - 1
        spread = 2 / (9 * freedom)
        assert ((chi / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5 < _CHI_SQUARE_999
        tried += 1
        if tried == 10:
            return
    raise AssertionError("too few packs with several valid configurations")


@settings(max_examples=100, deadline=None)
@given(cases(), subsets, st.integers(1, 3))
def test_projection_is_what_can_be_completed(case: Case, vary: list[str], keep: int) -> None:
    lowered = of(case, vary)
    kept = list(range(len(lowered.dests)))[:keep]
    good, bad = projection(lowered, kept)
    expected = {tuple(at[v] for v in kept) for at in naive(case, lowered)}
    part = of(case, [lowered.dests[v] for v in kept])
    rows = members(part)
    assert {row for n, row in enumerate(rows) if good >> n & 1} == expected
    assert good ^ bad == (1 << len(rows)) - 1


@settings(max_examples=150, deadline=None)
@given(cases(), st.lists(st.sampled_from(sorted(VALUES)), min_size=3, max_size=5, unique=True))
def test_a_cover_has_every_feasible_combination(case: Case, vary: list[str]) -> None:
    for strength in (2, 3):
        found = cover(case.prepared, case.config, strength=strength, vary=dict.fromkeys(vary))
        lowered = of(case, vary)
        assert found.complete
        assert all(is_surely_valid(case, row) for row in found.rows)
        valid = [lowered.config_at(at) for at in naive(case, lowered)]
        assert _covered(found.rows, found.dests, strength) == _covered(valid, found.dests, strength)
        refuted = {tuple((d, repr(c[d])) for d in found.dests if d in c) for c in found.infeasible}
        every = _covered([lowered.config_at(at) for at in members(lowered)], found.dests, strength)
        assert refuted == every - _covered(valid, found.dests, strength)


def _covered(
    configs: list[Config] | tuple[Config, ...], dests: tuple[str, ...], strength: int
) -> set[tuple[tuple[str, str], ...]]:
    return {
        tuple((d, repr(config.values[d])) for d in chosen)
        for config in configs
        for chosen in combinations(dests, strength)
    }
