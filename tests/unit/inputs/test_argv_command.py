"""A launch is found in shell text, whatever stands before it."""

from __future__ import annotations

import shlex

import pytest

from kvsolve.inputs.command import NoLaunchError, split_command, split_text
from kvsolve.inputs.shell import ShellError, shell_commands

MODEL = ("--model-path", "m")


@pytest.mark.parametrize(
    ("line", "entry", "env"),
    [
        ("python -m sglang.launch_server --model-path m", "module", {}),
        ("python3.12 -msglang.launch_server --model-path m", "module", {}),
        ("/opt/venv/bin/python -u -m sglang.launch_server --model-path m", "module", {}),
        ("python /sgl/python/sglang/launch_server.py --model-path m", "module", {}),
        ("A=1 B=x=y exec nohup python -m sglang.launch_server --model-path m", "module",
         {"A": "1", "B": "x=y"}),
        ("env -u Z A=1 numactl --membind 0 sglang serve --model-path m", "serve", {"A": "1"}),
        ("uv run --with sglang sglang serve --model-path m", "serve", {}),
        ("/usr/local/bin/sglang serve m", "serve", {}),
        ("--model-path m", "options", {}),
        ("A=1 --model-path m", "options", {"A": "1"}),
        ("bash -lc 'A=1 exec sglang serve m'", "serve", {"A": "1"}),
    ],
)  # fmt: skip
def test_wrappers_and_environment_are_taken_off(line: str, entry: str, env: dict[str, str]) -> None:
    found = split_command(shlex.split(line))
    assert found.argv == MODEL
    assert (found.entry, found.env, found.image) == (entry, env, None)


@pytest.mark.parametrize(
    ("line", "image", "env"),
    [
        ("docker run --gpus all -p 30000:30000 -v a=b:/c -e A=1 --env=B=2 -eC=3 "
         "lmsysorg/sglang:v0.5.18-cu129 python3 -m sglang.launch_server --model-path m",
         "lmsysorg/sglang:v0.5.18-cu129", {"A": "1", "B": "2", "C": "3"}),
        ("sudo podman run --rm reg.io:5000/x/sglang@sha256:ab12 sglang serve m",
         "reg.io:5000/x/sglang@sha256:ab12", {}),
        ("docker run lmsysorg/sglang:latest bash -c 'D=4 sglang serve m'",
         "lmsysorg/sglang:latest", {"D": "4"}),
        ("docker run lmsysorg/sglang:v0.5.18 --model-path m", "lmsysorg/sglang:v0.5.18", {}),
    ],
)  # fmt: skip
def test_a_container_gives_image_and_environment(
    line: str, image: str, env: dict[str, str]
) -> None:
    found = split_command(shlex.split(line))
    assert found.argv == MODEL
    assert (found.image, found.env) == (image, env)


def test_places_point_back_to_the_tokens() -> None:
    tokens = shlex.split("A=1 sglang serve m --model-type llm --tp 2")
    found = split_command(tokens)
    assert found.argv == ("--model-path", "m", "--tp", "2")
    assert found.origin == (-1, 3, 6, 7)
    assert all(tokens[o] == a for o, a in zip(found.origin, found.argv, strict=True) if o >= 0)


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("sglang serve m", []),
        ("sglang serve --model=m --tp 2", []),
        ("sglang serve --tp 2", ["missing-flag"]),
        ("sglang serve --model-pa m", ["missing-flag"]),
        ("sglang serve --config x.yaml", ["missing-flag"]),
        ("sglang serve --model-path", ["missing-flag"]),
        ("sglang serve m --help", ["help"]),
        ("sglang serve m --model-type diffusion", ["bad-choice"]),
        ("sglang serve m --model-type", ["missing-value"]),
        ("sglang serve m --model-type=auto", []),
        ("python -m sglang.launch_server --model-pa m", []),
    ],
)
def test_what_sglang_serve_itself_refuses(line: str, kinds: list[str]) -> None:
    assert [p.kind for p in split_command(shlex.split(line)).problems] == kinds


@pytest.mark.parametrize(
    "line", ["vllm serve m", "python -m sglang.bench_serving", "", "A=1", "sglang version"]
)
def test_what_launches_no_server_gives_one_sentence(line: str) -> None:
    with pytest.raises(NoLaunchError, match="launches no SGLang server"):
        split_command(shlex.split(line))


SCRIPT = r"""
#!/bin/bash
# it's a script; don't mind the quote
export NCCL_DEBUG=INFO LEVEL="a b"
TP=8 # not exported
pip install 'sglang[all]' && cd /srv
CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server \
  --model-path "org/my#model" --tp $TP --host ${HOST:-0.0.0.0} \
  --json-model-override-args '{"a": "$TP"}' --api-key a#b \
  --served-model-name "x\"y" --log-level $UNKNOWN > out.log 2>&1 &
"""


def test_a_script_is_read_as_the_shell_reads_it() -> None:
    found = split_text(SCRIPT)
    assert found.env == {"NCCL_DEBUG": "INFO", "LEVEL": "a b", "CUDA_VISIBLE_DEVICES": "0,1"}
    assert found.argv == (
        *("--model-path", "org/my#model", "--tp", "8", "--host", "0.0.0.0"),
        *("--json-model-override-args", '{"a": "$TP"}', "--api-key", "a#b"),
        *("--served-model-name", 'x"y', "--log-level", "$UNKNOWN"),
    )


def test_text_without_a_launch_gives_one_sentence() -> None:
    with pytest.raises(NoLaunchError):
        split_text("cd /x; ls")
    with pytest.raises(NoLaunchError):
        split_text("# nothing")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a b;c", [["a", "b"], ["c"]]),
        ("a && b || c | d & e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a \\\r\n b\r\nc", [["a", "b"], ["c"]]),
        ("a >x 2>/dev/null b &>y <z", [["a", "b"]]),
        ("a '' \"\"", [["a", "", ""]]),
        ('a "b c"d\'e f\'', [["a", "b cde f"]]),
        ("a\\ b 'c\\d' \"e\\f\" \"g\\\"\"", [["a b", "c\\d", "e\\f", 'g"']]),
        ("X=1; a $X ${X}2 ${Y} $Y ${Z-z} '$X' \"$X\"",
         [["X=1"], ["a", "1", "12", "${Y}", "$Y", "z", "$X", "1"]]),
        ("X='a b'\nc $X \"$X\"", [["X=a b"], ["c", "a", "b", "a b"]]),
        ("a $(nproc --all) b", [["a", "$(nproc --all)", "b"]]),
        ("a#b #c", [["a#b"]]),
        ("", []),
    ],
)  # fmt: skip
def test_words_and_commands(text: str, commands: list[list[str]]) -> None:
    assert [[w.text for w in words] for words in shell_commands(text)] == commands


def test_a_word_knows_where_it_stands() -> None:
    text = "a  'b c' \\\n --d=e"
    assert [text[w.start : w.end] for w in shell_commands(text)[0]] == ["a", "'b c'", "--d=e"]


@pytest.mark.parametrize("text", ["a 'b", 'a\n"b\\"', 'a "b\\'])
def test_an_open_quote_gives_one_sentence(text: str) -> None:
    with pytest.raises(ShellError, match="never closed"):
        shell_commands(text)
