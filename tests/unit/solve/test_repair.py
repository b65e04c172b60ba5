"""Repairs of small hand-made packs, each with the point it makes."""

from __future__ import annotations

from kvsolve.model.flag import Flag
from kvsolve.model.program import Program, Refuse, Set
from kvsolve.model.syntax import parse
from kvsolve.solve.repair import command_tokens, repair
from tests.property.strategies import PLACE, config_of, prepared_of

FLAGS = (
    Flag("feature", ("--feature",), action="store_true", nargs=0, default=False),
    Flag("quiet", ("--quiet",), action="store_true", nargs=0, default=False),
    Flag("size", ("--size", "--size-of"), type="int", default=None),
    Flag("backend", ("--backend",), choices=("x", "y", "z"), default=None),
    Flag("target", ("--target",), required=True, default=None),
)


def prepared(*refusals: str, sets: tuple[tuple[str, str, str], ...] = ()):  # type: ignore[no-untyped-def]
    steps = [Set(n, parse(v), parse(w), PLACE, "declare") for n, v, w in sets]
    steps += [Refuse("ValueError", parse(r), PLACE) for r in refusals]  # type: ignore[misc]
    return prepared_of(Program("0.0.1", tuple(steps)), flags=FLAGS)


def test_adding_what_is_missing_beats_taking_away_what_was_asked_for() -> None:
    context = prepared("feature and not quiet")
    config = config_of(context.pack.flags, {"target": "m", "feature": True})
    first, second = repair(context, config).repairs
    assert [(e.op, e.flag) for e in first.edits] == [("add", "--quiet")]
    assert [(e.op, e.flag) for e in second.edits] == [("remove", "--feature")]
    assert (first.cost, second.cost) == (1, 3)
    assert first.argv == ("--target", "m", "--feature", "--quiet")
    assert first.optimal
    assert first.removes == ("KV0000",)


def test_dropping_the_feature_is_shown_beside_many_ways_to_keep_it() -> None:
    context = prepared(
        "feature and not quiet and size != 1 and backend != 'x'",
    )
    config = config_of(context.pack.flags, {"target": "m", "feature": True})
    answer = repair(context, config, k=3)
    ops = [[(e.op, e.dest) for e in r.edits] for r in answer.repairs]
    assert [("remove", "feature")] in ops
    plain = repair(context, config, k=3, both_ways=False)
    assert all(r.cost == 1 for r in plain.repairs)


def test_a_kept_pin_that_would_be_rewritten_ranks_last_and_is_marked() -> None:
    rule = ("size", "64", "backend == 'y'")
    context = prepared(
        "backend is None", "backend == 'x'", "backend == 'z' and not quiet", sets=(rule,)
    )
    config = config_of(context.pack.flags, {"target": "m", "size": 32})
    first, *_, last = repair(context, config, pins=["size"]).repairs
    assert {e.dest: e.value for e in first.edits} == {"backend": "z", "quiet": True}
    assert first.rewritten == ()
    assert {e.dest: e.value for e in last.edits} == {"backend": "y"}
    assert last.rewritten == ("size",)


def test_required_flags_and_held_ones_are_never_edited() -> None:
    context = prepared("target == 'm' and backend == 'x'")
    config = config_of(context.pack.flags, {"target": "m", "backend": "x"})
    (only,) = repair(context, config, k=1).repairs
    assert [e.dest for e in only.edits] == ["backend"]
    none = repair(context, config, held=["backend"])
    assert none.repairs == ()
    assert none.feasible is False


def test_a_valid_command_has_the_empty_repair() -> None:
    context = prepared("feature")
    answer = repair(context, config_of(context.pack.flags, {"target": "m"}))
    assert [r.edits for r in answer.repairs] == [()]


def test_a_passed_deadline_still_gives_a_repair_and_says_it_is_not_proven() -> None:
    context = prepared("feature and not quiet")
    config = config_of(context.pack.flags, {"target": "m", "feature": True})
    answer = repair(context, config, time_limit=-1.0)
    assert answer.bound == 0
    assert all(not r.optimal for r in answer.repairs)
    assert answer.feasible is not False


def test_tokens_keep_the_users_spelling() -> None:
    context = prepared("size == 3")
    config = config_of(context.pack.flags, {"target": "m"})
    given = {**config.given, "size": "--size-of"}
    typed = type(config)({**config.values, "size": 3}, given)
    assert command_tokens(typed, context.pack.flags) == ("--target", "m", "--size-of", "3")
    (best, *_) = repair(context, typed, k=1).repairs
    assert best.edits[0].flag == "--size-of"
