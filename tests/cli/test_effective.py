from __future__ import annotations

from typing import Any

import pytest

from kvsolve.inputs.argv import parse_argv
from kvsolve.model.flag import FlagTable
from kvsolve.outputs.effective import effective_argv, effective_text, tokens_of
from kvsolve.packs.files import constraints_directory
from tests.cli import samples

RELEASES = ("0.5.18", "0.5.23")


@pytest.fixture(scope="module", params=RELEASES)
def flags(request: pytest.FixtureRequest) -> FlagTable:
    return FlagTable.load(constraints_directory() / "sglang" / "flags" / f"{request.param}.json")


def _values(flags: FlagTable, dest: str) -> list[Any]:
    """Some values that options of the release can give a flag."""
    values: list[Any] = []
    for flag in flags.by_dest(dest):
        values += list(flag.choices or ()) if flag.action == "store" else []
        values += {"store_true": [True], "boolean": [True, False]}.get(flag.action, [])
        if flag.action == "const":
            values.append(flag.const)
        plain = {"int": [-1, 64], "float": [0.5], "str": ["some thing"]}
        if not flag.choices and flag.action == "store" and flag.nargs is None:
            values += plain.get(flag.type, [])
        if flag.nargs in ("*", "+") and not flag.choices and flag.type == "int":
            values.append([1, 2])
    return values


def test_every_value_is_spelled_so_that_the_parser_reads_it_back(flags: FlagTable) -> None:
    spelled = 0
    for dest in flags.fields:
        for value in _values(flags, dest):
            if isinstance(value, list) or flags.by_dest(dest)[0].nargs not in ("*", "+"):
                tokens = tokens_of(flags, dest, value)
                assert tokens is not None, (dest, value)
                parsed = parse_argv(["--model-path", "m", *tokens], flags)
                assert parsed.values[dest] == value, tokens
                spelled += 1
    assert spelled > 400


def test_a_value_that_no_option_gives_is_said_to_be_so(flags: FlagTable) -> None:
    assert tokens_of(flags, "disable_radix_cache", True) == ("--disable-radix-cache",)
    assert tokens_of(flags, "disable_radix_cache", False) == ()
    assert tokens_of(flags, "max_total_tokens", None) == ()
    assert tokens_of(flags, "tp_size", None) is None


def test_what_upstream_sets_replaces_what_was_typed(flags: FlagTable) -> None:
    spans = [
        ("model_path", ("--model-path", "m")),
        ("page_size", ("--page-size", "64")),
        ("tp_size", ("--tp", "8")),
    ]
    result = samples.result(
        effective={"page_size": 1, "tp_size": 8, "attention_backend": "fa3", "dp_size": None},
        provenance={
            "page_size": "KV1", "tp_size": "user", "attention_backend": "KV2", "dp_size": "KV3",
        },
    )  # fmt: skip
    assert effective_argv(spans, result, flags) == (
        "--model-path", "m", "--tp", "8", "--page-size", "1", "--attention-backend", "fa3",
    )  # fmt: skip
    text = effective_text(spans, result, flags)
    assert "#   --page-size is 1 [KV1]\n" in text
    assert "is unset [KV3]; no option says that" in text
    assert text.endswith("--attention-backend fa3\n")
