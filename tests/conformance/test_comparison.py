"""What counts as agreement, and what is left out."""

from __future__ import annotations

import pytest

from .comparison import Answer, Exclusions, compare, last_stage, load_exclusions
from .tally import tally
from .thresholds import reached

NONE = Exclusions(frozenset(), frozenset())
OK = {"status": "ok", "stage": "args", "resolved": {"page_size": 64, "tp_size": 1, "port": 3}}
REFUSED = {
    "status": "rejected",
    "stage": "args",
    "deliberate": True,
    "type": "ValueError",
    "where": {"file": "server_args.py", "symbol": "ServerArgs._check.<locals>.<genexpr>"},
}


def test_equal_values_agree_and_unstable_ones_are_not_looked_at():
    answer = Answer("ok", effective={"page_size": 64, "tp_size": 1, "port": 4, "other": 1})
    found = compare(OK, answer, NONE)
    assert found.verdict
    assert (found.values, found.differing) == (2, {})


def test_a_boolean_is_not_a_number():
    found = compare(OK, Answer("ok", effective={"tp_size": True}), NONE)
    assert found.differing == {"tp_size": (1, True)}


def test_an_object_equals_the_mapping_of_its_attributes():
    real = {"__object__": "Phase", "attributes": {"bs": [1, 2], "backend": "full"}}
    outcome = {**OK, "resolved": {"config": real}}
    same = Answer("ok", effective={"config": {"backend": "full", "bs": [1, 2]}})
    other = Answer("ok", effective={"config": {"backend": "full", "bs": [1]}})
    assert compare(outcome, same, NONE).differing == {}
    assert set(compare(outcome, other, NONE).differing) == {"config"}


@pytest.mark.parametrize(
    ("verdict", "agrees"),
    [("rejected", True), ("ok", False), ("unknown", False), ("parse-error", False)],
)
def test_only_the_same_verdict_agrees(verdict, agrees):
    assert compare(REFUSED, Answer(verdict), NONE).verdict is agrees


@pytest.mark.parametrize(
    ("file", "symbol", "agrees"),
    [
        ("server_args.py", "ServerArgs._check", True),
        ("server_args.py", "_check", True),
        ("server_args.py", "ServerArgs._other", False),
        ("arg_groups/x.py", "_check", False),
    ],
)
def test_the_place_is_file_and_innermost_named_function(file, symbol, agrees):
    assert compare(REFUSED, Answer("rejected", (file, symbol)), NONE).place is agrees


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ({**REFUSED, "status": "harness-error"}, "harness error"),
        ({**REFUSED, "missing_package": "x"}, "missing package"),
        ({**REFUSED, "deliberate": False, "stage": "pool"}, "unguarded crash at a late stage"),
        ({**REFUSED, "deliberate": False}, None),
        (REFUSED, None),
        (OK, None),
    ],
)
def test_standing_exclusions(outcome, reason):
    assert NONE.reason_to_skip("0.5.18", outcome) == reason


def test_a_listed_place_is_skipped_in_its_releases_only():
    place = ("0.5.18", REFUSED["where"]["file"], REFUSED["where"]["symbol"])
    listed = Exclusions(frozenset({place}), frozenset())
    assert listed.reason_to_skip("0.5.18", REFUSED) == "listed place"
    assert listed.reason_to_skip("0.5.23", REFUSED) is None


def test_an_exclusion_needs_a_reason(tmp_path):
    path = tmp_path / "exclusions.toml"
    path.write_text('[[field]]\nname = "page_size"\nreason = " "\n')
    with pytest.raises(ValueError, match="no reason"):
        load_exclusions(path)


def test_the_committed_exclusions_can_be_read():
    assert isinstance(load_exclusions(), Exclusions)


class Says:
    """A subject with one answer to everything."""

    def __init__(self, answer: Answer) -> None:
        self.only = answer

    def answer(self, release, job, stage):
        return self.only


def test_a_tally_counts_and_keeps_examples():
    outcomes = [
        {**OK, "judged_to": "args", "id": 1},
        {**REFUSED, "judged_to": "args", "id": 2},
        {**REFUSED, "judged_to": "args", "missing_package": "x"},
    ]
    total = tally("0.5.18", outcomes, Says(Answer("ok", effective={"page_size": 1})), NONE)
    told = total.to_dict()
    assert told["verdicts"] == [1, 2]
    assert told["values"] == [0, 1]
    assert told["skipped"] == {"missing package": 1}
    assert {entry["count"] for entry in told["disagreements"]} == {1}
    assert len(told["disagreements"]) == 2


def test_a_small_sample_passes_unless_chance_cannot_explain_it():
    assert reached("args: verdict", 999, 1000)
    assert not reached("args: verdict", 998, 1000)
    assert reached("args: verdict", 998, 1000, strict=False)
    assert not reached("args: verdict", 990, 1000, strict=False)
    assert not reached("repairs accepted", 999, 1000)
    assert reached("repairs accepted", 999, 1000, strict=False)
    assert not reached("repairs accepted", 950, 1000, strict=False)
    assert not reached("args: verdict", 0, 0, strict=False)


@pytest.mark.parametrize(
    ("status", "steps", "stage"),
    [
        ("ok", {"model_config": "ok", "backend": "ok"}, "attention"),
        ("ok", {"pool": "ok", "backend": "artefact: AttributeError at a.py:1"}, "pool"),
        ("ok", {"pool": "artefact: KeyError at a.py:1", "backend": "ok"}, "load"),
        ("rejected", {"pool": "artefact: KeyError at a.py:1"}, "attention"),
    ],
)
def test_what_a_stand_in_could_not_run_is_no_evidence(status, steps, stage):
    outcome = {"status": status, "judged_to": "attention", "outcomes": steps}
    assert last_stage(outcome) == stage
