"""The repair of one command in a file: what is to change, and the file with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.answers.asking import hider, session
from kvsolve.answers.filing import Filed, Place, Search, filed
from kvsolve.answers.places import placed
from kvsolve.cli.answering import question_in
from kvsolve.cli.sieve import Sieve, baseline_for
from kvsolve.files.found import Document
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.cli.sources import Source
    from kvsolve.outputs.redact import Redactor
    from kvsolve.outputs.report import Problem

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
        baseline: A file of findings that stay.
    """

    keep: tuple[str, ...] = ()
    costs: Mapping[str, int] | None = None
    top: int = 3
    write: bool = False
    skip_others: bool = False
    tell_writing: bool = False
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of one command.

    Attributes:
        filed: Its findings and repairs, what is suppressed marked, and which was written.
        document: The file with a repair, or as it was.
        mistakes: Suppressions that make no sense.
        hide: Hides its secrets.
    """

    filed: Filed
    document: Document
    mistakes: Sequence[Problem]
    hide: Redactor


class Repairer:
    """Repairs one command after the other.

    Args:
        asked: The shared options.
        wanted: The options of the fix.
        env: Values for variables, as files are read with.

    Raises:
        KvsolveError: The baseline cannot be read.
    """

    def __init__(self, asked: Asked, wanted: Wanted, env: Mapping[str, str]) -> None:
        self.asked, self.wanted, self.env = asked, wanted, env
        self.baseline = baseline_for(wanted.baseline)

    def repair(self, source: Source, document: Document, sure: bool) -> Repaired:
        """Repair a command of a file.

        Args:
            source: The command.
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
        shown, mistakes = Sieve(self.baseline).sift(hide.result(judged), self.asked, source)
        place = Place(source.found, document, self.env, sure)
        wanted, limit = self.wanted, self.asked.limit_s
        search = Search(wanted.keep, wanted.costs, wanted.top, limit)
        found = filed(question, shown, place, search)
        edited = Document(document.path, found.patch.text) if found.patch else document
        return Repaired(found, edited, mistakes, hide)
