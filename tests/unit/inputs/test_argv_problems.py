"""Everything that a release's parser would refuse is told, and the rest of the command judged."""

from __future__ import annotations

import shlex

import pytest

from kvsolve.inputs.argv import parse_argv
from tests.unit.inputs.test_flags_tables import table


def problems(line: str, release: str = "0.5.18") -> list[tuple[str, str, int]]:
    parsed = parse_argv(shlex.split(line), table(release))
    return [(p.kind, p.spelling, p.index) for p in parsed.problems]


def test_all_problems_are_told_at_once_in_upstreams_order() -> None:
    assert problems(
        "--foo 1 --tp x --kv-cache-dtype fp8 --mod m --page-size --disable-radix=1"
    ) == [
        ("ambiguous", "--mod", 6),
        ("bad-value", "--tp", 2),
        ("bad-choice", "--kv-cache-dtype", 4),
        ("missing-value", "--page-size", 8),
        ("unwanted-value", "--disable-radix", 9),
        ("missing-flag", "--model-path", -1),
        ("unknown", "--foo", 0),
    ]


def test_a_flag_with_a_problem_falls_back_to_its_default_and_the_rest_counts() -> None:
    parsed = parse_argv(
        shlex.split("--model-path m --kv-cache-dtype fp8 --foo a b --tp 4"), table("0.5.18")
    )
    assert parsed.values["kv_cache_dtype"] == "auto"
    assert parsed.values["tp_size"] == 4
    assert set(parsed.given) == {"model_path", "tp_size"}
    assert parsed.first_problem is not None
    assert parsed.first_problem.kind == "bad-choice"


def test_an_unknown_option_takes_its_values_along() -> None:
    (problem,) = parse_argv(shlex.split("--model m --foo 1 2 --tp 2"), table("0.5.18")).problems
    assert problem.values == ("1", "2")
    (attached,) = parse_argv(["--model", "m", "--foo=1", "2"], table("0.5.18")).problems
    assert (attached.spelling, attached.values) == ("--foo", ("1", "2"))


def test_a_value_too_many_is_stray() -> None:
    (problem,) = parse_argv(shlex.split("--model m --tp 2 4 8 --dp 2"), table("0.5.18")).problems
    assert (problem.kind, problem.name, problem.values) == ("stray", "--tp-size", ("4", "8"))


def test_the_nearest_spelling_comes_first() -> None:
    (problem,) = parse_argv(["--model", "m", "--kv-cache-dtyp3", "x"], table("0.5.18")).problems
    assert problem.suggestions[0] == "--kv-cache-dtype"
    (choice,) = parse_argv(
        ["--model", "m", "--attention-backend=flasinfer"], table("0.5.18")
    ).problems
    assert choice.suggestions[0] == "flashinfer"
    assert set(choice.suggestions) == set(table("0.5.18").flag("attention_backend").choices or ())


def test_parts_of_a_name_in_another_order_are_found() -> None:
    (problem,) = parse_argv(["--model", "m", "--backend-attention", "x"], table("0.5.18")).problems
    assert "--attention-backend" in problem.suggestions


def test_the_last_of_repeated_flags_wins() -> None:
    parsed = parse_argv(shlex.split("--model m --tp 2 --tensor-parallel-size=8"), table("0.5.18"))
    assert parsed.values["tp_size"] == 8
    assert parsed.given["tp_size"].tokens == ("--tensor-parallel-size=8",)
    assert parsed.given["tp_size"].place == 4
    assert [o.place for o in parsed.occurrences if o.flag.dest == "tp_size"] == [2, 4]


def test_an_abbreviation_is_kept_as_typed() -> None:
    parsed = parse_argv(["--model-path", "m", "--kv-cache-dt=auto"], table("0.5.18"))
    given = parsed.given["kv_cache_dtype"]
    assert (given.spelling, given.flag.name) == ("--kv-cache-dt", "--kv-cache-dtype")


def test_an_alias_writes_the_value_of_the_new_flag() -> None:
    parsed = parse_argv(shlex.split("--model m --nsa-prefill-backend aiter"), table("0.5.18"))
    assert parsed.values["dsa_prefill_backend"] == "aiter"
    assert parsed.given["dsa_prefill_backend"].flag.new_flag == "--dsa-prefill-backend"


