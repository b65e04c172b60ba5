"""``kvsolve fix``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kvsolve.answers.asking import hider, reasons_of, session
from kvsolve.answers.places import placed
from kvsolve.answers.repair import Fix, fix_of
from kvsolve.answers.sparing import spared, wanting
from kvsolve.cli.answering import emit, only_question, program_of, stdout_paint, talk, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.check import FILES
from kvsolve.cli.sieve import Sieve, baseline_for, tell_suppressed
from kvsolve.errors import KvsolveError
from kvsolve.model.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.cli.sources import Source
    from kvsolve.model.finding import CheckResult
    from kvsolve.outputs.report import Problem
    from kvsolve.session import Question

app = typer.Typer()


@app.command("fix")
@asks("text", "json", "jsonl", "markdown")
def fix(
    asked: Asked,
    files: Annotated[list[str] | None, FILES] = None,
    *,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="How many repairs to show.")
    ] = 3,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="FLAG", help="Leave this flag as it is; repeatable."),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            "--cost", metavar="FLAG=N", help="Make edits of a flag N times as dear; repeatable."
        ),
    ] = None,
    command_only: Annotated[
        bool, typer.Option("--command-only", help="Print just the repaired command.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Edit the files in place instead of showing a diff.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="PATH", help="Findings in this file of known ones stay."
        ),
    ] = None,
    skip_others: Annotated[
        bool, typer.Option("--skip-others", help="Pass over files without a launch command.")
    ] = False,
    exit_non_zero_on_fix: Annotated[
        bool,
        typer.Option("--exit-non-zero-on-fix", help="Exit with 1 where `--write` edited a file."),
    ] = False,
) -> int:
    """Find the cheapest edits of a launch command that leave nothing to refuse.

    For files the edits come as a diff of each file, which `git apply` takes.
    """
    costs = {**(asked.setting("cost") or {}), **dict(_cost(pair) for pair in cost or ())}
    keep = [*(asked.setting("keep") or ()), *(keep or ())]
    baseline = baseline or asked.setting("baseline")
    if files and not command_only and asked.format != "markdown":
        from kvsolve.cli.fixing import Wanted, fix_files

        return fix_files(
            asked,
            files,
            Wanted(tuple(keep), costs, top, write, skip_others, exit_non_zero_on_fix, baseline),
        )
    if write:
        raise KvsolveError("--write edits files; give one, without --command-only or markdown")
    source, question = only_question(asked, files or ())
    shown, mistakes = _sifted(asked, source, question, baseline)
    answer = Fix(shown, ())
    if wanting(shown) or not shown.errors:
        result = session().judge(question)

        def find(excused: frozenset[str]) -> Fix:
            options = (keep, costs, top, asked.limit_s)
            return fix_of(question, result, *options, look_elsewhere=True, excused=excused)

        answer = spared(question, shown, find)
    talk(shown)
    for mistake in mistakes:
        print(f"kvsolve: error: {mistake}", file=sys.stderr)
    emit(_render(asked, question, answer, command_only))
    tell_suppressed(shown)
    return 2 if mistakes else _code(asked, answer)


def _sifted(
    asked: Asked, source: Source, question: Question, baseline: str | None
) -> tuple[CheckResult, Sequence[Problem]]:
    """What a check says of the one command, suppressed findings marked."""
    result = hider(question).result(session().judge(question))
    if source.found is not None and source.document is not None:
        result = placed(result, source.found, source.document)
    return Sieve(baseline_for(baseline)).sift(result, asked, source)


def _cost(pair: str) -> tuple[str, int]:
    flag, _, number = pair.rpartition("=")
    if not flag or not number.isdecimal() or int(number) < 1:
        raise KvsolveError(f"--cost takes FLAG=N with N a positive integer, not {pair!r}")
    return flag, int(number)


def _code(asked: Asked, answer: Fix) -> int:
    """1 where something was to be repaired, as for a check; 2 where that is not known."""
    if answer.gave_up or (answer.result.verdict is Verdict.UNKNOWN and not asked.allow_unknown):
        return 2
    return int(wanting(answer.result) and not asked.exit_zero)


def _render(asked: Asked, question: Question, answer: Fix, command_only: bool) -> str:
    if asked.format in ("json", "jsonl"):
        from kvsolve.outputs.envelope import envelope, json_line, json_text

        row = answer.to_dict()
        return json_line(row) if asked.format == "jsonl" else json_text(envelope([row]))
    from kvsolve.outputs.repair_text import paste

    program = program_of(question)
    shown = hider(question).argv(question.argv)
    if command_only:
        if answer.repairs:
            return paste(answer.repairs[0].argv, program)
        return "" if wanting(answer.result) else paste(shown, program)
    if asked.format == "markdown":
        from kvsolve.outputs.markdown import check_markdown, repairs_markdown

        whole = check_markdown(answer.result, program)
        return whole + "\n" + repairs_markdown(answer.repairs, shown, program)
    return _text(question, answer, shown, program)


def _text(question: Question, answer: Fix, argv: tuple[str, ...], program: tuple[str, ...]) -> str:
    from kvsolve.outputs.repair_text import conflict_text, elsewhere_text, repairs_text
    from kvsolve.outputs.text import headline

    paint, columns = stdout_paint(), width()
    if answer.repairs:
        return repairs_text(answer.repairs, argv, program, paint, columns)
    if answer.conflict:
        reasons = reasons_of(question, answer.conflict.codes)
        told = conflict_text(answer.conflict, paint, columns, reasons)
        return told + elsewhere_text(answer.elsewhere, columns)
    first = headline(answer.result, paint, columns) + "\n"
    if not wanting(answer.result):
        return first
    print(_no_repair(answer), file=sys.stderr)
    return first + elsewhere_text(answer.elsewhere, columns)


def _no_repair(answer: Fix) -> str:
    if answer.gave_up:
        bound = "" if answer.bound is None else f"; any repair costs at least {answer.bound}"
        return f"no repair found in the time given{bound}"
    if answer.instead:
        return "no edit of a flag mends this: " + " ".join(answer.instead)
    refused = [finding for finding in answer.result.errors if not finding.suppressed]
    return "no repair: " + "; ".join(f.message for f in refused[:1])
