"""``kvsolve fix``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kvsolve.answers.asking import hider, reasons_of, session
from kvsolve.answers.repair import Fix, fix_of
from kvsolve.cli.answering import emit, only_question, program_of, stdout_paint, talk, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.check import FILES
from kvsolve.errors import KvsolveError
from kvsolve.model.finding import Verdict

if TYPE_CHECKING:
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
    if files and not command_only and asked.format != "markdown":
        from kvsolve.cli.fixing import Wanted, fix_files

        return fix_files(
            asked,
            files,
            Wanted(tuple(keep), costs, top, write, skip_others, exit_non_zero_on_fix),
        )
    if write:
        raise KvsolveError("--write edits files; give one, without --command-only or markdown")
    _, question = only_question(asked, files or ())
    result = session().judge(question)
    answer = fix_of(question, result, keep, costs, top, asked.limit_s, look_elsewhere=True)
    talk(answer.result)
    emit(_render(asked, question, answer, command_only))
    return _code(asked, answer)


def _cost(pair: str) -> tuple[str, int]:
    flag, _, number = pair.rpartition("=")
    if not flag or not number.isdecimal() or int(number) < 1:
        raise KvsolveError(f"--cost takes FLAG=N with N a positive integer, not {pair!r}")
    return flag, int(number)


def _code(asked: Asked, answer: Fix) -> int:
    """1 where something was to be repaired, as for a check; 2 where that is not known."""
    if answer.gave_up or (answer.result.verdict is Verdict.UNKNOWN and not asked.allow_unknown):
        return 2
    return int(bool(answer.result.errors) and not asked.exit_zero)


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
        return "" if answer.result.errors else paste(shown, program)
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
    if not answer.result.errors:
        return first
    print(_no_repair(answer), file=sys.stderr)
    return first + elsewhere_text(answer.elsewhere, columns)


def _no_repair(answer: Fix) -> str:
    if answer.gave_up:
        bound = "" if answer.bound is None else f"; any repair costs at least {answer.bound}"
        return f"no repair found in the time given{bound}"
    if answer.instead:
        return "no edit of a flag mends this: " + " ".join(answer.instead)
    return "no repair: " + "; ".join(f.message for f in answer.result.errors[:1])
