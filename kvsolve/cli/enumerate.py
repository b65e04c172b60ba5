"""``kvsolve list`` and ``kvsolve count``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.api import facts_of, hider
from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question, names_of, vary_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.session import Question

app = typer.Typer()
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
    from kvsolve.solve.enumerate import iter_configs
    from kvsolve.solve.repair import command_tokens

    question = base_question(asked, given)
    flags, projected = _scope(question, vary, project)
    hide, table = hider(question), question.pack.flags
    talk_of(question)
    found = iter_configs(question.context, question.config, flags, project=projected)
    told = projected or list(flags)
    for config in islice(found, most):
        assignment = {dest: hide.value(config.values[dest], dest) for dest in told}
        if asked.format == "text":
            words = [f"{table.flag(d).name}={spoken_value(v)}" for d, v in assignment.items()]
            emit("  ".join(words) + "\n")
        else:
            argv = hide.argv(command_tokens(config, table))
            emit(json_line({"argv": list(argv), "assignment": assignment}))
    return 0


@app.command("count")
@asks("text", "json", "jsonl")
def count(asked: Asked, *, vary: Vary = None, project: Project = None, given: Given = None) -> int:
    """Count the valid configurations over some flags, exactly."""
    from kvsolve.outputs.envelope import head, json_line, json_text
    from kvsolve.solve.count import count as search

    question = base_question(asked, given)
    flags, projected = _scope(question, vary, project)
    number = search(question.context, question.config, flags, project=projected)
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
) -> tuple[dict[str, list[Any] | None], list[str]]:
    flags = vary_of(question.pack, vary or ())
    projected = [d for text in project or () for d in names_of(question.pack.flags, text)]
    if not flags and not projected:
        raise KvsolveError("name the flags to look at with --vary or --project")
    return flags, projected
