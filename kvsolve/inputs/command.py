"""Find the SGLang launch in a command line: its environment, its image and its options."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import dropwhile, islice, takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.inputs.problems import ParseProblem
from kvsolve.inputs.shell import shell_commands
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "LaunchCommand",
    "NoLaunchError",
    "prefix_of",
    "release_of_image",
    "split_command",
    "split_text",
]

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python(\d+(\.\d+)*)?t?")
_RELEASE = re.compile(r":v?(\d+\.\d+\.\d+(?:\.post\d+)?)(?![\d.])")
_IMAGE = re.compile(r"\w[\w.\-/:]*sglang[\w.\-/]*(:[\w.\-]+)?(@sha256:\w+)?|sglang(:[\w.\-]+)")
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_MODULE = "sglang.launch_server"
_DYNAMO = "dynamo.sglang"
_SCRIPT = "launch_server.py"
_MODELS = ("--model-path", "--model")


class NoLaunchError(KvsolveError):
    """There is no SGLang server launch in what was given."""


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """One launch of the server.

    Attributes:
        env: Environment that the command itself sets.
        program: The tokens that start the server, wrappers included; empty when only options
            were given.
        argv: The tokens for the release's parser.
        origin: For each of ``argv`` its position in the tokens that were split; -1 for one that
            ``sglang serve`` puts in.
        entry: ``serve``, ``module``, ``dynamo`` or ``options``.
        image: The container image, or None.
        problems: What ``sglang serve`` itself would refuse; places are positions in ``argv``.
    """

    env: Mapping[str, str]
    program: tuple[str, ...]
    argv: tuple[str, ...]
    origin: tuple[int, ...]
    entry: str
    image: str | None = None
    problems: tuple[ParseProblem, ...] = ()


def split_text(text: str) -> LaunchCommand:
    """Find the launch in shell text, variables that the text sets put in.

    ``origin`` counts the words of the launching command.

    Raises:
        NoLaunchError: No command of the text launches a server.
        ShellError: The text is no complete shell command.
    """
    exported: dict[str, str] = {}
    last: NoLaunchError | None = None
    for words in shell_commands(text):
        tokens = [word.text for word in words]
        if tokens[0] == "export":
            exported.update(_assignments(tokens[1:]))
            continue
        try:
            found = split_command(tokens)
        except NoLaunchError as error:
            last = error
            continue
        return replace(found, env={**exported, **found.env})
    raise last or NoLaunchError("There is no command in the text.")


def split_command(tokens: Sequence[str]) -> LaunchCommand:
    """Take a launch command apart.

    Args:
        tokens: ``[ENV=VALUE ...] [wrapper ...] python -m sglang.launch_server OPTIONS``, the same
            with ``sglang serve [MODEL]``, a ``docker run`` of either, or just the options.

    Raises:
        NoLaunchError: Nothing in the tokens launches a server.
    """
    start, entry = _program(tokens)
    if entry == "nested":
        inner = split_text(tokens[start])
        outer = prefix_of(tokens[:start])
        program = (*tokens[:start], *inner.program)
        env = {**outer[0], **inner.env}
        return replace(inner, env=env, image=outer[1] or inner.image, program=program)
    env, image = prefix_of(tokens[:start])
    program, argv = tuple(tokens[:start]), tuple(tokens[start:])
    origin = tuple(range(start, len(tokens)))
    found = LaunchCommand(env, program, argv, origin, entry, image)
    if entry == "dynamo":
        return _without_dynamo(found)
    return _served(found) if entry == "serve" else found


def _program(tokens: Sequence[str]) -> tuple[int, str]:
    """Where the options begin, and how the server is started."""
    for at, token in enumerate(tokens):
        name = PurePosixPath(token).name
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if name == "sglang" and following == "serve":
            return at + 2, "serve"
        if token == "-m" and following == _MODULE:
            return at + 2, "module"
        if token == "-m" + _MODULE:
            return at + 1, "module"
        if token == "-m" and following == _DYNAMO:
            return at + 2, "dynamo"
        if name == _SCRIPT and at and _PYTHON.fullmatch(PurePosixPath(tokens[at - 1]).name):
            return at + 1, "module"
        if re.fullmatch(r"-[a-z]*c", token) and _mentions_launch(following):
            return at + 1, "nested"
    bare = next((i for i, t in enumerate(tokens) if not _ASSIGNMENT.fullmatch(t)), len(tokens))
    if bare < len(tokens) and tokens[bare].startswith("-"):
        return bare, "options"
    image = _image(tokens)
    if image is not None:
        return tokens.index(image) + 1, "options"
    raise NoLaunchError(
        f"'{_quotable(tokens)}' launches no SGLang server; expected 'python -m {_MODULE} ...', "
        "'sglang serve ...' or the options alone."
    )


def _quotable(tokens: Sequence[str]) -> str:
    """What a message may quote of a command: no option or variable, for they may hold secrets."""
    words = dropwhile(_ASSIGNMENT.fullmatch, tokens)
    shown = takewhile(lambda t: t == "-m" or not (t.startswith("-") or "=" in t), words)
    return " ".join(islice(shown, 4))


def _mentions_launch(text: str) -> bool:
    return any(name in text for name in (_MODULE, "sglang serve", _SCRIPT, _DYNAMO))


def prefix_of(tokens: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """The environment and the image that the tokens before the options give."""
    env: dict[str, str] = {}
    for at, token in enumerate(tokens):
        name, equals, value = token.partition("=")
        if name == "--env" and equals:
            token = value
        elif token.startswith("-e") and "=" in token and not token.startswith("--"):
            token = token[2:]
        elif name.startswith("-") or (at and tokens[at - 1] in ("-v", "--volume", "-p", "--label")):
            continue
        env.update(_assignments([token]))
    return env, _image(tokens)


def _assignments(tokens: Sequence[str]) -> dict[str, str]:
    matches = (_ASSIGNMENT.fullmatch(t) for t in tokens)
    return {m.group(1): m.group(2) for m in matches if m}


def _image(tokens: Sequence[str]) -> str | None:
    """The image of a ``docker run``: the first word with ``sglang`` that is no option's value."""
    runs = [i for i, t in enumerate(tokens) if PurePosixPath(t).name in _CONTAINERS]
    if not runs or "run" not in tokens[runs[0] :]:
        return None
    for token in tokens[tokens.index("run", runs[0]) + 1 :]:
        if _IMAGE.fullmatch(token) and token not in ("sglang", _MODULE):
            return token
    return None


