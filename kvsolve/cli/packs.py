"""``kvsolve packs``: the releases that are known, and ``packs lint``: what they say in vain."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import typer

from kvsolve.answers.lint import TOPICS, lint_of
from kvsolve.cli.answering import emit, talk_of, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question
from kvsolve.errors import KvsolveError
from kvsolve.outputs.listing import listing

app = typer.Typer(
    invoke_without_command=True,
    help="List the releases that are known, whether each was compared with its real validator or"
    " only read, and how much of each is known; lint looks for faults in one.",
)
Format = Annotated[
    Literal["text", "json", "jsonl", "markdown", "csv"],
    typer.Option("--format", help="How to print the answer."),
]
_COLUMNS = (
    "sglang", "status", "flags", "modelled", "refusals", "rewrites", "statements", "exact",
    "share", "gaps", "last_stage", "late_places", "late_entries", "late_share",
)  # fmt: skip


@app.callback()
def packs(ctx: typer.Context, format: Format = "text") -> int:
    """List the releases that are known, and how much of each; lint looks for faults in one."""
    if ctx.invoked_subcommand is not None:
        return 0
    from kvsolve.packs.figures import figures_of
    from kvsolve.packs.pack import releases

    emit(listing("packs", [figures_of(release) for release in releases()], _COLUMNS, format))
    return 0


@app.command("lint")
@asks("text", "json", "jsonl")
def lint(
    asked: Asked,
    *,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TOPIC", help="values, entries or remedies; repeatable."),
    ] = None,
    contexts: Annotated[
        int | None,
        typer.Option("--contexts", metavar="N", min=1, help="Look at N contexts at most."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every remark.")] = False,
    given: Given = None,
) -> int:
    """Look for what a pack says in vain, twice or wrongly.

    In one context (--gpu and a model) everything is looked at; otherwise all shipped profiles are
    searched for entries that never fire and remedies that never help, which takes minutes.
    """
    unknown = set(only or ()) - set(TOPICS)
    if unknown:
        raise KvsolveError(f"--only takes {', '.join(TOPICS)}, not {sorted(unknown)[0]}")
    if asked.gpu and (asked.family or asked.model_config or asked.command or given):
        if contexts:
            raise KvsolveError("--contexts goes without a GPU and a model of your own")
        question = base_question(asked, given)
        found = lint_of(question, only or TOPICS, asked.limit_s)
        talk_of(question)
    else:
        found = _release(asked, contexts)
    emit(_render(asked.format, found, every=every))
    return int(any(remark["fault"] for remark in found["remarks"]))


def _release(asked: Asked, most: int | None) -> dict[str, Any]:
    from kvsolve.answers.lint_release import lint_release, profiles
    from kvsolve.packs.pack import load_pack, newest

    release = load_pack(asked.sglang or newest()).release
    chosen = profiles([asked.gpu] if asked.gpu else (), [asked.family] if asked.family else ())
    whole = not asked.gpu and not asked.family and (most is None or most >= len(chosen))
    return lint_release(
        release,
        chosen[:most],
        lambda text: print(text, file=sys.stderr),
        whole=whole,
        limit_s=asked.limit_s,
    )


def _render(style: str, found: dict[str, Any], *, every: bool) -> str:
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        return (json_line if style == "jsonl" else json_text)({**head(), **found})
    from kvsolve.outputs.lint_text import lint_text

    return lint_text(found, width(), None if every else 15)
