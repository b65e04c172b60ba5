"""Repairs of the commands in files: a diff of each file, or the files edited in place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kvsolve.answers.sparing import wanting
from kvsolve.cli.answering import Talk, emit, stdout_paint, talk
from kvsolve.cli.repairing import Repairer, Wanted
from kvsolve.cli.sieve import tell_suppressed
from kvsolve.cli.sources import Source, SourceError, environment, sources_in
from kvsolve.errors import KvsolveError
from kvsolve.files.found import Document, FileError, SkippedError
from kvsolve.files.storing import diff_of, store
from kvsolve.files.walk import documents, piped_document
from kvsolve.model.finding import Verdict
from kvsolve.outputs.words import count_of, short_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.answers.filing import Filed
    from kvsolve.answers.repair import Fix
    from kvsolve.cli.asked import Asked
    from kvsolve.model.edit import Edit, Repair
    from kvsolve.outputs.redact import Redactor
    from kvsolve.outputs.report import Problem

__all__ = ["Wanted", "fix_files"]


def fix_files(asked: Asked, files: Sequence[str], wanted: Wanted) -> int:
    """Repair every command of some files; tell the exit code.

    Args:
        asked: The shared options.
        files: Files and folders; ``-`` is stdin.
        wanted: The options of the fix.

    Raises:
        KvsolveError: An option cannot be used.
    """
    if "-" in files and wanted.write:
        raise KvsolveError("--write needs a file; what stdin gave cannot be written back")
    run = _Run(asked, wanted)
    for file in files:
        for met in _documents(file):
            if isinstance(met, SkippedError):
                print(f"kvsolve: skipped: {met}", file=sys.stderr)
            elif isinstance(met, FileError):
                run.problem(SourceError(met.reason, met.file, met.line))
            else:
                document, sure = met
                run.file(document, sure and not wanted.skip_others)
    return run.close()


def _documents(file: str) -> Iterator[tuple[Document, bool] | FileError]:
    if file == "-":
        piped = piped_document(sys.stdin.buffer)
        yield piped if isinstance(piped, FileError) else (piped, True)
        return
    for met in documents([file]):
        yield met if isinstance(met, FileError) else (met.document, met.sure)


class _Run:
    """One run over files: what it says, what it writes, what its exit code is."""

    def __init__(self, asked: Asked, wanted: Wanted) -> None:
        self.asked, self.wanted = asked, wanted
        self.say = Talk()
        self.env = environment(asked.env)
        self.rows: list[dict[str, Any]] = []
        self.problems: list[SourceError] = []
        self.hiders: list[Redactor] = []
        self.repairer = Repairer(asked, wanted, self.env)
        self.mistakes: set[str] = set()
        self.left = self.open = self.wrote = False

    def problem(self, error: SourceError) -> None:
        """Tell of something that cannot be used."""
        self.problems.append(error)
        print(f"kvsolve: error: {error}", file=sys.stderr)

    def file(self, document: Document, sure: bool) -> None:
        """Repair the commands of one file, one after the other."""
        original, number = document, 0
        self.hiders.clear()
        sources = [*sources_in(document, self.env, sure=sure)]
        while number < len(sources):
            source, before = sources[number], document
            if isinstance(source, SourceError):
                self.problem(source)
            else:
                document = self._command(source, document, sure)
            number += 1
            if document is not before:  # an edit moves what stands behind it
                sources = [*sources_in(document, self.env, sure=sure)]
        if document is original:
            return
        if self.asked.format == "text":
            emit(_coloured(self._without_secrets(diff_of(original, document.text), document.path)))
        if self.wanted.write:
            try:
                store(original, document.text)
                self.wrote = True
            except FileError as error:
                self.problem(SourceError(error.reason, error.file))

    def _without_secrets(self, diff: str, path: str) -> str:
        """A diff that shows no secret; where one was near, it can no longer be applied."""
        shown = diff
        for hide in self.hiders:
            shown = hide.text(shown)
        if shown != diff:
            told = "a secret is hidden in the diff, which therefore does not apply; --write does"
            print(f"{path}: {told}", file=sys.stderr)
        return shown

    def _command(self, source: Source, document: Document, sure: bool) -> Document:
        """The file with this command repaired, or as it is."""
        assert source.found is not None
        try:
            done = self.repairer.repair(source, document, sure)
        except KvsolveError as error:
            self.problem(SourceError(str(error), document.path, source.found.location.line))
            return document
        answer, result = done.filed.answer, done.filed.answer.result
        self.hiders.append(done.hide)
        for mistake in done.mistakes:
            self._mistake(mistake)
        talk(result, self.say)
        self._tell(source, done.filed)
        unknown = result.verdict is Verdict.UNKNOWN and not self.asked.allow_unknown
        self.open |= answer.gave_up or unknown
        self.left |= wanting(result) and (done.document is document or not self.wanted.write)
        return done.document

    def _mistake(self, mistake: Problem) -> None:
        """Tell of a suppression that makes no sense, once a run."""
        if str(mistake) not in self.mistakes:
            self.mistakes.add(str(mistake))
            self.problem(SourceError(mistake.message, mistake.file, mistake.line))

    def _tell(self, source: Source, filed: Filed) -> None:
        assert source.location is not None
        place = f"{source.location.file}:{source.location.line}"
        answer, written = filed.answer, filed.written
        reason = filed.reason if written is None else ""
        row = answer.to_dict() | {
            "source": source.location.to_dict(),
            "left_alone": reason or None,
            "written": written,
        }
        if self.asked.format == "jsonl":
            from kvsolve.outputs.envelope import json_line

            emit(json_line(row))
        self.rows.append(row)
        if reason:
            print(f"{place}: the file is left alone: {reason}", file=sys.stderr)
        elif filed.reason:
            what = f"alternative {written}, since the cheapest repair cannot be written"
            print(f"{place}: {what}: {filed.reason}", file=sys.stderr)
        if answer.repairs:
            print(f"{place}: {_told(answer.repairs[written or 0], written or 0)}", file=sys.stderr)
        elif not reason:
            _tell_unrepaired(place, answer)
        tell_suppressed(answer.result, f"{place}: ")

    def close(self) -> int:
        """Print what is printed at the end; the exit code."""
        if self.asked.format == "json":
            from kvsolve.outputs.envelope import envelope, json_text, problem

            errors = [problem(e.file, e.line, str(e)) for e in self.problems]
            emit(json_text(envelope(self.rows, errors)))
        if self.problems or self.open:
            return 2
        changed = self.wrote and self.wanted.tell_writing
        return int((self.left or changed) and not self.asked.exit_zero)


def _tell_unrepaired(place: str, answer: Fix) -> None:
    """What is refused and stays so."""
    refused = [finding for finding in answer.result.errors if not finding.suppressed]
    if refused:
        why = "not repaired in time" if answer.gave_up else "no repair"
        print(f"{place}: {why}: {refused[0].message} [{refused[0].code}]", file=sys.stderr)


def _told(repair: Repair, rank: int) -> str:
    edits = ", ".join(_edit(edit) for edit in repair.edits)
    proven = "proven next" if rank else "proven cheapest"
    proof = proven if repair.optimal else f"at least {repair.bound}"
    removes = f"; removes {', '.join(repair.removes)}" if repair.removes else ""
    return f"{count_of(len(repair.edits), 'edit')}, cost {repair.cost}, {proof}: {edits}{removes}"


def _edit(edit: Edit) -> str:
    if edit.op == "remove":
        return f"remove {edit.flag}"
    renamed = edit.becomes not in ("", edit.flag)
    named = f"{edit.flag} as {edit.becomes}" if renamed else edit.flag
    if edit.value is None or isinstance(edit.value, bool):
        return f"{edit.op} {named}"
    return f"{edit.op} {named} {short_value(edit.value)}"


def _coloured(diff: str) -> str:
    paint = stdout_paint()
    styles = {"+": "green", "-": "red", "@": "dim"}
    lines = []
    for line in diff.splitlines(keepends=True):
        body, end = (line[:-1], "\n") if line.endswith("\n") else (line, "")
        style = styles.get(line[:1])
        lines.append((paint(style, body) if style else body) + end)
    return "".join(lines)
