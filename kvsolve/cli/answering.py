"""What verbs do with an answer: print it, say what was judged, choose the exit code."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import facts_of, hider, session
from kvsolve.cli.sources import SourceError, environment, read_sources
from kvsolve.errors import KvsolveError
from kvsolve.inputs.command import release_of_image
from kvsolve.model.finding import CheckResult, Severity, Verdict
from kvsolve.outputs.paint import Paint, paint_for
from kvsolve.session import Question, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.cli.sources import Source
    from kvsolve.files.found import FoundCommand

__all__ = [
    "Talk",
    "Tally",
    "each_question",
    "emit",
    "exit_code",
    "only_question",
    "program_of",
    "question_in",
    "request_for",
    "stdout_paint",
    "talk",
    "talk_of",
    "width",
]

_RANK = {"note": 0, "warning": 1, "error": 2}
_NARROWEST = 60


def request_for(
    asked: Asked, tokens: Sequence[str], env: dict[str, str], found: FoundCommand | None = None
) -> Request:
    """The request that options and a command make; what a file says counts where no option does.

    Args:
        asked: The options.
        tokens: The command.
        env: Its environment.
        found: The command as a file has it.

    Raises:
        KvsolveError: Two options contradict each other.
    """
    if asked.model_config is not None and asked.family is not None:
        raise KvsolveError("--model-config and --family both say what the model is; give one")
    request = Request(
        tokens,
        sglang=asked.sglang,
        gpu=asked.gpu,
        gpus=asked.gpus,
        model_config=str(asked.model_config) if asked.model_config else None,
        family=asked.family,
        env=env,
        stage=asked.stage,
        sglang_by="option" if asked.typed.get("sglang") is not None else "settings",
    )
    return request if found is None else _with_file(request, asked, found)


def _with_file(request: Request, asked: Asked, found: FoundCommand) -> Request:
    """What is typed wins over what the file says of a command, and that over the settings."""
    own = {
        "gpu": found.gpu,
        "gpus": found.gpus,
        "sglang": found.image and release_of_image(found.image),
    }
    changes: dict[str, Any] = {n: v for n, v in own.items() if v and asked.typed.get(n) is None}
    if changes.pop("sglang", None):
        changes["sglang"] = None
    return replace(
        request,
        **changes,
        image=found.image,
        names_model=found.form != "options",  # what reads the options may name it
        unknown={at: f"{t.text}: {t.unknown}" for at, t in enumerate(found.tokens) if t.unknown},
        loose=frozenset(at for at, token in enumerate(found.tokens) if token.splits),
        unknown_env=found.unknown_env,
        remarks=tuple(dict.fromkeys(f"{note.text}: {note.reason}" for note in found.notes)),
    )


def each_question(
    asked: Asked, files: Sequence[str], *, sure: bool = True
) -> Iterator[tuple[Source, Question] | SourceError]:
    """Every command as a question, or what is wrong with a file.

    Args:
        asked: The options.
        files: Files and folders; ``-`` is stdin.
        sure: A file that is named holds a command; otherwise one without is passed over.
    """
    env = environment(asked.env)
    for source in read_sources(asked.command, files, env, sure=sure):
        if isinstance(source, SourceError):
            yield source
        else:
            try:
                question = question_in(asked, source)
            except KvsolveError as error:
                if source.location is None:
                    raise
                yield SourceError(str(error), source.location.file, source.location.line)
                continue
            yield source, question


def question_in(asked: Asked, source: Source) -> Question:
    """A command as a question.

    Raises:
        KvsolveError: Something in it cannot be used.
    """
    here = asked.near(source.location.file) if source.location else asked
    env = {**source.env, **environment(here.env)}
    return session().ask(request_for(here, source.tokens, env, source.found))


def only_question(asked: Asked, files: Sequence[str]) -> tuple[Source, Question]:
    """The one command that a verb works on.

    Raises:
        KvsolveError: There is none, or there are several.
    """
    found = list(each_question(asked, files))
    for item in found:
        if isinstance(item, SourceError):
            raise item
    if len(found) != 1:
        raise KvsolveError(f"this verb takes one command, {len(found)} were given")
    (only,) = found
    assert not isinstance(only, SourceError)
    return only


def program_of(question: Question) -> tuple[str, ...]:
    """The words of a command in front of its options, secrets hidden."""
    whole, options = tuple(question.request.command), question.argv
    at = len(whole) - len(options)
    front = whole[:at] if whole[at:] == options else ("python", "-m", "sglang.launch_server")
    return hider(question).argv(front)


def emit(text: str) -> None:
    """Write an answer to stdout."""
    sys.stdout.write(text)


class Talk:
    """Says on stderr for what was judged; once, where several commands were judged for the same."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, sglang: str, origin: str, facts: Mapping[str, Any], status: str) -> None:
        """Say it."""
        chosen = {
            "newest": ", the newest known",
            "image": ", as the image says",
            "settings": ", as the settings say",
        }
        release = f"SGLang {sglang}{chosen.get(origin, '')}"
        if status != "compared":
            release += " (read, not compared with its validator)"
        gpu = f"{facts.get('gpus')} x {facts['gpu']}" if facts.get("gpu") else "any GPU"
        model = (
            f"{facts['model']} ({facts.get('model_from')})" if facts.get("model") else "any model"
        )
        text = f"judged for {release}; {gpu}; {model}"
        if text != self._last:
            self._last = text
            print(paint_for(sys.stderr)("dim", text), file=sys.stderr)


def talk(result: CheckResult, say: Talk | None = None) -> None:
    """Say on stderr for what was judged."""
    (say or Talk())(result.sglang, result.sglang_from, result.facts, result.pack_status)


def talk_of(question: Question) -> None:
    """The same before there is an answer."""
    told = facts_of(question)
    Talk()(told["sglang"], told["sglang_from"], told["facts"], told["pack"]["status"])


def stdout_paint() -> Paint:
    """Styles for stdout."""
    return paint_for(sys.stdout)


def width() -> int:
    """Columns to wrap text at."""
    if not sys.stdout.isatty():
        return 100
    try:
        return max(_NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns)
    except OSError:
        return 100


class Tally:
    """What the answers of a run come to: its exit code.

    Attributes:
        errors: How much of the input could not be used.
    """

    def __init__(self, asked: Asked) -> None:
        self.errors = 0
        self._least = _RANK[asked.fail_on]
        self._allows_unknown, self._exits_zero = asked.allow_unknown, asked.exit_zero
        self._findings = self._unknown = False

    def add(self, result: CheckResult) -> None:
        """Count an answer; what is suppressed does not count."""
        for finding in result.findings:
            if not finding.suppressed:
                self.add_severity(finding.severity)
        self._unknown |= result.verdict is Verdict.UNKNOWN and not self._allows_unknown

    def add_severity(self, severity: Severity) -> None:
        """Count something of this severity."""
        self._findings |= _RANK[str(severity)] >= self._least

    @property
    def code(self) -> int:
        """0 nothing at or above ``--fail-on``, 1 findings, 2 something was not judged."""
        found = self._findings and not self._exits_zero
        return 2 if self._unknown or self.errors else int(found)


def exit_code(asked: Asked, results: Iterable[CheckResult], errors: Sequence[Any] = ()) -> int:
    """The exit code that some answers come to; see :class:`Tally`."""
    tally = Tally(asked)
    tally.errors = len(errors)
    for result in results:
        tally.add(result)
    return tally.code
