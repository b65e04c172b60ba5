"""What is made of what entries do in many contexts."""

from __future__ import annotations

from kvsolve.answers.lint_release import Seen, _is_settled, _remarks, profiles

A, B = ("h100", "llama-mha"), ("b200", "deepseek-v3")
LED = {"kind": "contradictory-remedy", "code": "KV1", "fault": True}


def test_an_entry_that_fires_and_whose_ways_out_help_somewhere_is_well() -> None:
    seen = {
        A: Seen("KV1", "alone", (("0: drop it", LED),)),
        B: Seen("KV1", "implied", (("0: drop it", None),)),
    }
    assert _is_settled(seen)
    assert list(_remarks("KV1", seen, whole=True)) == []


def test_a_way_out_that_never_helps_is_a_fault_once_all_contexts_were_seen() -> None:
    seen = {A: Seen("KV1", "alone", (("0: drop it", LED),))}
    assert not _is_settled(seen)
    (remark,) = _remarks("KV1", seen, whole=True)
    assert remark["fault"]
    assert remark["context"] == {"gpu": "h100", "model": "llama-mha"}
    assert not next(_remarks("KV1", seen, whole=False))["fault"]


def test_an_entry_that_never_fires_is_a_fault_only_where_everything_was_looked_at() -> None:
    seen = {A: Seen("KV1", "never"), B: Seen("KV1", "never")}
    assert next(_remarks("KV1", seen, whole=True))["kind"] == "never-fires"
    assert next(_remarks("KV1", seen, whole=True))["fault"]
    assert next(_remarks("KV1", seen, whole=False))["kind"] == "open"
    late = {A: Seen("KV1", "never"), B: Seen("KV1", "shadowed")}
    assert next(_remarks("KV1", late, whole=True))["kind"] == "shadowed"
    unsure = {A: Seen("KV1", "never"), B: Seen("KV1", "open")}
    remark = next(_remarks("KV1", unsure, whole=True))
    assert (remark["kind"], remark["fault"]) == ("open", False)


def test_every_pair_of_profiles_comes_once_and_unlike_ones_first() -> None:
    found = profiles(["a", "b", "c"], ["x", "y"])
    assert sorted(found) == sorted({(g, m) for g in "abc" for m in "xy"})
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]
