"""The repair of one command in a file: what is to change, and the file with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.answers.asking import hider, session
from kvsolve.answers.narrowing import narrowed
from kvsolve.answers.patch import CannotEditError, patch_of
from kvsolve.answers.places import placed
from kvsolve.answers.repair import Fix, fix_of
from kvsolve.cli.answering import question_in
from kvsolve.cli.sieve import Sieve
from kvsolve.cli.sources import SourceError, sources_in
from kvsolve.errors import KvsolveError
from kvsolve.files.found import Document
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.cli.sources import Source
    from kvsolve.model.edit import Repair
    from kvsolve.model.finding import CheckResult
    from kvsolve.outputs.redact import Redactor
    from kvsolve.outputs.report import Problem
    from kvsolve.session import Question

__all__ = ["Repaired", "Repairer", "Wanted"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options of a fix say.

    Attributes:
        keep: Flags to leave as they are.
        costs: Cost factor of a flag.
        top: How many repairs to tell of.
        write: Edit the files.
        skip_others: Pass over files without a launch command.
        tell_writing: A file that was edited makes the exit code 1.
    """

    keep: tuple[str, ...] = ()
    costs: Mapping[str, int] | None = None
    top: int = 3
    write: bool = False
    skip_others: bool = False
    tell_writing: bool = False


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of one command.

    Attributes:
        answer: Its findings and repairs; what is suppressed is marked.
        document: The file with the best repair, or as it was.
        reason: Why the file is left as it was although there is a repair; "" where it is not.
        mistakes: Suppressions that make no sense.
        hide: Hides its secrets.
    """

    answer: Fix
    document: Document
    reason: str
    mistakes: Sequence[Problem]
    hide: Redactor


class Repairer:
    """Repairs one command after the other.

    Args:
        asked: The shared options.
        wanted: The options of the fix.
        env: Values for variables, as files are read with.
    """

    def __init__(self, asked: Asked, wanted: Wanted, env: Mapping[str, str]) -> None:
        self.asked, self.wanted, self.env = asked, wanted, env

    def repair(self, source: Source, number: int, document: Document, sure: bool) -> Repaired:
        """Repair a command of a file.

        Args:
            source: The command.
            number: Its place among the commands of the file.
            document: The file.
            sure: As the file was read with.

        Raises:
            KvsolveError: Something in it cannot be used.
        """
        assert source.found is not None
        question = question_in(self.asked, source)
        judged = placed(session().judge(question), source.found, document)
        hide = hider(question)
        # A sieve for each state of the file: an edit moves the lines that suppressions are for.
        shown, mistakes = Sieve(None, None).sift(hide.result(judged), self.asked, source)
        answer, reason, edited = Fix(shown, ()), "", document
        if any(not finding.suppressed for finding in shown.errors):
            single = narrowed(question, judged)
            reason = _several(single)
            if not reason:
                answer = replace(self._answer(single), result=shown)
        if answer.repairs:
            attempt = _Attempt(self, question, source, number, document, sure)
            try:
                answer, edited = attempt.carried_out(answer)
            except CannotEditError as error:
                reason = str(error)
        return Repaired(answer, edited, reason, mistakes, hide)

    def _answer(self, question: Question) -> Fix:
        wanted, judged = self.wanted, session().judge(question)
        limit = self.asked.limit_s
        return fix_of(question, judged, wanted.keep, wanted.costs, wanted.top, limit)


class _Attempt:
    """Writing repairs of one command into its file, to see what comes of it."""

    def __init__(
        self,
        repairer: Repairer,
        question: Question,
        source: Source,
        number: int,
        document: Document,
        sure: bool,
    ) -> None:
        self.repairer, self.question, self.source = repairer, question, source
        self.number, self.document, self.sure = number, document, sure

    def carried_out(self, answer: Fix) -> tuple[Fix, Document]:
        """The answer, its best repair without what only suppressed findings ask for; the file.

        Raises:
            CannotEditError: The file cannot be edited without risk, or the repair helps on some
                GPUs and models only.
        """
        best = answer.repairs[0]
        spared = {finding.code for finding in answer.result.errors if finding.suppressed}
        edited = self._with(best)
        if spared:
            best, edited = self._without_needless(best, edited, spared)
            answer = replace(answer, repairs=(best,))
        if len(self.question.prepared) > 1 and not spared.issuperset(self._codes(edited)):
            raise CannotEditError("what helps on one GPU does not on all that it may run on")
        return answer, edited

    def _with(self, repair: Repair) -> Document:
        found = self.source.found
        assert found is not None
        told = self.repairer.env
        patch = patch_of(self.question, repair, found, self.document, told=told, sure=self.sure)
        return Document(self.document.path, patch.text)

    def _without_needless(
        self, best: Repair, edited: Document, spared: set[str]
    ) -> tuple[Repair, Document]:
        """The repair without the edits that all but suppressed findings do without."""
        for edit in best.edits if len(best.edits) > 1 else ():
            edits = tuple(other for other in best.edits if other is not edit)
            cost = sum(other.cost for other in edits)
            fewer = replace(best, edits=edits, cost=cost, bound=min(best.bound, 1), optimal=False)
            try:
                tried = self._with(fewer)
            except CannotEditError:
                continue
            if spared.issuperset(self._codes(tried)):
                best, edited = fewer, tried
        removes = tuple(code for code in best.removes if code not in spared)
        return replace(best, removes=removes), edited

    def _codes(self, document: Document) -> set[str]:
        """The codes of what is refused of the command in an edited file."""
        result = self._judged(document)
        return {finding.code for finding in result.errors}

    def _judged(self, document: Document) -> CheckResult:
        sources = [*sources_in(document, self.repairer.env, sure=self.sure)]
        source = sources[self.number]
        if isinstance(source, SourceError):
            raise CannotEditError("the edited file could not be read")
        return session().judge(question_in(self.repairer.asked, source))


def _several(question: Question) -> str:
    """What is missing where a question has several contexts; "" where it has one."""
    try:
        question.context  # noqa: B018
    except KvsolveError as error:
        return str(error)
    return ""
