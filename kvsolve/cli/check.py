"""``kvsolve check``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.api import hider, session
from kvsolve.cli.answering import (
    each_question,
    emit,
    exit_code,
    program_of,
    stdout_paint,
    talk,
    width,
)
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.sources import SourceError

if TYPE_CHECKING:
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question

app = typer.Typer()
FILES = typer.Argument(
    metavar="[FILE]... [-- COMMAND]",
    help="Shell files with a launch command, `-` for stdin; or the command behind `--`.",
)


@app.command("check")
@asks("text", "json", "jsonl", "markdown")
def check(
    asked: Asked,
    files: Annotated[list[str] | None, FILES] = None,
    *,
    effective: Annotated[
        bool, typer.Option("--effective", help="Print what will really run, ready to paste.")
    ] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Show every default that SGLang replaces.")
    ] = False,
) -> int:
    """Say everything that SGLang would refuse or silently rewrite about a launch command."""
    questions: list[Question] = []
    results: list[CheckResult] = []
    errors: list[SourceError] = []
    for item in each_question(asked, files or ()):
        if isinstance(item, SourceError):
            errors.append(item)
            print(f"kvsolve: error: {item}", file=sys.stderr)
            continue
        source, question = item
        result = replace(session().judge(question), source=source.location)
        questions.append(question)
        results.append(hider(question).result(result))
        talk(results[-1])
    emit(_render(asked, questions, results, errors, effective=effective, notes=notes))
    return exit_code(asked, results, errors)


def _render(
    asked: Asked,
    questions: list[Question],
    results: list[CheckResult],
    errors: list[SourceError],
    *,
    effective: bool,
    notes: bool,
) -> str:
    if asked.format in ("json", "jsonl"):
        return _json(asked.format, results, errors)
    if effective:
        pairs = zip(questions, results, strict=True)
        return "\n".join(_effective(question, result) for question, result in pairs)
    if asked.format == "markdown":
        from kvsolve.outputs.markdown import check_markdown

        pairs = zip(questions, results, strict=True)
        return "\n".join(check_markdown(result, program_of(q)) for q, result in pairs)
    from kvsolve.outputs.text import check_text

    paint, columns = stdout_paint(), width()
    texts = []
    for result in results:
        where = result.source
        title = paint("bold", f"{where.file}:{where.line}") + "\n\n" if where else ""
        texts.append(title + check_text(result, paint, columns, notes=notes))
    return "\n".join(texts)


def _json(style: str, results: list[CheckResult], errors: list[SourceError]) -> str:
    from kvsolve.outputs.envelope import envelope, json_line, json_text, problem

    rows = [result.to_dict() for result in results]
    if style == "jsonl":
        return "".join(json_line(row) for row in rows)
    return json_text(envelope(rows, [_problem(error, problem) for error in errors]))


def _problem(error: SourceError, make: Any) -> dict[str, Any]:
    return dict(make(error.file, error.line, str(error)))


def _effective(question: Question, result: CheckResult) -> str:
    from kvsolve.outputs.effective import effective_text

    hide = hider(question)
    spans = [
        (o.flag.dest, hide.argv(question.argv[o.place : o.end]))
        for o in question.parsed.occurrences
    ]
    return effective_text(spans, result, question.pack.flags, program_of(question))
