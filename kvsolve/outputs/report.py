"""What a run of `check` has to tell, whatever the format: answers, problems, suppressions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kvsolve.model.finding import CheckResult, Finding, Kind, Location, Severity, Verdict
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "COMMAND",
    "Answer",
    "Identities",
    "Patch",
    "Problem",
    "Replacement",
    "Report",
    "Teller",
    "Told",
    "Unused",
    "identity_of",
    "relative",
    "subject_of",
    "told_problem",
    "told_unused",
]

_MOST = 4
"""Parts of a command that one line names."""
COMMAND = "<command>"
"""Stands for the file of a command that was typed behind ``--``."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of the input that could not be read; line and column from 1 where known."""

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        if not self.file or self.message.startswith(self.file):
            return self.message
        line = f", line {self.line}" if self.line else ""
        return f"{self.file}{line}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a problem."""
        return {"file": self.file, "line": self.line, "message": self.message}


@dataclass(frozen=True, slots=True)
class Replacement:
    """Text that takes the place of a stretch of a file; lines and columns from 1, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Patch:
    """A repair as edits of the file that the command stands in.

    Attributes:
        title: What it does, in one line.
        file: The file.
        replacements: From first to last, not overlapping.
        removes: Codes of the findings that it makes go away.
    """

    title: str
    file: str
    replacements: tuple[Replacement, ...]
    removes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One command with what there is to say of it.

    Attributes:
        result: The answer, secrets hidden.
        program: The words in front of the command's options.
        patches: Repairs as edits of the file, best first.
    """

    result: CheckResult
    program: tuple[str, ...] = ()
    patches: tuple[Patch, ...] = ()

    @property
    def place(self) -> Location:
        """Where the command stands; the start of :data:`COMMAND` where it was typed."""
        return self.result.source or Location(COMMAND, 1, 1)