def release_of_image(image: str) -> str | None:
    """The release that an image's tag names, None where it names none.

    >>> release_of_image("lmsysorg/sglang:v0.5.18-cu129-amd64"), release_of_image("sglang:latest")
    ('0.5.18', None)
    """
    found = _RELEASE.search(image.rpartition("/")[2].partition("@")[0])
    return found.group(1) if found else None


def _without_dynamo(command: LaunchCommand) -> LaunchCommand:
    """The arguments that Dynamo's worker leaves to SGLang's parser."""
    from kvsolve.inputs.dynamo import sglang_places

    kept = sglang_places(command.argv)
    argv = tuple(command.argv[i] for i in kept)
    return replace(command, argv=argv, origin=tuple(command.origin[i] for i in kept))


def _served(command: LaunchCommand) -> LaunchCommand:
    """What ``sglang serve`` makes of its arguments before the server's parser sees them.

    It takes out ``--model-type``, reads a first argument without a dash as the model, and wants
    ``--model-path`` or ``--model`` spelled out.
    """
    argv, origin, problems = _without_model_type(command)
    if argv and not argv[0].startswith("-"):
        argv, origin = ["--model-path", *argv], [-1, *origin]
    if any(t in ("-h", "--help") for t in argv):
        place = next(i for i, t in enumerate(argv) if t in ("-h", "--help"))
        problems.insert(0, ParseProblem("help", argv[place], place, name="--help"))
    elif not problems and not _names_model(argv):
        detail = "sglang serve looks for --model-path or --model, spelled out, before it parses"
        problems.append(ParseProblem("missing-flag", _MODELS[0], -1, detail, name=_MODELS[0]))
    return replace(command, argv=tuple(argv), origin=tuple(origin), problems=tuple(problems))


def _names_model(argv: Sequence[str]) -> bool:
    return any(
        t.startswith(("--model-path=", "--model=")) or (t in _MODELS and i + 1 < len(argv))
        for i, t in enumerate(argv)
    )


def _without_model_type(
    command: LaunchCommand,
) -> tuple[list[str], list[int], list[ParseProblem]]:
    argv: list[str] = []
    origin: list[int] = []
    problems: list[ParseProblem] = []
    words = iter(zip(command.argv, command.origin, strict=True))
    for token, place in words:
        name, equals, value = token.partition("=")
        if name != "--model-type":
            argv.append(token)
            origin.append(place)
            continue
        if not equals:
            value, _ = next(words, ("", -1))
        problems += _model_type_problems(value, place)
    return argv, origin, problems


def _model_type_problems(value: str, place: int) -> list[ParseProblem]:
    if value in ("auto", "llm"):
        return []
    name = "--model-type"
    if not value:
        return [ParseProblem("missing-value", name, place, name=name)]
    detail = "starts another server than the one for language models"
    return [ParseProblem("bad-choice", name, place, detail, ("llm", "auto"), name, (value,))]
