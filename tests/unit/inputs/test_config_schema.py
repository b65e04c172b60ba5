from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.inputs.argv import parse_argv
from kvsolve.inputs.config_file import merge_config_file
from kvsolve.inputs.config_schema import config_schema
from kvsolve.model.flag import FlagTable
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.pack import releases
from tests.public_schemas import assert_fits


@lru_cache(maxsize=16)
def table(release: str) -> FlagTable:
    return FlagTable.load(constraints_directory() / "sglang" / "flags" / f"{release}.json")


SCHEMAS = {release: config_schema(table(release)) for release in releases()}
BOTH = ["0.5.16", releases()[-1]]


def problems(release: str, content: dict[str, Any]) -> list[Any]:
    """What the release refuses of a file with this content."""
    flags = table(release)
    merged = merge_config_file(["--config", "f.yaml"], flags, lambda path: content)
    # The schema takes what a release takes while some variable is set.
    parsed = parse_argv(merged.argv, flags, dict.fromkeys(flags.choice_variables, "true"))
    missing = [p for p in parsed.problems if p.kind != "missing-flag"]
    return [*merged.problems, *missing]


def valid(release: str, content: Any) -> bool:
    return bool(jsonschema.Draft7Validator(SCHEMAS[release]).is_valid(content))


@pytest.mark.parametrize("release", releases())
def test_it_is_a_schema_and_knows_every_spelling(release: str) -> None:
    schema = SCHEMAS[release]
    jsonschema.Draft7Validator.check_schema(schema)
    spelled = {s[2:] for f in table(release) for s in f.spellings if s[:2] == "--"}
    assert set(schema["properties"]) == spelled - {"config"}


EXAMPLES: list[dict[str, Any]] = [
    {"model-path": "m", "tensor-parallel-size": 2, "enable-metrics": True},
    {"kv-cache-dtype": "fp8_e5m2", "mem-fraction-static": 0.8, "log-requests-level": 2},
    {"served-model-name": "m", "max-running-requests": "64"},
    {"json-model-override-args": '{"a": 1}'},
    {"bucket-time-to-first-token": [0.1, 1, 10]},
]


@pytest.mark.parametrize("release", BOTH)
@pytest.mark.parametrize("content", EXAMPLES)
def test_what_it_takes_the_release_takes(release: str, content: dict[str, Any]) -> None:
    assert_fits(content, SCHEMAS[release])
    assert problems(release, content) == []


@pytest.mark.parametrize("release", BOTH)
@pytest.mark.parametrize(
    "content",
    [
        {"tp_size": 2},
        {"kv-cache-dtype": "fp9"},
        {"tensor-parallel-size": "two"},
        {"log-requests-level": 7},
        {"lora-paths": ["a"]},
        {"disable-cuda-graph": "please"},
        {"no-such-thing": 1},
    ],
)
def test_what_the_release_refuses_it_refuses(release: str, content: dict[str, Any]) -> None:
    assert problems(release, content)
    assert not valid(release, content)


def test_a_null_becomes_the_text_none_so_it_is_no_value() -> None:
    assert not valid(BOTH[1], {"attention-backend": None})


def test_an_empty_file_is_nothing_wrong() -> None:
    assert valid(BOTH[1], None)
    assert valid(BOTH[1], {})


def test_what_goes_away_is_marked() -> None:
    properties = SCHEMAS[BOTH[0]]["properties"]
    marked = [name for name, schema in properties.items() if schema.get("deprecated")]
    assert marked
    assert any("Use --" in properties[name].get("description", "") for name in marked)


def instance(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a property takes."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([instance(branch) for branch in schema["anyOf"]])
    if schema.get("type") == "array":
        items = schema["items"]
        low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
        return st.lists(instance(items), min_size=low, max_size=high)
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], alphabet=st.characters(codec="ascii"))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_KINDS[kind] for kind in kinds])


# Text in braces is read as JSON by some options, and text that starts with a dash as an option: no
# schema can tell.
_KINDS: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "integer": st.integers(0, 10**6),
    "number": st.integers(0, 1000) | st.floats(0.0, 100.0),
    "string": st.from_regex(r"\A[a-z0-9][a-z0-9./_]{0,9}\Z"),
    "object": st.just({}),
}
_OWN_RULES = frozenset({"log-level", "log-level-http", "json-model-override-args"})


def _free(schema: dict[str, Any]) -> bool:
    """Whether any text will do: JSON options ask for JSON text."""
    return schema.get("type") != ["object", "string"]


OLDEST = releases()[0]
"""Its reader of files knows no options."""
AT_ALL: st.SearchStrategy[Any] = st.one_of(
    st.booleans(), st.just([]), st.integers(0, 9), st.sampled_from(["auto", "please", "fp8_e5m2"])
)


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_reader_that_knows_no_options_takes_what_the_parser_does(data: st.DataObject) -> None:
    assert table(OLDEST).launcher["config_keys"] == "none"
    able = [
        name
        for name, schema in SCHEMAS[OLDEST]["properties"].items()
        if name not in _OWN_RULES and all(map(_free, schema.get("anyOf", [])))
    ]
    name = data.draw(st.sampled_from(able))
    value = data.draw(AT_ALL)
    if valid(OLDEST, {name: value}):
        assert not problems(OLDEST, {name: value})
    elif isinstance(value, bool):
        assert problems(OLDEST, {name: value})


@pytest.mark.parametrize(
    "content",
    [
        {"tp-size": False},
        {"lora-paths": ["a=b"]},
        {"lora-paths": False},
        {"hybrid-kvcache-ratio": True},
        {"enable-metrics": False},
    ],
)
def test_what_the_oldest_reader_takes_it_takes(content: dict[str, Any]) -> None:
    assert problems(OLDEST, content) == []
    assert valid(OLDEST, content)


def test_a_value_option_cannot_be_true_even_there() -> None:
    assert problems(OLDEST, {"tp-size": True})
    assert not valid(OLDEST, {"tp-size": True})


ABLE = {
    release: [
        name
        for name, schema in SCHEMAS[release]["properties"].items()
        if "not" not in schema and name not in _OWN_RULES and _free(schema)
    ]
    for release in BOTH
}


@given(data=st.data(), release=st.sampled_from(BOTH))
@settings(max_examples=100, deadline=None)
def test_any_value_that_it_takes_the_parser_takes(data: st.DataObject, release: str) -> None:
    properties = SCHEMAS[release]["properties"]
    able = [n for n, s in properties.items() if "not" not in s and n not in _OWN_RULES and _free(s)]
    name = data.draw(st.sampled_from(able))
    value = data.draw(instance(properties[name]))
    assert valid(release, {name: value})
    assert problems(release, {name: value}) == []
