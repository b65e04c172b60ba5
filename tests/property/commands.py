"""Launch commands and the forms in which files hold them."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMS", "commands", "plain_commands"]

PROGRAM = ("python3", "-m", "sglang.launch_server")
MODEL = ("--model-path", "meta-llama/Llama-3.1-8B-Instruct")
_SAFE = ("8", "0.85", "fp8_e4m3", "a/b", "1,2", "true", "null", "-1", "off", "x=y", "a:80", "~")
_NASTY = (
    "", " ", "a b", "it's", 'say "x"', "a#b", "# no comment", "a: b", "- a", "{}", '{"a": 1}',
    '{"a": [1, "b"], "c": "d e"}', "a\\b", "back\\", "é", "日本", "😀", "*", "a|b", "a;b", "&x",
    "!y", "%z", "@w", "a\tb", "'", '"', "`x`", "[1]", "? a", "> x", "| x", "=", "a,b c",
)  # fmt: skip
_SWITCHES = ("--enable-metrics", "--disable-radix-cache", "--trust-remote-code", "--is-embedding")
_VALUED = ("--tp-size", "--kv-cache-dtype", "--served-model-name", "--hisparse-config", "--host")


def _options(values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    switch = st.sampled_from(_SWITCHES).map(lambda flag: (flag,))
    valued = st.tuples(st.sampled_from(_VALUED), values)
    attached = valued.map(lambda pair: (f"{pair[0]}={pair[1]}",))
    several = st.lists(st.sampled_from(("1", "2", "4")), min_size=1, max_size=3)
    many = several.map(lambda sizes: ("--cuda-graph-bs-decode", *sizes))
    return st.one_of(switch, valued, attached, many)


def _command(values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    options = st.lists(_options(values), max_size=6)
    return options.map(lambda found: (*PROGRAM, *MODEL, *(w for option in found for w in option)))


printable = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), max_size=8)
commands = _command(st.one_of(st.sampled_from(_SAFE), st.sampled_from(_NASTY), printable))
plain_commands = _command(st.sampled_from(_SAFE))

Words = tuple[str, ...]


def _script(words: Words, between: str = " ") -> str:
    """The command for a shell, options on lines of their own where ``between`` is a line end."""
    return between.join(shlex.quote(word) for word in words)


def _container(fields: dict[str, object], **style: Any) -> str:
    pod = {"spec": {"containers": [{"name": "a", "image": "x/sglang:v0.5.18", **fields}]}}
    return str(yaml.safe_dump(pod, allow_unicode=True, sort_keys=False, **style))


def _escaped(words: Words) -> list[str]:
    return [word.replace("$", "$$") for word in words]


def _literal(script: str, indent: str = "          ", mark: str = "|") -> str:
    body = "".join(f"{indent}{line}\n" for line in script.split("\n"))
    return (
        "spec:\n  containers:\n    - name: a\n      command: [bash, -c]\n      args:\n"
        f"        - {mark}\n{body}"
    )


def _cell(source: str, rows: bool) -> str:
    lines = source.splitlines(keepends=True)
    cell = {"cell_type": "code", "source": lines if rows else source, "outputs": []}
    return json.dumps({"cells": [cell], "nbformat": 4}, indent=1)


FORMS: dict[str, tuple[str, Callable[[Words], str]]] = {
    "script": ("run.sh", lambda w: "#!/bin/bash\nset -e\n" + _script(w) + " > log 2>&1 &\n"),
    "continued script": ("run.sh", lambda w: _script(w, " \\\n    ") + "\n"),
    "array": ("run.sh", lambda w: f'ARGS=({_script(w[3:])})\n{_script(w[:3])} "${{ARGS[@]}}"\n'),
    "bash -c": ("run.sh", lambda w: f"exec bash -lc {shlex.quote(_script(w))}\n"),
    "function": ("run.sh", lambda w: f"main() {{\n  {_script(w)}\n}}\nmain\n"),
    "here-document": ("run.sh", lambda w: f"bash <<'END'\n{_script(w)}\nEND\n"),
    "args": ("pod.yaml", lambda w: _container({"args": _escaped(w)})),
    "command and args": (
        "pod.yaml",
        lambda w: _container({"command": _escaped(w[:3]), "args": _escaped(w[3:])}),
    ),
    "flow args": ("pod.yaml", lambda w: _container({"args": _escaped(w)}, default_flow_style=True)),
    "quoted args": ("pod.yaml", lambda w: _container({"args": _escaped(w)}, default_style='"')),
    "single-quoted args": (
        "pod.yaml",
        lambda w: _container({"args": _escaped(w)}, default_style="'", width=30),
    ),
    "script in a pod": (
        "pod.yaml",
        lambda w: _container({"command": ["sh", "-c"], "args": [_script(w)]}, width=40),
    ),
    "double-quoted script in a pod": (
        "pod.yaml",
        lambda w: _container({"command": ["sh", "-c", _script(w)]}, default_style='"', width=40),
    ),
    "literal block": ("pod.yaml", lambda w: _literal(_script(w, " \\\n  "))),
    "folded block": ("pod.yaml", lambda w: _literal(_script(w), mark=">-")),
    "compose": (
        "compose.yaml",
        lambda w: yaml.safe_dump(
            {"services": {"a": {"image": "x", "ipc": "host", "command": _escaped(w)}}}
        ),
    ),
    "compose text": (
        "compose.yaml",
        lambda w: yaml.safe_dump(
            {
                "services": {
                    "a": {
                        "entrypoint": shlex.join(w[:3]),
                        "command": _script(w[3:]).replace("$", "$$"),
                    }
                }
            },
            width=50,
        ),
    ),
    "json": ("argv.json", lambda w: json.dumps({"argv": _escaped(w)}, indent=2)),
    "dockerfile": (
        "Dockerfile",
        lambda w: f"FROM x/sglang:v0.5.18\nCMD {json.dumps(_escaped(w))}\n",
    ),
    "dockerfile, shell": (
        "Dockerfile",
        lambda w: "FROM x\nENV A=1\nCMD " + _script(w, " \\\n  ") + "\n",
    ),
    "markdown": ("a.md", lambda w: f"# A\n\n1. Run:\n\n   ```bash\n   {_script(w)}\n   ```\n"),
    "python list": ("a.py", lambda w: f"import subprocess\nsubprocess.run({list(w)!r})\n"),
    "python text": ("a.py", lambda w: f"cmd = {_script(w)!r}\n"),
    "notebook": ("a.ipynb", lambda w: _cell("!" + _script(w, " \\\n  ") + "\n", True)),
    "notebook, python": ("a.ipynb", lambda w: _cell(f"run({_script(w)!r})\n", False)),
}
"""By name: a file's name, and how it holds a command."""
