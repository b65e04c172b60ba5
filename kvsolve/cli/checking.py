"""A check from its options to its exit code."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.alike import Alike
from kvsolve.answers.asking import hider, session
from kvsolve.answers.places import placed
from kvsolve.cli.answering import (
    Talk,
    Tally,
    each_question,
    emit,
    program_of,
    stdout_paint,
    talk,
    width,
)
from kvsolve.cli.progress import Progress
from kvsolve.cli.sieve import Sieve, baseline_for
from kvsolve.cli.sources import SourceError
from kvsolve.outputs.report import Answer, Problem
from kvsolve.outputs.words import count_of
from kvsolve.outputs.writers import Look, writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.cli.sources import Source
    from kvsolve.model.finding import CheckResult
    from kvsolve.outputs.report import Patch
    from kvsolve.session import Question

__all__ = ["run_check"]

_PATIENCE = 30.0
"""Seconds of a run that repairs may take where --limit-s says nothing."""


def run_check(
    asked: Asked,
    files: Sequence[str],
    *,
    effective: bool = False,
    notes: bool = False,
    skip_others: bool = False,
    baseline: str | None = None,
    write_baseline: str | None = None,
) -> int:
    """Check every command, print the answers, tell the exit code.

    Args:
        asked: The shared options.
        files: Files with commands; ``-`` is stdin.
        effective: Print what will really run.
        notes: Show every default that is replaced.
        skip_others: Pass over files without a launch command.
        baseline: A file of findings that do not count.
        write_baseline: Where to write the findings of this run as a baseline.
    """
    run = _Run(asked, effective and asked.format == "text", notes, baseline, write_baseline)
    with Progress() as progress:
        for item in each_question(asked, files, sure=not skip_others):
            if isinstance(item, SourceError):
                run.problem(Problem(item.file, item.line, str(item)))
            else:
                run.command(*item)
            progress.step()
        return run.close()


class _Run:
    """One run over commands: what it prints, and what its exit code comes to."""

    def __init__(
        self, asked: Asked, effective: bool, notes: bool, baseline: str | None, write: str | None
    ) -> None:
        self.asked, self.effective = asked, effective
        self.out = writer(
            asked.format, Look(stdout_paint(), width(), notes or asked.setting("notes"))
        )
        self.tally, self.say = Tally(asked), Talk()
        self.spent, self.without = 0.0, 0
        self.alike = Alike()
        self.sieve = Sieve(baseline_for(baseline or asked.setting("baseline"), write), bool(write))

    def problem(self, problem: Problem) -> None:
        """Tell of something that cannot be used."""
        self.tally.errors += 1
        print(f"kvsolve: error: {problem}", file=sys.stderr)
        self.print(self.out.problem(problem))

    def command(self, source: Source, question: Question) -> None:
        """Judge one command and print what there is to say of it."""
        judged = session().judge(question, self.alike)
        if source.found is not None and source.document is not None:
            judged = placed(judged, source.found, source.document)
        result, mistakes = self.sieve.sift(hider(question).result(judged), self.asked, source)
        for mistake in mistakes:
            self.problem(mistake)
        self.tally.add(result)
        talk(result, self.say)
        if self.effective:
            emit(_effective(question, result))
        else:
            patches = self._patches(source, question, result)
            self.print(self.out.answer(Answer(result, program_of(question), patches)))

    def _patches(
        self, source: Source, question: Question, result: CheckResult
    ) -> tuple[Patch, ...]:
        """Repairs as changes of the file, where the format carries them and there is time."""
        if self.asked.format != "sarif" or not result.errors:
            return ()
        if self.spent > _PATIENCE and self.asked.limit_s is None:
            self.without += 1
            return ()
        from kvsolve.cli.patches import patches_of

        began = time.monotonic()
        found = patches_of(source, question, result, self.asked)
        self.spent += time.monotonic() - began
        return found

    def close(self) -> int:
        """Print what is left, and tell the exit code."""
        if self.without:
            commands = count_of(self.without, "command")
            print(f"repairs of {commands} left out; --limit-s allows for more", file=sys.stderr)
        unused = self.sieve.close()
        for idle in unused:
            self.tally.add_severity(idle.severity)
        self.print(self.out.close(unused))
        return self.tally.code

    def print(self, text: str) -> None:
        """Write to stdout, unless that is kept for commands to paste."""
        if not self.effective:
            emit(text)


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
