"""``kvsolve options``."""

from __future__ import annotations

from typing import Annotated

import typer

from kvsolve.answers.asking import reasons_of
from kvsolve.answers.options import options_of
from kvsolve.cli.answering import emit, stdout_paint, talk_of, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.completing import flag_names
from kvsolve.cli.scope import Given, base_question

app = typer.Typer()


@app.command("options")
@asks("text", "json", "jsonl", "csv", "markdown")
def options(
    asked: Asked,
    flags: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FLAG]... [-- COMMAND]",
            help="Flags to tell about; all if none.",
            autocompletion=flag_names,
        ),
    ] = None,
    *,
    given: Given = None,
) -> int:
    """Tell what flags may still be, and which entries exclude each of the other values."""
    question = base_question(asked, given)
    found = options_of(question, flags or (), asked.limit_s).to_dict()
    talk_of(question)
    rows = found["flags"]
    codes = {code for row in rows for value in row["values"] for code in value["codes"]}
    reasons = reasons_of(question, codes)
    if asked.format in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        answer = {**head(), **found}
        emit("".join(map(json_line, rows)) if asked.format == "jsonl" else json_text(answer))
    elif asked.format == "text":
        from kvsolve.outputs.options_text import options_text

        emit(options_text(rows, reasons, stdout_paint(), width()))
    else:
        from kvsolve.outputs.options_text import options_table

        emit(options_table(rows, reasons, asked.format))
    return 2 if any(v["ok"] is None for row in rows for v in row["values"]) else 0
