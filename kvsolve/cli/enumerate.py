"""``kvsolve list`` and ``kvsolve count``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.answers.asking import facts_of
from kvsolve.answers.enumerate import configs_of, count_of
from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question, names_of, vary_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.session import Question

app = typer.Typer()
_PATIENCE = 60.0
"""Seconds that counting may take where --limit-s says nothing."""
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="FLAG[=a,b]",
        help="Let this flag take all its values, or those named; repeatable.",
    ),
]
Project = Annotated[
    list[str] | None,
    typer.Option(
        "--project",
        metavar="FLAG,...",
        help="Combinations of these flags that some values of the others make valid.",
    ),
]


@app.command("list")
@asks("text", "json", "jsonl")
def list_(
    asked: Asked,
    *,
    vary: Vary = None,
    project: Project = None,
    most: Annotated[
        int | None, typer.Option("-n", metavar="N", min=1, help="Stop after N configurations.")
    ] = None,
    given: Given = None,
) -> int:
    """List every valid configuration over some flags; the others stay as given or unset."""
    from itertools import islice

    from kvsolve.outputs.envelope import json_line
    from kvsolve.outputs.words import spoken_value

    question = base_question(asked, given)
    found = configs_of(question, *_scope(question, vary, project))
    talk_of(question)
    for config in islice(found, most):
        if asked.format == "text":
            table = question.pack.flags
            pairs = config.assignment.items()
            emit("  ".join(f"{table.flag(d).name}={spoken_value(v)}" for d, v in pairs) + "\n")
        else:
            emit(json_line(config.to_dict()))
    return 0


@app.command("count")
@asks("text", "json", "jsonl")
def count(asked: Asked, *, vary: Vary = None, project: Project = None, given: Given = None) -> int:
    """Count the valid configurations over some flags, exactly."""
    from kvsolve.outputs.envelope import head, json_line, json_text

    question = base_question(asked, given)
    limit = _PATIENCE if asked.limit_s is None else asked.limit_s
    number = count_of(question, *_scope(question, vary, project), limit)
    talk_of(question)
    if asked.format == "text":
        emit(f"{number}\n")
        return 0
    answer: dict[str, Any] = {
        **head(),
        **facts_of(question),
        "count": str(number),
        "exact": True,
        "lower": str(number),
        "upper": str(number),
        "over": "representatives",
    }
    emit(json_line(answer) if asked.format == "jsonl" else json_text(answer))
    return 0


def _scope(
    question: Question, vary: Sequence[str] | None, project: Sequence[str] | None
) -> tuple[dict[str, Sequence[Any] | None], list[str]]:
    flags = vary_of(question.pack, vary or ())
    projected = [d for text in project or () for d in names_of(question.pack.flags, text)]
    if not flags and not projected:
        raise KvsolveError("name the flags to look at with --vary or --project")
    return flags, projected
