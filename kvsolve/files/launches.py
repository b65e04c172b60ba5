"""Which commands start a server."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kvsolve.inputs.command import NoLaunchError, prefix_of, split_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["is_launch", "mentions_launch", "names_server", "outer_context", "speaks_only"]

_LAUNCH = re.compile(
    r"-m[\s\\]*sglang\.launch_server\b|-m[\s\\]*dynamo\.sglang\b"
    r"|\bsglang[\s\\]+serve\b|launch_server\.py\b"
)
_SENTENCE = re.compile(r"[A-Z][a-z]+[,:]?")
_PROSE = frozenset({"the", "to", "and", "with", "using", "a", "of"})
_SPEAK = frozenset({
    "echo", "printf", "print", "grep", "egrep", "rg", "pgrep", "pkill", "killall", "sed", "awk",
    "ps", "log", "info", "warn", "error", "git", "alias", "test", "[", "man", "which", "pip",
    "pip3", "#", "//", ">", "rem",
})  # fmt: skip


def mentions_launch(text: str) -> bool:
    """Whether a text may hold a launch command."""
    return _LAUNCH.search(text) is not None


def names_server(text: str) -> bool:
    """Whether a text of any form may hold a launch command; cheaper and less sure."""
    return "sglang" in text or "launch_server" in text


def speaks_only(program: str) -> bool:
    """Whether a program only prints or looks for its arguments."""
    name = PurePosixPath(program).name
    return name in _SPEAK or name.startswith(("log_", "echo_", "print_", "#"))


def is_launch(texts: Sequence[str]) -> bool:
    """Whether the words of a command start a server; options alone do not count."""
    try:
        found = split_command(texts)
    except NoLaunchError:
        return False
    if found.entry != "options":
        sentence = bool(found.program) and _SENTENCE.fullmatch(found.program[0])
        return not sentence and _PROSE.isdisjoint(found.program)
    return bool(found.program) and any(t.startswith("--model") for t in found.argv)


def outer_context(texts: Sequence[str]) -> tuple[Mapping[str, str], str | None]:
    """The environment and the image that a command gives to the text that it runs."""
    return prefix_of(texts)
