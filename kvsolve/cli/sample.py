"""``kvsolve sample``."""

from __future__ import annotations

from typing import Annotated

import typer

from kvsolve.answers.enumerate import sample_of
from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question, vary_of
from kvsolve.errors import KvsolveError

app = typer.Typer()
_PATIENCE = 60.0
"""Seconds that counting may take where --limit-s says nothing."""


@app.command("sample")
@asks("text", "json", "jsonl", "csv", "shell")
def sample(
    asked: Asked,
    *,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="FLAG[=a,b]",
            help="Let this flag take all its values, or those named; repeatable.",
        ),
    ] = None,
    number: Annotated[
        int, typer.Option("-n", metavar="N", min=1, help="How many to draw, with repetition.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Equal seeds draw the same.")] = 0,
    given: Given = None,
) -> int:
    """Draw valid configurations over some flags at random, each as likely as any other."""
    from kvsolve.outputs.configurations import Configurations

    question = base_question(asked, given)
    if not vary:
        raise KvsolveError("name the flags to look at with --vary")
    flags = vary_of(question.pack, vary)
    limit = _PATIENCE if asked.limit_s is None else asked.limit_s
    talk_of(question)
    writer = Configurations(asked.format)
    for found in sample_of(question, flags, number, seed, limit):
        emit(writer.line(found.argv, found.assignment, question.pack.flags, {}))
    return 0
