"""Curated entries among the later stages of a program that was read."""

from itertools import groupby

import pytest

from kvsolve.model.finding import stage_rank
from kvsolve.model.program import Let, Place, Refuse
from kvsolve.packs.late import by_stage
from kvsolve.packs.pack import newest, read_full_program, releases

AT = Place("", "", 0, "")


def refusal(stage: str, key: str) -> Refuse:
    return Refuse("ValueError", True, AT, key, (), stage)


def name(wish: str) -> Let:
    return Let(wish, 1, True)


def keys(steps) -> list[str]:
    return [step.key if isinstance(step, Refuse) else step.name for step in steps]


def test_steps_stand_in_the_order_of_a_start_up() -> None:
    read = (
        refusal("args", "a"),
        name("n"),
        refusal("load", "b"),
        refusal("attention", "e"),
        refusal("pool", "c"),
    )
    late = (
        name("x"),
        refusal("load", "L"),
        refusal("pool", "P"),
        name("y"),
        refusal("attention", "A"),
        refusal("request", "R"),
    )
    assert keys(by_stage(read, late)) == ["a", "n", "b", "x", "L", "P", "c", "y", "A", "e", "R"]
    assert keys(by_stage(read[:3], late)) == ["a", "n", "b", "x", "L", "P", "y", "A", "R"]
    assert keys(by_stage(read, ())) == ["a", "n", "b", "c", "e"]


@pytest.mark.parametrize("release", sorted({newest(), "0.5.18", releases()[0]}))
def test_every_release_goes_from_stage_to_stage(release: str) -> None:
    steps = [s for s in read_full_program(release).steps if isinstance(s, Refuse)]
    stages = [stage for stage, _ in groupby(step.stage for step in steps)]
    assert stages == sorted(set(stages), key=stage_rank)
