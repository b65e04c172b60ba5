"""The committed flag tables are the real parsers of their releases."""

from __future__ import annotations

import marshal
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.inputs.history import history, load_renames
from kvsolve.model.flag import UNSET, Flag, FlagTable
from tests.conformance.oracle.home import RELEASES
from tests.conformance.parser_equality import differences, wrong_answer, wrong_merge
from tests.conformance.record_parsers import recorded

CONSTRAINTS = Path(__file__).resolve().parents[3] / "constraints" / "sglang"


@cache
def table(release: str) -> FlagTable:
    return FlagTable.load(CONSTRAINTS / "flags" / f"{release}.json")


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_equals_the_real_parser(release: str) -> None:
    record = recorded(release)
    assert record["release"] == table(release).release == release
    assert list(differences(record, table(release))) == []


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_answers_as_the_real_parser_did(release: str) -> None:
    answers = recorded(release)["answers"]
    assert len(answers) >= 300
    kinds = {answer["kind"] for answer in answers}
    assert kinds >= {"ok", "ambiguous", "unknown", "bad-choice", "bad-value", "missing-value"}
    wrong = {str(a["tokens"]): w for a in answers if (w := wrong_answer(a, table(release)))}
    assert wrong == {}


@pytest.mark.parametrize("release", RELEASES)
def test_a_config_file_is_merged_as_the_real_reader_did(release: str) -> None:
    merges = recorded(release)["merges"]
    assert {bool(m["raised"]) for m in merges} == {True, False}
    wrong = {m["text"]: w for m in merges if (w := wrong_merge(m, table(release)))}
    assert wrong == {}


def test_the_number_of_flags_is_known() -> None:
    assert {r: len(table(r)) for r in RELEASES} == {
        "0.5.16": 460,
        "0.5.17": 474,
        "0.5.18": 488,
        "0.5.19": 503,
        "0.5.20": 494,
        "0.5.21": 512,
        "0.5.22": 521,
        "0.5.23": 531,
    }


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_file_is_what_dumping_it_writes(release: str) -> None:
    text = (CONSTRAINTS / "flags" / f"{release}.json").read_text(encoding="utf-8")
    assert table(release).dumps("kvsolve upstream flags WHEEL-or-DIR") == text


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_survives_marshal(release: str) -> None:
    plain = marshal.loads(marshal.dumps(table(release).to_plain()))
    again = FlagTable.from_plain(plain)
    assert again.flags == table(release).flags
    assert again.fields == table(release).fields
    assert again.defaults == table(release).defaults
    assert again.launcher == table(release).launcher


def test_flags_are_found_by_spelling_by_name_and_by_prefix() -> None:
    flags = table("0.5.18")
    assert flags.find("--tp-size") is flags.find("--tensor-parallel-size") is flags.flag("tp_size")
    assert flags.beginning_with("--tp") == ("--tp-size",)
    assert flags.find("--no-such-flag") is None
    assert "--cuda-graph-bs-decode" in flags.beginning_with("--cuda-graph-bs")
    assert flags.beginning_with("--zzz") == ()
    with pytest.raises(KeyError):
        flags.flag("no_such_name")


def test_the_flag_to_recommend_is_not_the_deprecated_one() -> None:
    flags = table("0.5.18").by_dest("dsa_prefill_backend")
    assert [f.name for f in flags] == ["--dsa-prefill-backend", "--nsa-prefill-backend"]
    assert flags[1].default is UNSET
    assert table("0.5.18").defaults["dsa_prefill_backend"] is None


