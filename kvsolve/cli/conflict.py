"""``kvsolve conflict``."""

from __future__ import annotations

from typing import Annotated

import typer

from kvsolve.answers.asking import hider, must_be_readable, reasons_of, session
from kvsolve.answers.conflict import conflict_of
from kvsolve.cli.answering import emit, only_question, stdout_paint, talk, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.check import FILES
from kvsolve.errors import KvsolveError

app = typer.Typer()


@app.command("conflict")
@asks("text", "json", "jsonl")
def conflict(
    asked: Asked,
    files: Annotated[list[str] | None, FILES] = None,
    *,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="FLAG",
            help="Hold this flag at its value; repeatable; everything typed where not given.",
        ),
    ] = None,
) -> int:
    """Tell why nothing valid agrees with the flags that are to stay: a minimal conflict."""
    _, question = only_question(asked, files or ())
    if not keep:  # then all that was typed is to stay, and some of it cannot be read
        must_be_readable(question)
    result = hider(question).result(session().judge(question))
    talk(result)
    try:
        found = conflict_of(question, keep, asked.limit_s)
    except TimeoutError:
        raise KvsolveError(
            f"not decided within {asked.limit_s:g} s whether anything valid agrees with what is"
            " kept; raise --limit-s"
        ) from None
    if asked.format in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        row = {
            **head(),
            "sglang": result.sglang,
            "facts": dict(result.facts),
            "conflict": found.to_dict() if found else None,
        }
        emit(json_line(row) if asked.format == "jsonl" else json_text(row))
    elif found is None:
        emit("no conflict: something valid agrees with what is kept\n")
    else:
        from kvsolve.outputs.repair_text import conflict_text

        reasons = reasons_of(question, found.codes)
        emit(conflict_text(found, stdout_paint(), width(), reasons))
    return int(found is not None)
