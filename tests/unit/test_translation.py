"""Repairs of options that a release knows under another name."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import kvsolve
from kvsolve.answers.patch import patch_of
from kvsolve.answers.repair import fix_of
from kvsolve.answers.translation import best
from kvsolve.errors import KvsolveError
from kvsolve.files.found import Document, FoundCommand
from kvsolve.files.read import read_document
from kvsolve.inputs.spelling import misspelt
from kvsolve.model.edit import Edit, Repair
from kvsolve.model.flag import FlagTable
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.weights import load_weights, unasked_weights
from kvsolve.session import Request, Session
from kvsolve.solve.repair import Repairs

CONTEXT = {"sglang": "0.5.23", "gpu": "h100"}
LLAMA = ["--model-path", "meta-llama/Llama-3.1-8B-Instruct"]


def changes(command: list[str], top: int = 1) -> list[tuple[str, str, object, str]]:
    fix = kvsolve.repair(command, top=top, **CONTEXT)
    return [(e.op, e.flag, e.value, e.becomes) for e in fix.repairs[0].edits]


@pytest.mark.parametrize(
    ("typed", "edit"),
    [
        (
            ["--cuda-graph-max-bs", "64"],
            ("--cuda-graph-max-bs", "64", "--cuda-graph-max-bs-decode"),
        ),
        (["--cuda-graph-max-bs=64"], ("--cuda-graph-max-bs", "64", "--cuda-graph-max-bs-decode")),
        (
            ["--cuda-graph-bs", "1", "2", "4"],
            ("--cuda-graph-bs", "1 2 4", "--cuda-graph-bs-decode"),
        ),
        (
            ["--enable-flashinfer-mla"],
            ("--enable-flashinfer-mla", "flashinfer", "--attention-backend"),
        ),
        (["--atention-backend", "fa3"], ("--atention-backend", "fa3", "--attention-backend")),
        (
            ["--attention-backend", "flashinfr"],
            ("--attention-backend", "flashinfer", "--attention-backend"),
        ),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else "",
)
def test_writes_the_name_that_the_release_knows(
    typed: list[str], edit: tuple[str, str, str]
) -> None:
    flag, value, becomes = edit
    assert changes([*LLAMA, *typed]) == [("set", flag, value, becomes)]


def test_the_repaired_command_is_accepted_and_holds_the_new_name() -> None:
    command = [*LLAMA, "--cuda-graph-max-bs", "64", "--disable-radix-cache"]
    argv = kvsolve.repair(command, **CONTEXT).repairs[0].argv
    assert kvsolve.check(argv, **CONTEXT).verdict.value == "valid"
    assert list(argv) == [*LLAMA, "--cuda-graph-max-bs-decode", "64", "--disable-radix-cache"]


@pytest.mark.parametrize(
    "typed",
    [
        ["--collect-tokens-histogram"],  # nothing takes its place
        ["--no-such-thing", "3"],  # nothing is like it
        ["--cuda-graph-max-bs", "many"],  # the new name would not take the value
        ["--cuda-graph-max-bs", "8", "--cuda-graph-max-bs-decode", "16"],  # is given already
    ],
    ids=" ".join,
)
def test_drops_what_has_no_sound_translation(typed: list[str]) -> None:
    (first, *_) = changes([*LLAMA, *typed])
    assert first[0] == "remove"
    assert first[3] == ""


def test_drops_a_translated_option_where_that_is_cheaper() -> None:
    # The backend that took the switch's place cannot serve beside the one that is typed.
    command = [
        *LLAMA,
        "--enable-flashinfer-mla",
        "--prefill-attention-backend",
        "fa3",
        "--page-size",
        "3",
    ]
    fix = kvsolve.repair(command, top=5, **CONTEXT)
    costs = [repair.cost for repair in fix.repairs]
    assert costs == sorted(costs)
    for repair in fix.repairs:
        assert kvsolve.check(repair.argv, **CONTEXT).verdict.value == "valid", repair.edits


def test_what_is_translated_is_not_changed_again() -> None:
    command = [*LLAMA, "--mamba-scheduler-strategy", "extra_buffer", "--elastic-ep-rejoin"]
    repairs = kvsolve.repair(command, top=4, **CONTEXT).repairs
    for repair in repairs:
        names = [edit.becomes or edit.flag for edit in repair.edits]
        assert len(names) == len(set(names))
        assert repair.bound <= repair.cost == sum(edit.cost for edit in repair.edits)
    assert len({repair.argv for repair in repairs}) == len(repairs) > 1


def test_another_value_is_written_beside_what_is_dropped() -> None:
    typed = [*LLAMA, "--tp-sizee", "3", "--nnodes", "2", "--dist-init-addr", "a:1"]
    found = kvsolve.repair(typed, keep=["nnodes"], top=3, **CONTEXT).repairs
    edits = [[(e.op, e.flag, e.value, e.cost) for e in repair.edits] for repair in found]
    assert [("remove", "--tp-sizee", None, 2), ("add", "--tp-size", 4, 1)] in edits


def test_every_choice_among_the_translations_is_looked_at() -> None:
    # Taking up the first and dropping the second is the cheapest of the four.
    known = ["first", "second"]
    costs = {
        frozenset(): 9,
        frozenset({"first"}): 4,
        frozenset({"second"}): 8,
        frozenset({"first", "second"}): 7,
    }

    def searched(chosen: object) -> Repairs:
        cost = costs[frozenset(chosen)]  # type: ignore[call-overload]
        edit = Edit("add", "page_size", f"--flag-{cost}", None, 1, cost)
        return Repairs((Repair(cost, (edit,), (), (), True, cost),), True, cost, True, 1)

    found = best(searched, known, 3)  # type: ignore[arg-type]
    assert [repair.cost for repair in found.repairs] == sorted(costs.values())[:3]
    assert all(repair.optimal for repair in found.repairs)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("--cuda-graph-max-bs 64", "--cuda-graph-max-bs-decode 64"),
        ("--cuda-graph-max-bs=64", "--cuda-graph-max-bs-decode=64"),
        ("--cuda-graph-bs 1 2 4", "--cuda-graph-bs-decode 1 2 4"),
        ("--enable-flashinfer-mla", "--attention-backend flashinfer"),
        ('--cuda-graph-max-bs "64"  # all', '--cuda-graph-max-bs-decode "64"  # all'),
    ],
)
def test_is_written_in_place(before: str, after: str) -> None:
    head = f"# how we serve\npython -m sglang.launch_server {' '.join(LLAMA)} "
    document = Document(Path("serve.sh"), head + before + "\n")
    (found,) = read_document(document, {}, sure=True)
    assert isinstance(found, FoundCommand)
    session = Session()
    question = session.ask(Request(found.words, **CONTEXT))
    fix = fix_of(question, session.judge(question))
    assert patch_of(question, fix.repairs[0], found, document).text == head + after + "\n"


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("--page-sise", ("--page-size", "--tp-size"), "--page-size"),
        ("fa33", ("fa3", "fa4", "triton"), "fa3"),
        ("flashmla", ("flashinfer", "triton"), ""),
        ("fp8_e5m3", ("fp8_e5m2", "fp8_e4m3"), ""),  # as near to both
        ("x", (), ""),
    ],
)
def test_only_what_is_clear_counts_as_misspelt(
    word: str, known: tuple[str, ...], meant: str
) -> None:
    assert misspelt(word, known) == meant


def test_weights_name_fields_that_some_release_has() -> None:
    tables = (constraints_directory() / "sglang" / "flags").glob("*.json")
    known = {dest for path in tables for dest in FlagTable.load(path).fields}
    assert set(unasked_weights()) <= known


def test_a_role_that_nobody_asked_for_is_not_proposed_first() -> None:
    fix = kvsolve.repair(
        [*LLAMA, "--enable-hierarchical-cache", "--disable-radix-cache"], **CONTEXT
    )
    first, second = ({e.flag for e in repair.edits} for repair in fix.repairs[:2])
    assert first | second == {"--enable-hierarchical-cache", "--disable-radix-cache"}


def test_a_weight_is_not_for_what_the_command_gives() -> None:
    command = [*LLAMA, "--tp-size", "3"]
    fix = kvsolve.repair(command, **CONTEXT)
    assert fix.repairs[0].cost == 2


@pytest.mark.parametrize("text", ["[", "unasked = 3", '[[unasked]]\nweight = 0\nflags = ["a"]'])
def test_a_table_of_weights_is_checked(text: str) -> None:
    with pytest.raises(KvsolveError, match=r"weights\.toml"):
        load_weights(text)


def test_no_repair_leads_to_what_is_not_known() -> None:
    # An expert pack mends the refusal, but what it refuses itself lies in files.
    context = {"sglang": "0.5.23", "gpu": "mi300x", "family": "gpt-oss"}
    command = [
        "--model-path",
        ".",
        "--moe-runner-backend",
        "flashinfer_mxfp4",
        "--load-format",
        "pt",
    ]
    fix = kvsolve.repair([*command, "--tp-size", "1"], **context)
    assert fix.repairs
    for repair in fix.repairs:
        assert kvsolve.check(repair.argv, **context).verdict.value == "valid", repair.edits


def test_the_searches_for_all_choices_share_one_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count()
    limits: list[float] = []

    def search(*args: object, time_limit: float, **options: object) -> Repairs:
        limits.append(time_limit)
        return Repairs((), None, None, False, 0)

    monkeypatch.setattr("kvsolve.answers.repair.time.monotonic", lambda: next(seconds))
    monkeypatch.setattr("kvsolve.solve.repair.repair", search)
    old = ["--cuda-graph-max-bs", "8", "--enable-flashinfer-mla"]
    kvsolve.repair([*LLAMA, *old], limit_s=3, **CONTEXT)
    assert limits == [2, 1, 0.01, 0.01]
