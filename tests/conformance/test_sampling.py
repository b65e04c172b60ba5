"""The sampler draws what it says, without a release at hand."""

from __future__ import annotations

import pytest

from kvsolve.inputs.argv import parse_argv

from .flag_pool import TABLES
from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.home import RELEASES
from .oracle.model_configs import DRAFTS, MODELS
from .sampling import Sampler, flag_table


@pytest.mark.parametrize("first_scope", [False, True])
def test_equal_seeds_draw_equal_configurations(first_scope):
    table = flag_table("0.5.23")
    once = list(Sampler(table, "s", first_scope=first_scope).draw(50))
    again = list(Sampler(table, "s", first_scope=first_scope).draw(50))
    other = list(Sampler(table, "t", first_scope=first_scope).draw(50))
    assert once == again
    assert [job["argv"] for job in once] != [job["argv"] for job in other]


@pytest.mark.parametrize("release", RELEASES)
def test_most_draws_of_the_first_scope_parse_and_stay_in_it(release):
    table = flag_table(release)
    jobs = list(Sampler(table, "scope", first_scope=True).draw(300))
    parsed = [parse_argv(["--model-path", "m", *job["argv"]], table) for job in jobs]
    good = [p for p in parsed if not p.problems]
    named = {dest for p in good for dest in p.given} - {"model_path"}
    assert len(good) > 270
    assert named <= {flag.dest for flag in table if flag.dest in TABLES["first_scope"]}
    assert len(named) > 25


def test_all_flags_are_drawn_far_beyond_those_near_the_boundary():
    table = flag_table("0.5.23")
    sampler = Sampler(table, "all")
    drawn = {token.partition("=")[0] for job in sampler.draw(4000) for token in job["argv"]}
    known = {flag.name for flag in table if drawn & set(flag.spellings)}
    assert len(known) > 0.75 * len(table)
    assert not known & set(TABLES["never"])


ONLY_FOR_CASES = {"npu-32g"}
"""Profiles that a case of an entry asks for and no draw does."""


def test_every_platform_and_model_of_the_tables_exists():
    groups = TABLES["models"].values()
    bundles = [bundle["models"] for bundle in TABLES["bundles"].values()]
    named = {model for group in [*groups, *bundles] for model in group}
    assert set(TABLES["platforms"]) == set(GPU_PROFILES) - ONLY_FOR_CASES
    assert named == set(MODELS)
    assert not named & set(DRAFTS)
