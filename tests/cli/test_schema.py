"""The shipped JSON Schemas, held to what the verbs really print."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from kvsolve.answers import explain
from kvsolve.cli.app import VERBS
from kvsolve.outputs.schemas import answer_schema, answers
from kvsolve.settings.schema import settings_schema
from tests.cli.running import EXAMPLE, H100, LLAMA, PLAIN, assert_one_sentence, run
from tests.public_schemas import assert_fits

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
NVFP4 = (*PLAIN, "--kv-cache-dtype", "nvfp4")
KEEP = ("--keep", "kv-cache-dtype")
VARY = ("--vary", "kv-cache-dtype", "--vary", "page-size=1,64")
AXES = ("--rows", "kv-cache-dtype=auto,nvfp4", "--cols", "gpu=h100,b200")

BY = ("--rows", "kv-cache-dtype=auto,nvfp4", "--cols", "page-size=1", "--by", "gpu=h100,b200")
FULL = ("--full", "--flag", "kv-cache-dtype,attention-backend")
LLAMA_ON_H100 = (*H100, "--family", "llama-mha")

LINTED = (
    "--sglang", "0.5.16", "--stage", "args", "--gpu", "h100", "--family", "llama-mha",
    "--only", "entries",
)  # fmt: skip

RUNS: list[tuple[str, tuple[str, ...]]] = [
    ("check", ("check", *H100, "--", *EXAMPLE)),
    ("check", ("check", "--sglang", "0.5.23", "--", *NVFP4)),
    ("check", ("check", *H100, "--", *PLAIN, "--no-such-flag", "--page-size", "x")),
    ("check", ("check", *H100, "gone.sh")),
    ("fix", ("fix", *H100, "--", *EXAMPLE)),
    ("fix", ("fix", *H100, *KEEP, "--", *NVFP4)),
    ("conflict", ("conflict", *H100, *KEEP, "--", *NVFP4)),
    ("conflict", ("conflict", *H100, "--", *PLAIN)),
    ("explain", ("explain", "KV1035", "KV8128")),
    ("options", ("options", *H100, "kv-cache-dtype", "page-size", "--", *PLAIN)),
    ("count", ("count", *H100, *VARY, "--", *PLAIN)),
    ("matrix", ("matrix", "--sglang", "0.5.18", "--given", f"model-path={LLAMA}", *AXES)),
    ("count", ("count", "--sglang", "0.5.18", *VARY, "--vary", "gpu=h100,b200", "--", *PLAIN)),
    ("cover", ("cover", *H100, *VARY, "--", *PLAIN)),
    ("matrix", ("matrix", *LLAMA_ON_H100, *FULL)),
    ("matrix", ("matrix", "--sglang", "0.5.18", "--family", "llama-mha", *BY)),
    ("graph", ("graph", *LLAMA_ON_H100, "--flag", "kv-cache-dtype")),
    ("rules", ("rules", "--sglang", "0.5.18")),
    ("flags", ("flags",)),
    ("profiles", ("profiles",)),
    ("packs", ("packs",)),
    ("packs-lint", ("packs", "lint", *LINTED)),
]
LINES: list[tuple[str, tuple[str, ...]]] = [
    ("list", ("list", *H100, *VARY, "--", *PLAIN)),
    ("sample", ("sample", *H100, *VARY, "-n", "3", "--", *PLAIN)),
]


def strict(schema: Any) -> Any:
    """The schema that takes no key but those it describes: keys are to be described."""
    schema = copy.deepcopy(schema)

    def close(node: Any) -> None:
        if isinstance(node, dict):
            whole = "allOf" not in node and node.get("title") != "kvsolve fix"
            if "properties" in node and "required" in node and whole:
                node.setdefault("additionalProperties", node["properties"].keys() == {"profile"})
            for value in node.values():
                close(value)
        elif isinstance(node, list):
            for item in node:
                close(item)

    close(schema)
    return schema


OPEN = frozenset({"fix", "batch", "profiles"})
"""Schemas put together of others, which cannot each refuse the keys of the rest."""


def held(name: str) -> Any:
    schema = answer_schema(name)
    return schema if name in OPEN else strict(schema)


@pytest.mark.parametrize(("name", "args"), RUNS)
def test_what_a_verb_prints_fits_its_schema(
    name: str, args: tuple[str, ...], capsys: Capture
) -> None:
    behind = args.index("--") if "--" in args else len(args)
    ran = run(capsys, *args[:behind], "--format", "json", *args[behind:])
    assert_fits(ran.json, held(name))


@pytest.mark.parametrize(("name", "args"), LINES)
def test_lines_fit_too(name: str, args: tuple[str, ...], capsys: Capture) -> None:
    behind = args.index("--") if "--" in args else len(args)
    lines = run(capsys, *args[:behind], "--format", "jsonl", *args[behind:]).lines
    assert lines
    for line in lines:
        assert_fits(line, held(name))


def test_what_a_pasted_error_finds_fits(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    # No words of SGLang stand in this repository, so the finding of an entry is stood in for.
    found = (replace(explain.explain("KV1035"), score=0.5),)
    monkeypatch.setattr(explain, "why", lambda text, **options: found)
    ran = run(capsys, "why", "some error", "--format", "json")
    assert ran.json["entries"][0]["score"] == 0.5
    assert_fits(ran.json, held("why"))


def test_a_batch_fits(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"id": 1, "argv": list(EXAMPLE)}) + "\nno json\n")
    lines = run(capsys, "batch", *H100, str(file)).lines
    assert len(lines) == 2
    for line in lines:
        assert_fits(line, held("batch"))


def test_a_baseline_fits(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(capsys, "check", *H100, "--write-baseline", "known.json", "--", *EXAMPLE)
    written = json.loads((tmp_path / "known.json").read_text())
    assert written["findings"]
    assert_fits(written, held("baseline"))


@pytest.mark.parametrize("name", answers())
def test_a_schema_can_be_printed_by_name(name: str, capsys: Capture) -> None:
    printed = run(capsys, "schema", name).json
    assert printed == answer_schema(name)
    jsonschema.Draft202012Validator.check_schema(printed)
    # It stands by itself, and holds nothing that it does not need.
    assert all(f'"#/$defs/{part}"' in json.dumps(printed) for part in printed["$defs"])


def test_each_verb_that_prints_json_has_one() -> None:
    without = {"schema", "mcp", "upstream", "export"}
    assert set(answers()) >= {*VERBS} - without


def test_a_wrong_answer_does_not_fit(capsys: Capture) -> None:
    """The schemas can fail: each takes something away that programs rely on."""
    answer = run(capsys, "check", *H100, "--format", "json", "--", *EXAMPLE).json
    validator = jsonschema.Draft202012Validator(answer_schema("check"))
    assert validator.is_valid(answer)
    for key in ("verdict", "findings", "argv", "sglang", "effective"):
        broken = copy.deepcopy(answer)
        del broken["results"][0][key]
        assert not validator.is_valid(broken)
    broken = copy.deepcopy(answer)
    broken["results"][0]["verdict"] = "fine"
    assert not validator.is_valid(broken)
    broken["version"] = 2
    assert not validator.is_valid(broken)


# The schema of settings takes what is read, and refuses what is refused


@pytest.mark.parametrize(
    ("content", "good"),
    [
        ({}, True),
        ({"sglang": "0.5.18", "gpus": 4, "env": {"A": "1"}, "fail-on": "note"}, True),
        ({"ignore": [{"code": "KV1", "reason": "r", "files": ["a/"]}]}, True),
        ({"limit-s": 1.5, "exit-zero": True, "extend": "x", "format": "sarif"}, True),
        ({"fail_on": "note"}, False),
        ({"gpus": 0}, False),
        ({"gpus": "4"}, False),
        ({"ignore": [{"code": "KV1"}]}, False),
        ({"family": "a", "model-config": "b"}, False),
        ({"format": "xml"}, False),
        ({"env": {"A": 1}}, False),
        ({"settings": "x"}, False),
    ],
)
def test_settings(content: dict[str, Any], good: bool) -> None:
    from kvsolve.errors import KvsolveError
    from kvsolve.settings.table import read_table

    schema = settings_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    assert jsonschema.Draft7Validator(schema).is_valid(content) is good
    if good:
        read_table("/x/kvsolve.toml", content)
    else:
        with pytest.raises(KvsolveError):
            read_table("/x/kvsolve.toml", content)


def test_the_schema_of_sglangs_config_is_by_release(capsys: Capture) -> None:
    old = run(capsys, "schema", "config", "--sglang", "0.5.16").json
    new = run(capsys, "schema", "config").json
    assert "0.5.16" in old["title"]
    assert set(new["properties"]) - set(old["properties"])


def test_names(capsys: Capture) -> None:
    names = run(capsys, "schema").out.split()
    assert names[:2] == ["config", "settings"]
    assert_one_sentence(run(capsys, "schema", "chekc"), "did you mean check?")
    assert_one_sentence(run(capsys, "schema", "config", "--sglang", "9.9"), "9.9")
