"""The list of entries that nothing is known to meet."""

from __future__ import annotations

import pytest

from kvsolve.answers.explain import explain
from kvsolve.outputs.entry_text import entry_text
from kvsolve.packs.unmet import UnmetError, load_unmet
from tests.conformance.cases import CASES, read_file


def test_no_entry_of_the_list_has_a_case() -> None:
    listed = {(code, unmet.release) for code, unmet in load_unmet().items()}
    cased = {(case["code"], case["sglang"]) for case in read_file(CASES / "args.jsonl.gz")}
    assert listed
    assert listed & cased == set()


def test_explain_says_how_far_the_search_went() -> None:
    code, unmet = next(iter(load_unmet().items()))
    told = explain(code, sglang=unmet.release)
    assert told.unmet == unmet.text
    assert "not met" in entry_text(told.to_dict(), width=400)
    assert unmet.text in entry_text(told.to_dict(), width=400)


def test_a_list_that_does_not_say_why_is_an_error(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "unmet.toml"
    path.write_text('[KV1000]\nrelease = "0.5.23"\nwhy = "because"\nsettings = 1\n')
    with pytest.raises(UnmetError, match="KV1000"):
        load_unmet(path)


def test_a_reason_that_was_read_is_told(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "unmet.toml"
    path.write_text('[KV1000]\nrelease = "0.5.23"\nwhy = "read"\nreason = "it is shadowed"\n')
    assert load_unmet(path)["KV1000"].text == "it is shadowed (read in the source of 0.5.23)"
    without = tmp_path / "without.toml"
    without.write_text('[KV1000]\nrelease = "0.5.23"\nwhy = "read"\n')
    with pytest.raises(UnmetError, match="KV1000"):
        load_unmet(without)