def test_only_the_model_is_required() -> None:
    assert {table(r).required for r in RELEASES} == {("--model-path",)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 99, "sglang": "1", "flags": [], "fields": {}, "launcher": {}}',
        '{"format": 1, "sglang": "1", "flags": [{}], "fields": {}, "launcher": {}}',
        '{"format": 1, "sglang": "1", "fields": {}, "launcher": {}, '
        '"flags": [{"dest": "x", "spellings": ["--x"], "action": "explode"}]}',
        '{"format": 1, "sglang": "1", "flags": [{"dest": "x", "spellings": []}], '
        '"fields": {}, "launcher": {}}',
    ],
)
def test_a_malformed_table_gives_one_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KvsolveError, match=r"flags\.json"):
        FlagTable.load(path)


def test_an_unreadable_table_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(KvsolveError, match="cannot be read"):
        FlagTable.load(tmp_path / "none.json")


def test_a_flag_without_a_default_round_trips() -> None:
    flag = Flag(dest="a", spellings=("--a", "-a"), default=UNSET, choices=("x", 1, None))
    made = FlagTable("1", [flag], {"a": 3}, {})
    again = FlagTable.loads(made.dumps("by hand"))
    assert again.flags == (flag,)
    assert again.defaults == {}
    assert again.fields == {"a": 3}


KNOWN = [(release, table(release)) for release in RELEASES]
RENAMES = load_renames((CONSTRAINTS / "renames.toml").read_text(encoding="utf-8"))


def gone() -> list[tuple[str, str, FlagTable]]:
    """(option, first release without it, last table with it) for what the releases dropped."""
    return [
        (spelling, later, before)
        for (_, before), (later, after) in pairwise(KNOWN)
        for spelling in before.spellings
        if spelling not in after
    ]


@pytest.mark.parametrize(("spelling", "later", "before"), gone(), ids=lambda v: str(v)[:40])
def test_every_dropped_option_has_its_successor_told(
    spelling: str, later: str, before: FlagTable
) -> None:
    told = history(spelling, later, KNOWN, RENAMES)
    assert told.gone == later
    assert told.instead is not None
    rename = RENAMES[spelling]
    assert rename.new == "" or rename.new in dict(KNOWN)[later]
    pointer = before.by_spelling(spelling).new_flag.split("=")
    if pointer[0]:
        assert rename.new == pointer[0]
        assert rename.value == (pointer[1] if len(pointer) > 1 else "")


def test_every_value_a_rename_names_is_a_choice_of_the_new_option() -> None:
    for rename in RENAMES.values():
        having = [t for _, t in KNOWN if rename.new in t]
        assert having or not rename.new
        choices = {c for t in having for c in t.by_spelling(rename.new).choices or ()}
        for value in filter(None, (rename.value, *rename.values.values())):
            assert not choices or value in choices


def test_a_chain_of_renames_is_followed_to_an_option_that_lives() -> None:
    assert (
        history("--piecewise-cuda-graph-compiler", "0.5.20", KNOWN, RENAMES).instead
        == RENAMES["--piecewise-cuda-graph-compiler"]
    )
    last = history("--piecewise-cuda-graph-compiler", "0.5.23", KNOWN, RENAMES).instead
    assert last == RENAMES["--cuda-graph-tc-compiler"]


def test_a_newer_option_tells_since_when_it_is_there() -> None:
    told = history("--attn-dp-size", "0.5.18", KNOWN, RENAMES)
    assert (told.since, told.gone, told.releases) == ("0.5.22", "", ("0.5.22", "0.5.23"))
    assert history("--never-heard-of", "0.5.18", KNOWN, RENAMES).releases == ()


def test_the_tokens_of_a_rename() -> None:
    assert RENAMES["--nsa-prefill-cp-mode"].tokens(("in-seq-split",)) == ("--cp-strategy", "zigzag")
    assert RENAMES["--enable-deepep-moe"].tokens() == ("--moe-a2a-backend", "deepep")
    assert RENAMES["--torchao-config"].tokens(("int4wo",)) == ()


def test_a_malformed_table_of_renames_gives_one_sentence() -> None:
    with pytest.raises(KvsolveError, match="no table of renamed options"):
        load_renames('[[flag]]\nold = "--a"\nnow = "--b"')
