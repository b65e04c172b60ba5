"""A check from its options to its exit code."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import hider, session
from kvsolve.cli.answering import (
    each_question,
    emit,
    exit_code,
    program_of,
    stdout_paint,
    talk,
    width,
)
from kvsolve.cli.sources import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question

__all__ = ["run_check"]


def run_check(
    asked: Asked, files: Sequence[str], *, effective: bool = False, notes: bool = False
) -> int:
    """Check every command, print the answers, tell the exit code.

    Args:
        asked: The shared options.
        files: Files with commands; ``-`` is stdin.
        effective: Print what will really run.
        notes: Show every default that is replaced.
    """
    questions: list[Question] = []
    results: list[CheckResult] = []
    errors: list[SourceError] = []
    for item in each_question(asked, files):
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
    from kvsolve.inputs.argv import parse_argv
    from kvsolve.outputs.effective import effective_argv, effective_text

    hide = hider(question)
    spans = [
        (o.flag.dest, hide.argv(question.argv[o.place : o.end]))
        for o in question.parsed.occurrences
    ]
    flags = question.pack.flags
    required = ("--model-path", "m")

    def reads(tokens: Sequence[str]) -> bool:
        return not parse_argv((*required, *tokens), flags).problems

    pasted = effective_argv(spans, result, flags, reads)
    moving = _moving(question, result, pasted)
    return effective_text(spans, result, flags, program_of(question), reads, moving)


def _moving(question: Question, result: CheckResult, pasted: Sequence[str]) -> frozenset[str]:
    """Dests of which resolution makes something else when it starts from its own results.

    Under data-parallel attention, say, it divides a typed chunk size once more.
    """
    env = dict(question.prepared[0].context.env)
    request = replace(question.request, command=pasted, sglang=question.pack.release, env=env)
    again = session().judge(session().ask(request)).effective
    told = result.effective.items()
    return frozenset(dest for dest, value in told if dest in again and again[dest] != value)
