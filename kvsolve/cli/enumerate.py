"""``kvsolve list`` and ``kvsolve count``."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.answers.asking import facts_of
from kvsolve.answers.enumerate import bounds_of, configs_of
from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, freed, names_of, vary_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.answers.enumerate import Listed
    from kvsolve.session import Question
    from kvsolve.solve.count import Count

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
@asks("text", "json", "jsonl", "csv", "shell")
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

    from kvsolve.outputs.configurations import Configurations

    writer = Configurations(asked.format)
    number = 0
    try:
        for wanted, question, found in islice(_configs(asked, given, vary, project), most):
            emit(writer.line(found.argv, found.assignment, question.pack.flags, wanted))
            number += 1
    except TimeoutError:
        sys.stdout.flush()
        print(f"the time was up after {number} configurations; there may be more", file=sys.stderr)
    return 0


def _configs(
    asked: Asked,
    given: Sequence[str] | None,
    vary: Sequence[str] | None,
    project: Sequence[str] | None,
) -> Iterator[tuple[dict[str, Any], Question, Listed]]:
    """Context, command and configuration, one context after the other."""
    contexts, flags = freed(asked, given, vary)
    limit = asked.limit_s
    until = None if limit is None else time.monotonic() + limit
    for wanted, question in contexts:
        scope = _scope(question, flags, project, freed=bool(wanted))
        left = None if until is None else max(0.0, until - time.monotonic())
        found = configs_of(question, *scope, left)
        talk_of(question)
        for config in found:
            yield wanted, question, config


@app.command("count")
@asks("text", "json", "jsonl")
def count(asked: Asked, *, vary: Vary = None, project: Project = None, given: Given = None) -> int:
    """Count the valid configurations over some flags, exactly or between bounds proven in time."""
    from kvsolve.outputs.envelope import head, json_line, json_text

    contexts, flags = freed(asked, given, vary)
    limit = _PATIENCE if asked.limit_s is None else asked.limit_s
    counts = []
    for wanted, question in contexts:
        scope = _scope(question, flags, project, freed=bool(wanted))
        counts.append((wanted, bounds_of(question, *scope, limit)))
        talk_of(question)
    lower, upper = (sum(getattr(c, name) for _, c in counts) for name in ("lower", "upper"))
    if asked.format == "text":
        exact = f"{lower}\n"
        emit(
            exact if lower == upper else f"at least {lower}, at most {upper} (not exact in time)\n"
        )
        return 0
    facts = facts_of(contexts[0][1])
    facts["facts"] = {n: None if n in contexts[0][0] else v for n, v in facts["facts"].items()}
    answer: dict[str, Any] = {
        **head(),
        **facts,
        "count": str(lower) if lower == upper else None,
        "exact": lower == upper,
        "lower": str(lower),
        "upper": str(upper),
        "over": "representatives",
        "contexts": [_counted(wanted, found) for wanted, found in counts],
    }
    emit(json_line(answer) if asked.format == "jsonl" else json_text(answer))
    return 0


def _counted(wanted: dict[str, Any], found: Count) -> dict[str, Any]:
    count = str(found.lower) if found.exact else None
    return {**wanted, "count": count, "lower": str(found.lower), "upper": str(found.upper)}


def _scope(
    question: Question, vary: Sequence[str], project: Sequence[str] | None, *, freed: bool
) -> tuple[dict[str, Sequence[Any] | None], list[str]]:
    flags = vary_of(question.pack, vary)
    projected = [d for text in project or () for d in names_of(question.pack.flags, text)]
    if not flags and not projected and not freed:
        raise KvsolveError("name the flags to look at with --vary or --project")
    return flags, projected
