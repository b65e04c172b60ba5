"""``--config FILE`` where the file stands beside the command, as a ConfigMap holds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kvsolve.inputs.command import NoLaunchError, split_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.files.found import FoundCommand

__all__ = ["with_config_maps"]

_OPTION = "--config"


def with_config_maps(found: Sequence[FoundCommand]) -> list[FoundCommand]:
    """The commands, with the options of a ``--config`` file that stands in the same text.

    They come before the command's own, as the release puts them; the mapping that a command reads
    is then no server of its own.
    """
    configs = {
        c.name: c for c in found if c.form == "options" and c.name.endswith((".yaml", ".yml"))
    }
    used: set[str] = set()
    made = [_merged(command, configs, used) for command in found]
    return [c for c in made if not (c.form == "options" and c.name in used)]


def _merged(
    command: FoundCommand, configs: dict[str, FoundCommand], used: set[str]
) -> FoundCommand:
    words = command.words
    if not configs or _OPTION not in words[:-1]:
        return command
    at = words.index(_OPTION)
    name = PurePosixPath(words[at + 1]).name
    if name not in configs:
        return command
    try:
        start = len(split_command(words).program)
    except NoLaunchError:
        return command
    used.add(name)
    own = (*command.tokens[start:at], *command.tokens[at + 2 :])
    return replace(command, tokens=(*command.tokens[:start], *configs[name].tokens, *own))
