"""``kvsolve list`` and ``kvsolve count``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.answers.asking import facts_of
from kvsolve.answers.enumerate import configs_of, count_of
from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, freed, names_of, vary_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.answers.enumerate import Listed
    from kvsolve.session import Question

app = typer.Typer()
_PATIENCE = 60.0
"""Seconds that counting may take where --limit-s says nothing."""
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="FLAG[=a,b]",
        help="Let this flag take all its values, or those named; also gpu, model, release; "
        "repeatable.",
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

    for wanted, question, config in islice(_configs(asked, given, vary, project), most):
        if asked.format == "text":
            table = question.pack.flags
            pairs = [(table.flag(d).name, v) for d, v in config.assignment.items()]
            told = [f"{name}={spoken_value(v)}" for name, v in [*wanted.items(), *pairs]]
            emit("  ".join(told) + "\n")
        else:
            found = config.to_dict()
            emit(json_line({**found, "assignment": {**wanted, **found["assignment"]}}))
    return 0


def _configs(
    asked: Asked,
    given: Sequence[str] | None,
    vary: Sequence[str] | None,
    project: Sequence[str] | None,
) -> Iterator[tuple[dict[str, Any], Question, Listed]]:
    """Context, command and configuration, one context after the other."""
    contexts, flags = freed(asked, given, vary)
    for wanted, question in contexts:
        found = configs_of(question, *_scope(question, flags, project, freed=bool(wanted)))
        talk_of(question)
        for config in found:
            yield wanted, question, config


@app.command("count")
@asks("text", "json", "jsonl")
def count(asked: Asked, *, vary: Vary = None, project: Project = None, given: Given = None) -> int:
    """Count the valid configurations over some flags, exactly."""
    from kvsolve.outputs.envelope import head, json_line, json_text

    contexts, flags = freed(asked, given, vary)
    limit = _PATIENCE if asked.limit_s is None else asked.limit_s
    counts = []
    for wanted, question in contexts:
        scope = _scope(question, flags, project, freed=bool(wanted))
        counts.append((wanted, count_of(question, *scope, limit)))
        talk_of(question)
    number = sum(count for _, count in counts)
    if asked.format == "text":
        emit(f"{number}\n")
        return 0
    facts = facts_of(contexts[0][1])
    facts["facts"] = {n: None if n in contexts[0][0] else v for n, v in facts["facts"].items()}
    answer: dict[str, Any] = {
        **head(),
        **facts,
        "count": str(number),
        "exact": True,
        "lower": str(number),
        "upper": str(number),
        "over": "representatives",
        "contexts": [{**wanted, "count": str(count)} for wanted, count in counts],
    }
    emit(json_line(answer) if asked.format == "jsonl" else json_text(answer))
    return 0


def _scope(
    question: Question, vary: Sequence[str], project: Sequence[str] | None, *, freed: bool
) -> tuple[dict[str, Sequence[Any] | None], list[str]]:
    flags = vary_of(question.pack, vary)
    projected = [d for text in project or () for d in names_of(question.pack.flags, text)]
    if not flags and not projected and not freed:
        raise KvsolveError("name the flags to look at with --vary or --project")
    return flags, projected
