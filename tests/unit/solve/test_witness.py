"""Witnesses of small hand-made programs, each with the point it makes."""

from __future__ import annotations

from kvsolve.model.flag import Flag
from kvsolve.model.program import Program, Refuse, Set
from kvsolve.model.syntax import parse
from kvsolve.packs.evaluate import Write
from kvsolve.solve.witness import Stage, kept_change
from tests.property.strategies import PLACE, config_of, prepared_of

FLAGS = (
    Flag("feature", ("--feature",), action="store_true", nargs=0, default=False),
    Flag("quiet", ("--quiet",), action="store_true", nargs=0, default=False),
    Flag("size", ("--size",), type="int", default=None),
    Flag("backend", ("--backend",), choices=("x", "y", "z"), default=None),
    Flag("target", ("--target",), required=True, default=None),
)


def stage(*steps):  # type: ignore[no-untyped-def]
    made = []
    for step in steps:
        if isinstance(step, str):
            made.append(Refuse("ValueError", parse(step), PLACE))
        else:
            name, value, when = step
            made.append(Set(name, parse(value), parse(when), PLACE, "declare"))
    prepared = prepared_of(Program("0.0.1", tuple(made)), flags=FLAGS)
    return Stage(prepared, config_of(prepared.pack.flags, {"target": "m"}))


def given(config):  # type: ignore[no-untyped-def]
    return {dest: config.values[dest] for dest in config.given if dest != "target"}


def test_the_cheapest_configuration_that_meets_a_refusal_first() -> None:
    found = stage("feature", "backend == 'y' and size is not None and size > 100")
    second = found.breaking(1).config
    assert second is not None
    assert set(given(second)) == {"backend", "size"}
    assert given(second)["size"] > 100


def test_a_refusal_behind_another_that_always_comes_first_is_proven_hidden() -> None:
    found = stage("feature", "feature and quiet")
    hidden = found.breaking(1)
    assert hidden.config is None
    assert hidden.proven
    assert hidden.behind == (0,)


def test_a_guard_that_nothing_makes_true_is_proven_impossible() -> None:
    found = stage("feature and not feature", "size == 3 and size == 4")
    assert [found.breaking(step).config for step in (0, 1)] == [None, None]
    assert all(found.breaking(step).proven for step in (0, 1))


def test_a_write_is_shown_where_nothing_refuses_and_it_has_the_last_word() -> None:
    found = stage(
        ("size", "64", "backend == 'x'"), ("size", "32", "not quiet"), "backend == 'x' and feature"
    )
    first = found.breaking(0).config
    assert first is not None
    assert given(first) == {"backend": "x", "quiet": True}


def test_a_write_that_a_later_one_always_undoes_is_proven_hidden() -> None:
    found = stage(("size", "64", "feature"), ("size", "32", "feature"))
    assert found.breaking(0).config is None
    assert found.breaking(1).config is not None


def test_what_is_near_a_breaking_configuration_is_one_edit_away() -> None:
    found = stage("feature and backend == 'y'")
    breaks = found.breaking(0).config
    assert breaks is not None
    near = [given(config) for config in found.near(breaks, [0])]
    assert {"feature": True} in near
    assert {"backend": "y"} in near
    assert all(len(set(edit.items()) ^ set(given(breaks).items())) <= 2 for edit in near)


def test_the_mended_configuration_is_accepted() -> None:
    found = stage("feature and backend == 'y'", "backend is None")
    breaks = found.breaking(0).config
    assert breaks is not None
    mended = found.mended(breaks)
    assert mended is not None
    assert found.prepared.broken(mended) == ()


def test_what_a_write_changed_is_looked_for_inside_of_mappings() -> None:
    before = {"decode": {"backend": "full"}, "prefill": {"backend": None}}
    after = {"decode": {"backend": "full"}, "prefill": {"backend": "eager"}}
    kept = kept_change(Write(0, before, after), after)
    assert kept == (("prefill", "backend"), "eager")
    undone = {"decode": {"backend": "off"}, "prefill": {"backend": None}}
    assert kept_change(Write(0, before, after), undone) is None
    assert kept_change(Write(0, 1, 2), 2) == ((), 2)
    assert kept_change(Write(0, 1, 1), 1) is None