def test_a_retired_flag_points_to_its_successor() -> None:
    line = ["--model", "m", "--enable-expert-distribution-metrics"]
    (problem,) = parse_argv(line, table("0.5.18")).problems
    assert problem.kind == "retired"
    assert problem.suggestions == ("--expert-balancedness-report-mode",)


def test_asking_for_help_starts_nothing() -> None:
    assert problems("--model-path m -h") == [("help", "-h", 2)]
    assert problems("--model-path m --help=x") == [("unwanted-value", "--help", 2)]


@pytest.mark.parametrize("text", ["{x}", '{"lora_name": "n"}', "{}"])
def test_upstream_crashes_on_a_malformed_adapter(text: str) -> None:
    (problem,) = parse_argv(["--model", "m", "--lora-paths", "ok", text], table("0.5.18")).problems
    assert (problem.kind, problem.crash, problem.name) == ("bad-value", True, "--lora-paths")


def test_a_level_that_logging_does_not_know_is_a_crash_after_everything_else() -> None:
    parsed = parse_argv(shlex.split("--model m --log-level loud --foo"), table("0.5.23"))
    assert [(p.kind, p.crash) for p in parsed.problems] == [("unknown", False), ("bad-level", True)]
    assert parse_argv(shlex.split("--model m --log-level Debug"), table("0.5.23")).problems == ()


def test_a_choice_may_depend_on_the_environment() -> None:
    line = shlex.split("--model m --sampling-backend token_oracle")
    variable = "SGLANG_KV_CANARY_ENABLE_TOKEN_ORACLE"
    for release in ("0.5.18", "0.5.23"):
        assert parse_argv(line, table(release)).first_problem is not None
        assert parse_argv(line, table(release), {variable: "Yes"}).problems == ()
        assert parse_argv(line, table(release), {variable: "0"}).first_problem is not None


def test_a_field_notices_an_option_that_is_spelled_out() -> None:
    field = "_radix_eviction_policy_explicitly_set"
    flags = table("0.5.23")
    spelled = parse_argv(shlex.split("--model m --radix-eviction-policy lru"), flags)
    short = parse_argv(shlex.split("--model m --radix-eviction-pol lru"), flags)
    assert (spelled.values[field], short.values[field]) == (True, False)
    assert field not in parse_argv(["--model", "m"], table("0.5.18")).values


@pytest.mark.parametrize(
    ("line", "dest", "value"),
    [
        ("--max-total-tokens 25.6k", "max_total_tokens", 25600),
        ("--max-total-tokens 1.5Ki", "max_total_tokens", None),
        ("--chunked-prefill-size -1", "chunked_prefill_size", -1),
        ("--cuda-graph-bs 1 2 3", "cuda_graph_bs_decode", [1, 2, 3]),
        ("--disable-cuda-graph", "disable_cuda_graph", True),
        ("--lora-paths", "lora_paths", []),
    ],
)
def test_values_are_typed_as_upstream_types_them(line: str, dest: str, value: object) -> None:
    parsed = parse_argv(["--model", "m", *line.split()], table("0.5.18"))
    if value is None:
        assert [p.kind for p in parsed.problems] == ["bad-value"]
    else:
        assert parsed.problems == ()
        assert parsed.values[dest] == value
        assert type(parsed.values[dest]) is type(value)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (["--page-size", "-1e5"], "missing-value"),
        (["--page-size", "--", "3"], "missing-value"),
        (["--lora-paths", "--", "a"], "stray"),
        (["--"], "stray"),
        (["--watermark="], "unknown"),
        (["-tp", "8"], "unknown"),
        (["-hx"], "unwanted-value"),
        (["-hh"], "help"),
        (["--host", "-x y"], "ok"),
        (["--host", "-.5"], "ok"),
        (["--host", "-"], "ok"),
        (["--host="], "ok"),
    ],
)
def test_corners_on_which_pythons_differ_are_those_of_upstreams_python(
    line: list[str], kind: str
) -> None:
    first = parse_argv(["--model-path", "m", *line], table("0.5.18")).first_problem
    assert (first.kind if first else "ok") == kind
