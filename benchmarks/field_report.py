"""What the reader makes of real repositories, and which faults their commands have.

Run with ``python benchmarks/field_report.py FOLDER...``, one folder a checked-out repository.
Prints the tables of ``docs/field-report.md``. Every distinct command is judged for the release that
its image names, where there is a pack of it, and for each of ``RELEASES``. Where a file does not
name the GPU, only what every one of ``GPUS`` refuses counts; where the model is not known, only
what every one of ``FAMILIES`` meets.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.errors import KvsolveError
from kvsolve.files.found import FileError, FoundCommand
from kvsolve.files.read import read_document
from kvsolve.files.walk import documents
from kvsolve.inputs.command import release_of_image, split_command
from kvsolve.inputs.models import resolve_model
from kvsolve.model.finding import Kind, Verdict
from kvsolve.packs.pack import releases
from kvsolve.session import Request, Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.model.finding import CheckResult, Finding

RELEASES = ("0.5.18", "0.5.23")
GPUS = ("h100", "b200", "mi300x")
FAMILIES = ("llama-mha", "qwen3-moe", "deepseek-v3")
_REASONS = (
    ("not set in the file", r"is not set in this file"),
    ("set by the cluster", r"the cluster sets"),
    ("set under a condition or in a loop", r"under a condition|in a loop|several times"),
    ("computed by the shell or the program", r"computes|computed|program changes"),
    ("an argument of the script", r"is given it"),
    ("filled in by a template", r"template"),
    ("a placeholder or dots in a document", r"placeholder|left out"),
    ("several values that a recipe tries", r"tries several"),
    ("added by a recipe's launcher", r"launcher adds"),
    ("changed by a sourced file or a function", r"read in may change|sets it"),
    ("a pattern that the shell expands", r"braces|files that match"),
)


class Read(NamedTuple):
    """What one repository held."""

    name: str
    files: int
    with_commands: int
    commands: list[FoundCommand]
    problems: list[FileError]
    seconds: float


def read(folder: str) -> Read:
    """Read every file of a repository."""
    commands: list[FoundCommand] = []
    problems: list[FileError] = []
    files = holding = 0
    start = time.process_time()
    for met in documents([folder]):
        if isinstance(met, FileError):
            problems.append(met)
            continue
        files += 1
        items = read_document(met.document, sure=met.sure)
        found = [item for item in items if isinstance(item, FoundCommand)]
        problems += [item for item in items if isinstance(item, FileError)]
        commands += found
        holding += bool(found)
    name = Path(folder).name.replace("+", "/")
    return Read(name, files, holding, commands, problems, time.process_time() - start)


def reason_of(text: str) -> str:
    """The kind of a reason."""
    return next((name for name, pattern in _REASONS if re.search(pattern, text)), text)


def judged(session: Session, command: FoundCommand, release: str) -> list[CheckResult]:
    """The answers for a command: one for each GPU and model that it may be for."""
    unknown = {at: t.unknown for at, t in enumerate(command.tokens) if t.unknown}
    request = Request(
        command.words,
        sglang=release,
        gpus=command.gpus or 8,
        env=command.env,
        unknown=unknown,
        unknown_env=command.unknown_env,
        remarks=tuple(note.reason for note in command.notes),
        names_model=command.form != "options",
    )
    gpus = [command.gpu] if command.gpu else GPUS
    families = [None] if _knows_model(command) else FAMILIES
    return [
        session.check(replace(request, gpu=gpu, family=family))
        for gpu in gpus
        for family in families
    ]


def _knows_model(command: FoundCommand) -> bool:
    """Whether the model that a command names is a known one."""
    words = split_command(command.words).argv
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--model-path", "--model"):
            named = value if equals else words[at + 1] if at + 1 < len(words) else ""
            return resolve_model(named).files is not None
    return False


def common(results: Sequence[CheckResult]) -> dict[str, Finding]:
    """Errors that all of the answers have, by code and flag."""
    rows = [{_name(f): f for f in result.findings if f.is_error} for result in results]
    return {name: f for name, f in rows[0].items() if all(name in row for row in rows)}


def _name(finding: Finding) -> str:
    flags = finding.flags[:1] if finding.kind is Kind.PARSE else ()
    return " ".join((finding.code, finding.slug, *flags))


def faults(commands: Iterable[FoundCommand], release: str) -> tuple[Counter[str], Counter[str]]:
    """How often each fault and each verdict comes up."""
    session = Session()
    found: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    for command in commands:
        try:
            results = judged(session, command, release)
        except KvsolveError as error:
            verdicts["not judged: " + re.sub(r"/\S+", "FILE", str(error))[:60]] += 1
            continue
        shared = common(results)
        found.update(shared.keys())
        kinds = {result.verdict for result in results}
        verdict = kinds.pop() if len(kinds) == 1 else Verdict.UNKNOWN
        verdicts[Verdict.INVALID if shared and verdict is Verdict.INVALID else verdict] += 1
    return found, verdicts


def distinct(commands: Iterable[FoundCommand]) -> list[FoundCommand]:
    """The commands without those that repeat another word by word."""
    return list({(c.words, c.image, c.gpu, c.gpus): c for c in commands}.values())


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    yield from ("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
    yield ""


def main() -> int:
    """Print the report."""
    repositories = [read(folder) for folder in sys.argv[1:]]
    every = [command for repository in repositories for command in repository.commands]
    print("\n".join(_repositories(repositories)))
    print("\n".join(_forms(every)))
    reasons = Counter(reason_of(u.reason) for c in every for u in c.unresolved)
    print("\n".join(table(("Why a part is not known", "parts"), reasons.most_common())))
    named = Counter(
        release_of_image(c.image) or "a tag without a release" for c in every if c.image
    )
    print("\n".join(table(("Release in the image's tag", "commands"), named.most_common(12))))
    once = distinct(every)
    own = [c for c in once if c.image and release_of_image(c.image) in releases()]
    for release in sorted({str(release_of_image(c.image)) for c in own if c.image}):
        here = [c for c in own if c.image and release_of_image(c.image) == release]
        print("\n".join(_told(f"{release}, commands whose image names it", here, release)))
    for release in RELEASES:
        print("\n".join(_told(f"{release}, all distinct commands", once, release)))
    return 0


def _repositories(found: Sequence[Read]) -> Iterator[str]:
    head = ("Repository", "files read", "with commands", "commands", "with unknown parts",
            "problems", "CPU s")  # fmt: skip
    rows = [
        (r.name, r.files, r.with_commands, len(r.commands),
         sum(bool(c.unresolved) for c in r.commands), len(r.problems), f"{r.seconds:.1f}")
        for r in found
    ]  # fmt: skip
    yield from table(head, rows)
    for repository in found:
        yield from (f"- {repository.name}: {problem}" for problem in repository.problems)
    yield ""


def _forms(commands: Sequence[FoundCommand]) -> Iterator[str]:
    forms = Counter(command.form for command in commands)
    yield from table(("Form", "commands"), forms.most_common())


def _told(title: str, commands: Sequence[FoundCommand], release: str) -> Iterator[str]:
    found, verdicts = faults(commands, release)
    yield f"### SGLang {title}: {len(commands)}"
    yield ""
    yield from table(("Verdict", "commands"), verdicts.most_common())
    yield from table(("Fault", "commands"), found.most_common(12))


if __name__ == "__main__":
    raise SystemExit(main())
