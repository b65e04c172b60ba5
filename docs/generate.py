"""Writes the pages of docs/ that are made from the command; ``--check`` fails on a stale one."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import typer

from kvsolve.cli.app import VERBS, app
from kvsolve.cli.asked import SHARED as OPTIONS
from kvsolve.cli.examples import EXAMPLES
from kvsolve.cli.main import main as main_of_kvsolve

DOCS = Path(__file__).resolve().parent
HEAD = "<!-- Written by `make docs` (docs/generate.py) from the command itself; do not edit. -->\n"
SHARED = {option.name for option in OPTIONS}


def cli_page() -> str:
    """The reference of the command line."""
    group = typer.main.get_command(app)
    context: Any = group.make_context("kvsolve", ["--help"], resilient_parsing=True)
    commands = {verb: group.get_command(context, verb) for verb in VERBS}  # type: ignore[attr-defined]
    blocks = [
        HEAD,
        "# The command line\n",
        "`kvsolve VERB [OPTIONS] [ARGUMENTS] [-- COMMAND]`: what stands behind `--` is the launch"
        " command, with or without `python -m sglang.launch_server` in front.\n",
        "stdout carries the answer, stderr the talk. Exit codes: 0 nothing at or above `--fail-on`,"
        " 1 findings, 2 bad input or an unknown verdict ([why](adr/0003-exit-codes.md)).\n",
        "## Options that most verbs share\n",
        *_options([p for p in commands["check"].params if p.name in SHARED]),
    ]
    for verb, command in commands.items():
        blocks += _family(verb, command) if hasattr(command, "commands") else _verb(verb, command)
    return "\n".join(blocks)


def _family(name: str, group: Any) -> list[str]:
    blocks = [f"## {name}\n", _help(group)]
    for verb, command in group.commands.items():
        blocks += _verb(f"{name} {verb}", command, "###")
    return blocks


def _verb(verb: str, command: Any, level: str = "##") -> list[str]:
    own = [p for p in command.params if p.name not in (*SHARED, "help") or p.name == "format"]
    takes = any(p.name == "gpu" for p in command.params)
    tail = "\nTakes the shared options.\n" if takes else ""
    return [f"{level} {verb}\n", _help(command), *_options(own), tail, *_examples(verb)]


def _examples(verb: str) -> list[str]:
    lines = [f"# {e.about}\nkvsolve {e.line}" for e in EXAMPLES.get(verb, ())]
    return ["```sh\n" + "\n".join(lines) + "\n```\n"] if lines else []


def _help(command: Any) -> str:
    return " ".join((command.help or "").split()) + "\n"


def _options(params: list[Any]) -> list[str]:
    rows = [_row(param) for param in params]
    return ["| option | meaning |", "|---|---|", *rows, ""] if rows else []


def _row(param: Any) -> str:
    name = ", ".join(f"`{o}`" for o in param.opts) if param.opts[0][:1] == "-" else ""
    choices = getattr(param.type, "choices", None)
    metavar = "\\|".join(choices) if choices else (param.metavar or "").replace("|", "\\|")
    shown = f"{name} {metavar}".strip()
    default = param.default
    plain = default is not None and not isinstance(default, bool) and not callable(default)
    told = f" Default: {default}." if plain and default not in ((), []) else ""
    return f"| {shown} | {(param.help or '').replace('|', chr(92) + '|')}{told} |"


EXAMPLE = (
    "--sglang", "0.5.18", "--gpu", "h100", "--", "python", "-m", "sglang.launch_server",
    "--model-path", "meta-llama/Llama-3.1-8B-Instruct", "--is-embedding",
    "--prefill-only-disable-kv-cache", "--kv-cache-dtype", "nvfp4",
)  # fmt: skip


def readme() -> str:
    """The README with what its example really prints."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- demo -->\n")
    _, _, after = rest.partition("<!-- /demo -->")
    shown = _shown("check") + "\n" + _shown("fix")
    return f"{before}<!-- demo -->\n```console\n{shown}```\n<!-- /demo -->{after}"


def _shown(verb: str) -> str:
    at = EXAMPLE.index("sglang.launch_server") + 1
    command = " ".join([verb, *EXAMPLE[:at]]), " ".join(EXAMPLE[at:])
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        main_of_kvsolve([verb, *EXAMPLE])
    return f"$ kvsolve {command[0]} \\\n    {command[1]}\n{out.getvalue()}"


PAGES = {"cli.md": cli_page, "../README.md": readme}


def main(arguments: list[str]) -> int:
    """Write the pages, or tell which are stale."""
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.resolve().relative_to(DOCS.parent)}")
    if stale and "--check" in arguments:
        print(f"stale: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
