"""Examples of every verb: its help shows them, the reference shows them, the tests run them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EXAMPLES", "Example", "epilog"]


class Example(NamedTuple):
    """One command line of kvsolve, and what it is for."""

    about: str
    line: str


_MODEL = "--model-path meta-llama/Llama-3.1-8B-Instruct"

EXAMPLES: dict[str, tuple[Example, ...]] = {
    "check": (
        Example(
            "Everything wrong with a command, for one GPU",
            f"check --gpu h100 -- python -m sglang.launch_server {_MODEL} --kv-cache-dtype nvfp4",
        ),
        Example("Every launch command below a folder", "check deploy/"),
        Example(
            "What will really run, ready to paste",
            f"check --gpu h100 --effective -- sglang serve {_MODEL}",
        ),
        Example("One line a finding, for editors", "check --format concise deploy/server.yaml"),
        Example("For code scanning", "check --format sarif deploy/"),
        Example("From now on only new findings count", "check --write-baseline known.json deploy/"),
    ),
    "fix": (
        Example(
            "The cheapest edits, and two alternatives",
            f"fix --gpu h100 -- python -m sglang.launch_server {_MODEL} --kv-cache-dtype nvfp4",
        ),
        Example("A diff of a file; --write edits it", "fix --gpu h100 deploy/server.yaml"),
        Example(
            "Leave a flag alone, make another dear",
            f"fix --gpu b200 --keep page-size --cost tp-size=5 -- {_MODEL} --page-size 3",
        ),
        Example(
            "Only the command, to run it",
            f"fix --gpu h100 --command-only -- {_MODEL} --kv-cache-dtype nvfp4",
        ),
    ),
    "explain": (
        Example("One entry in full", "explain KV1035"),
        Example(
            "As of an older release, with its condition",
            "explain --sglang 0.5.18 --conditions KV1035",
        ),
    ),
    "why": (
        Example("The entry behind a line of a log", 'why "the error as SGLang printed it"'),
        Example("A whole traceback", "why - <server.log"),
    ),
    "conflict": (
        Example(
            "Why a flag cannot stay",
            f"conflict --gpu h100 --keep kv-cache-dtype -- {_MODEL} --kv-cache-dtype nvfp4",
        ),
    ),
    "options": (
        Example(
            "What a flag may still be beside a command",
            f"options --gpu h100 kv-cache-dtype -- {_MODEL} --attention-backend fa3",
        ),
    ),
    "list": (
        Example(
            "Every valid pair of two flags",
            f"list --gpu h100 --vary kv-cache-dtype --vary page-size=1,64 -- {_MODEL}",
        ),
        Example(
            "The first ten, as JSON lines",
            f"list --gpu h100 --vary attention-backend -n 10 --format jsonl -- {_MODEL}",
        ),
    ),
    "count": (
        Example(
            "How many configurations are valid",
            f"count --gpu h100 --vary kv-cache-dtype --vary attention-backend -- {_MODEL}",
        ),
    ),
    "sample": (
        Example(
            "Five valid configurations at random, the same for the same seed",
            f"sample --gpu h100 --vary kv-cache-dtype --vary page-size=1,64 -n 5 -- {_MODEL}",
        ),
    ),
    "cover": (
        Example(
            "Few commands that try every pair of values that goes together",
            "cover --gpu h100 --vary kv-cache-dtype=auto,fp8_e4m3 --vary page-size=1,64"
            f" --format shell -- {_MODEL}",
        ),
    ),
    "export": (
        Example(
            "The constraints around two flags, for another solver",
            "export --gpu h100 --to minizinc --vary kv-cache-dtype --vary page-size=1,64"
            f" -- {_MODEL}",
        ),
    ),
    "matrix": (
        Example(
            "Which KV dtypes go with which GPUs",
            "matrix --family llama-mha --rows kv-cache-dtype --cols gpu=h100,b200 --allow-unknown",
        ),
        Example(
            "A page for a browser",
            "matrix --gpu b200 --family llama-mha --rows kv-cache-dtype=auto,nvfp4"
            " --cols attention-backend --format html",
        ),
    ),
    "graph": (
        Example(
            "What hangs together with a flag",
            "graph --gpu h100 --family llama-mha --flag kv-cache-dtype",
        ),
    ),
    "rules": (
        Example("Everything that reads a flag", "rules --flag kv-cache-dtype --kind refuse"),
        Example("All entries as JSON", "rules --sglang 0.5.18 --format json"),
    ),
    "flags": (
        Example("One flag of the newest release", "flags kv-cache-dtype"),
        Example("All flags of a release, for a spreadsheet", "flags --sglang 0.5.18 --format csv"),
    ),
    "profiles": (Example("The GPUs that are known", "profiles gpu"),),
    "packs": (Example("The releases that are known", "packs"),),
    "batch": (
        Example("Judge one configuration a line", "batch --gpu h100 configs.jsonl"),
        Example("And repair what is refused", "batch --gpu h100 --fix configs.jsonl"),
    ),
    "schema": (
        Example("Let an editor complete SGLang's --config file", "schema config --sglang 0.5.23"),
        Example("What a program may rely on", "schema check"),
    ),
    "mcp": (Example("Serve an agent; the agent starts this itself", "mcp"),),
    "upstream": (
        Example("The flags of a release, read from its wheel", "upstream flags sglang.whl"),
    ),
}
"""Verb -> its examples, without the program's name."""


def epilog(verb: str) -> str:
    """The examples of a verb as the help shows them; "" where it has none."""
    shown = EXAMPLES.get(verb, ())
    if not shown:
        return ""
    lines = ["Examples"]
    for example in shown:
        lines.append(f"[dim]# {_plain(example.about)}[/dim]\nkvsolve {_plain(example.line)}")
    return "\n\n".join(lines)


def _plain(text: str) -> str:
    """Text that the help does not take for markup."""
    return text.replace("[", "\\[")