@dataclass(frozen=True, slots=True)
class Unused:
    """A suppression that suppresses nothing.

    Attributes:
        place: Where it stands.
        code: What it names.
        reason: Why it was written.
        severity: ``warning`` beside the command; ``note`` where it is meant for more than this run.
    """

    place: Location
    code: str
    reason: str
    severity: Severity = Severity.WARNING

    @property
    def message(self) -> str:
        """One sentence about it."""
        return f"suppression of {self.code} suppresses nothing ({self.reason})"

    def to_dict(self) -> dict[str, Any]:
        """The JSON of it."""
        return {**self.place.to_dict(), "code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Told:
    """One line of a report: a finding, an open verdict, a problem or an idle suppression.

    Attributes:
        place: Where.
        severity: How bad.
        code: The finding's code, or a word: ``unknown-verdict``, ``bad-input``,
            ``unused-suppression``.
        message: One sentence.
        identity: Stable over edits that move lines and over rewording.
        finding: What it tells of, None for the others.
        answer: The command that it is about, None for the others.
    """

    place: Location
    severity: Severity
    code: str
    message: str
    identity: str
    finding: Finding | None = None
    answer: Answer | None = None

    @property
    def slug(self) -> str:
        """A short name for it."""
        return self.finding.slug if self.finding else self.code


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run of `check`, for formats that need all of it at once.

    Attributes:
        answers: In the order of the input.
        problems: What could not be read.
        unused: Suppressions that suppress nothing.
    """

    answers: tuple[Answer, ...]
    problems: tuple[Problem, ...] = ()
    unused: tuple[Unused, ...] = ()

    def told(self, notes: bool = False, suppressed: bool = False) -> Iterator[Told]:
        """What there is to list, in the order of the input; see :class:`Teller`."""
        teller = Teller(notes, suppressed)
        for answer in self.answers:
            yield from teller.answer(answer)
        yield from map(told_problem, self.problems)
        yield from map(told_unused, self.unused)


class Teller:
    """Lists what there is to tell of one command after the other, each thing once.

    Args:
        notes: Also what upstream does by itself, and what was not reached.
        suppressed: Also findings that somebody suppressed.
    """

    def __init__(self, notes: bool = False, suppressed: bool = False) -> None:
        self._notes, self._suppressed = notes, suppressed
        self._identities = Identities()

    def answer(self, answer: Answer) -> Iterator[Told]:
        """The findings of a command, and its verdict where that is open."""
        seen = set()
        for finding in answer.result.findings:
            place = finding.location or answer.place
            identity = self._identities.of(place.file, finding)
            alike = (finding.code, finding.message, finding.flags, finding.dest)
            if alike not in seen and self._wants(finding):
                seen.add(alike)
                severity, code, message = finding.severity, finding.code, finding.message
                yield Told(_near(place), severity, code, message, identity, finding, answer)
        if answer.result.verdict is Verdict.UNKNOWN:
            identity = self._identities.name(answer.place.file, "unknown-verdict")
            yield _told_open(answer, identity)

    def _wants(self, finding: Finding) -> bool:
        if finding.suppressed and not self._suppressed:
            return False
        return self._notes or finding.severity is not Severity.NOTE


class Identities:
    """Names findings so that the name outlives edits around them and rewording.

    A name is made of file, code, subject, and which one of its like it is in the file.

    Args:
        root: Folder from which files are named; the working directory where None.
    """

    def __init__(self, root: str | None = None) -> None:
        self._root = root
        self._seen: dict[tuple[str, ...], int] = {}

    def of(self, file: str, finding: Finding) -> str:
        """The name of the next finding of a file."""
        return self.name(file, finding.code, *subject_of(finding))

    def name(self, file: str, *subject: str) -> str:
        """The name of the next thing of a file that is about a subject."""
        key = (relative(file, self._root), *subject)
        number = self._seen[key] = self._seen.get(key, 0) + 1
        return identity_of(*key, str(number))


def relative(file: str, root: str | None = None) -> str:
    """A file's path from a folder, with slashes; as it is where it lies elsewhere."""
    if file == COMMAND:
        return file
    path = os.path.relpath(file, root)
    path = file if path.startswith(os.pardir) else path
    return path.replace(os.sep, "/")


def subject_of(finding: Finding) -> tuple[str, ...]:
    """What a finding is about, apart from its code: what tells it from another of the same code."""
    if finding.dest:
        return (finding.dest,)
    return finding.flags if finding.kind is Kind.PARSE else ()


def identity_of(*parts: str) -> str:
    """A short stable name for some texts."""
    from hashlib import sha256  # 3 ms to import, and most answers have no use for it

    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def told_problem(problem: Problem) -> Told:
    """A line for something that could not be read."""
    place = Location(problem.file or COMMAND, problem.line or 1, 1)
    identity = identity_of("bad-input", relative(place.file), _bare(problem))
    return Told(_near(place), Severity.ERROR, "bad-input", _bare(problem), identity)


def told_unused(unused: Unused) -> Told:
    """A line for an idle suppression."""
    code = "unused-suppression"
    identity = identity_of(code, relative(unused.place.file), unused.code)
    return Told(_near(unused.place), unused.severity, code, unused.message, identity)


def _told_open(answer: Answer, identity: str) -> Told:
    from kvsolve.outputs.text import headline

    result = answer.result
    _, _, sentence = headline(result, width=10_000).partition(": ")
    # Facts of a GPU that is not named go without saying.
    facts = tuple(n for n in result.unknown if not result.profiles or n.startswith("-"))
    parts = [_named(names) for names in (facts, result.not_modelled) if names]
    if parts:
        sentence = f"{sentence.removesuffix('.')}: {'; '.join(parts)}."
    warning, code = Severity.WARNING, "unknown-verdict"
    return Told(_near(answer.place), warning, code, sentence, identity, None, answer)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _near(place: Location) -> Location:
    """A place as it is mostly written: without the folder that the run is in."""
    if not place.file.startswith("./"):
        return place
    return Location(place.file[2:], place.line, place.column)


def _bare(problem: Problem) -> str:
    """A problem's sentence without the place in front of it, which stands beside it."""
    for head in (f"{problem.file}, line {problem.line}: ", f"{problem.file}: "):
        if problem.file and problem.message.startswith(head):
            return problem.message.removeprefix(head)
    return problem.message
