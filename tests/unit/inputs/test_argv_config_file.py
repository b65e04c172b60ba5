"""SGLang's own ``--config`` files are read as each release reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kvsolve.inputs.argv import parse_argv
from kvsolve.inputs.config_file import (
    ConfigFileError,
    Merged,
    merge_config_file,
    read_yaml,
    unsupported,
)
from kvsolve.model.flag import FlagTable
from tests.unit.inputs.test_flags_tables import table

if TYPE_CHECKING:
    from pathlib import Path


def merged(content: Any, *argv: str, release: str = "0.5.18") -> Merged:
    return merge_config_file(argv, table(release), lambda path: content)


def test_the_files_options_stand_before_the_commands() -> None:
    found = merged(
        {"tp-size": 2, "model-path": "m"}, "--dp", "2", "--config", "a.yaml", "--tp", "4"
    )
    assert found.argv == ("--tp-size", "2", "--model-path", "m", "--dp", "2", "--tp", "4")
    assert found.origin == (-1, -1, -1, -1, 0, 1, 4, 5)
    assert found.keys[:5] == ("tp-size", "tp-size", "model-path", "model-path", "")
    assert parse_argv(found.argv, table("0.5.18")).values["tp_size"] == 4


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        (None, ()),
        ({}, ()),
        ({"enable-metrics": True}, ("--enable-metrics",)),
        ({"enable-metrics": False}, ()),
        ({"tp-size": True}, ("--tp-size", "true")),
        ({"cuda-graph-config": {"decode": {"max_bs": 4}}},
         ("--cuda-graph-config", '{"decode": {"max_bs": 4}}')),
        ({"api-key-list": [1, "b"]}, ("--api-key-list", "1", "b")),
        ({"api-key-list": []}, ()),
        ({"load-format": None}, ("--load-format", "None")),
        ({"mem-fraction-static": 0.8}, ("--mem-fraction-static", "0.8")),
    ],
)  # fmt: skip
def test_a_value_becomes_tokens(content: Any, tokens: tuple[str, ...]) -> None:
    assert merged(content, "--config", "a.yml").argv == tokens


def older(keys: str) -> FlagTable:
    """A table whose ``--config`` reader is one of before 0.5.14."""
    now = table("0.5.18")
    launcher = {"config_keys": keys, "config_mappings": "text", "noticed": {}}
    return FlagTable(now.release, list(now.flags), now.fields, launcher)


@pytest.mark.parametrize(
    ("keys", "content", "tokens"),
    [
        ("none", {"tp-size": True}, ("--tp-size",)),
        ("none", {"enable-metrics": False, "tp-size": False}, ()),
        ("dest", {"tp-size": True}, ("--tp-size", "true")),
        ("dest", {"x": {"a": None}}, ("--x", "{'a': None}")),
    ],
)
def test_readers_of_before_0_5_14(keys: str, content: Any, tokens: tuple[str, ...]) -> None:
    found = merge_config_file(("--config", "a.yml"), older(keys), lambda path: content)
    assert found.argv == tokens


def test_the_first_readers_refuse_no_key() -> None:
    assert unsupported(older("dest"))
    assert not unsupported(older("none"))


def test_keys_with_underscores_are_options_that_no_release_knows() -> None:
    found = merged({"tp_size": 2}, "--model", "m", "--config", "a.yaml")
    (problem,) = parse_argv(found.argv, table("0.5.18")).problems
    assert (problem.kind, problem.spelling) == ("unknown", "--tp_size")


@pytest.mark.parametrize(
    ("content", "argv", "reason"),
    [
        ([1], ("--config", "a.yaml"), "mapping"),
        ({1: 2}, ("--config", "a.yaml"), "not text"),
        ({}, ("--config", "a.json"), "must end"),
        ({}, ("--config",), "no file"),
        ({}, ("--config", "a.yaml", "--config", "b.yaml"), "only one"),
        ({"lora-paths": ["a"]}, ("--config", "a.yaml"), "cannot give"),
        ({"disable-cuda-graph": True}, ("--config", "a.yaml"), "cannot give"),
        ({"tp-size": {"a": {1}}}, ("--config", "a.yaml"), "JSON"),
    ],
)
def test_what_the_release_refuses(content: Any, argv: tuple[str, ...], reason: str) -> None:
    found = merged(content, "--tp", "2", *argv)
    (problem,) = found.problems
    assert (problem.kind, problem.crash) == ("config-file", True)
    assert reason in problem.detail
    assert found.argv[:2] == ("--tp", "2")


def test_an_alias_made_its_new_name_unusable_up_to_0_5_22() -> None:
    content = {"cuda-graph-max-bs-decode": 8}
    assert merged(content, "--config", "a.yaml", release="0.5.18").problems != ()
    assert merged(content, "--config", "a.yaml", release="0.5.23").problems == ()


def test_only_the_bare_token_names_a_file() -> None:
    found = merged({"tp-size": 2}, "--model", "m", "--config=a.yaml")
    assert (found.path, found.argv) == (None, ("--model", "m", "--config=a.yaml"))
    parsed = parse_argv(found.argv, table("0.5.18"))
    assert parsed.problems == ()
    assert parsed.given["config"].tokens == ("--config=a.yaml",)


def test_a_command_without_a_file_is_left_alone() -> None:
    assert merged({}, "--tp", "2") == Merged(("--tp", "2"), (0, 1), ("", ""))


def test_yaml_is_read_as_version_1_1(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("enable-metrics: yes\ntp-size: 010\nhost: 1.2.3.4\n", encoding="utf-8")
    assert read_yaml(path) == {"enable-metrics": True, "tp-size": 8, "host": "1.2.3.4"}


@pytest.mark.parametrize("content", [b"a: [", b"\xff\xfe\x00", b"a: !!python/object:os.system x"])
def test_a_file_that_is_no_yaml_gives_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigFileError, match=r"--config file"):
        read_yaml(path)


def test_a_missing_file_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="cannot be read"):
        merge_config_file(["--config", str(tmp_path / "none.yaml")], table("0.5.18"))
