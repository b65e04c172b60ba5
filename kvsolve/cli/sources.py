"""Where the commands to judge stand: behind ``--``, in files, on stdin."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.inputs.command import NoLaunchError, split_command
from kvsolve.model.finding import Location
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Source", "SourceError", "environment", "read_sources", "sources_in"]

_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_COMPUTED = re.compile(r"\$(?:[A-Za-z_{(@*])|`")
_OTHER_FORMATS = {
    ".yaml": "YAML", ".yml": "YAML", ".json": "JSON", ".toml": "TOML", ".ipynb": "notebook",
    ".md": "Markdown", ".slurm": "Slurm",
}  # fmt: skip
_LARGEST = 4_000_000


class SourceError(KvsolveError):
    """A file holds no command that can be read; the text names file and line.

    Args:
        reason: What is wrong.
        file: The file, "" where there is none.
        line: Its line, where known.
    """

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        place = f"{file}, line {line}: " if line else f"{file}: " if file else ""
        super().__init__(place + reason)
        self.file, self.line = file, line


@dataclass(frozen=True, slots=True)
class Source:
    """One launch command.

    Attributes:
        tokens: Its words, the program in front included.
        env: Environment that the file gives it.
        location: Where it stands in a file, None for a command line.
    """

    tokens: tuple[str, ...]
    env: Mapping[str, str]
    location: Location | None = None


def environment(pairs: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` words as a mapping.

    Raises:
        KvsolveError: One has no ``=`` or no name.
    """
    env = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise KvsolveError(f"--env takes NAME=VALUE, not {pair!r}")
        env[name] = value
    return env


def read_sources(
    command: Sequence[str] | None, files: Sequence[str], env: Mapping[str, str]
) -> Iterator[Source | SourceError]:
    """Every command to judge, or what is wrong with a file, in order.

    Args:
        command: Tokens behind ``--``.
        files: Paths; ``-`` is stdin.
        env: Values of ``--env``, for the variables of scripts.

    Raises:
        SourceError: There is nothing to judge at all.
    """
    if command:
        yield Source(tuple(command), {})
    elif not files:
        raise SourceError("nothing to judge: give a file, `-` for stdin, or a command behind `--`")
    for file in files:
        try:
            yield from sources_in(_read(file), "stdin" if file == "-" else file, env)
        except SourceError as error:
            yield error


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.read(_LARGEST)
    ending = file[file.rfind(".") :].lower() if "." in file else ""
    if ending in _OTHER_FORMATS:
        reason = (
            f"{_OTHER_FORMATS[ending]} files are not read yet; "
            "give the command behind `--` or in a shell file"
        )
        raise SourceError(reason, file)
    try:
        with open(file, encoding="utf-8") as handle:
            return handle.read(_LARGEST)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", file) from None
    except UnicodeDecodeError:
        raise SourceError("cannot be read: not UTF-8 text", file) from None


def sources_in(text: str, name: str, env: Mapping[str, str]) -> Iterator[Source]:
    """The launch commands of a shell text.

    Args:
        text: A script, or just one command over several lines.
        name: What to call it.
        env: Values for variables that the text does not set.

    Raises:
        SourceError: There is none, or a value in one is not known.
    """
    from kvsolve.inputs.shell import ShellError, shell_commands

    exported: dict[str, str] = {}
    found = False
    try:
        commands = shell_commands(text)
    except ShellError as error:
        raise SourceError(str(error), name) from None
    for words in commands:
        tokens = [word.text for word in words]
        if tokens[0] == "export":
            exported |= dict(t.split("=", 1) for t in tokens[1:] if "=" in t)
        elif _launches(tokens):
            found = True
            line, column = _position(text, words[0].start)
            filled = tuple(_filled(token, env, name, line) for token in tokens)
            yield Source(filled, dict(exported), Location(name, line, column))
    if not found:
        raise SourceError("no SGLang launch command in it", name)


def _launches(tokens: list[str]) -> bool:
    try:
        split_command(tokens)
    except NoLaunchError:
        return False
    return True


def _position(text: str, start: int) -> tuple[int, int]:
    before = text[:start]
    return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1


def _filled(token: str, env: Mapping[str, str], file: str, line: int) -> str:
    """A token with the variables that the user told; an unknown one is not guessed."""
    filled = _VARIABLE.sub(lambda m: env.get(m[1] or m[2], m[0]), token)
    unknown = _COMPUTED.search(filled)
    if unknown is None:
        return filled
    named = _VARIABLE.match(filled, unknown.start())
    if named:
        name = named[1] or named[2]
        reason = f"the value of ${name} is not known; give it with --env {name}=VALUE"
    else:
        reason = f"the value of {filled!r} is not known, since the shell computes it"
    raise SourceError(reason, file, line)
