"""The plain way to a check, without Typer.

Importing Typer costs as much as three checks. So a command line that is nothing but `check`, its
options spelled out, files, and a command behind `--` is read here, from the declarations that Typer
reads too. Whatever else it holds (help, an abbreviation, a mistake) is left to Typer, which then
words the answer; tests hold the two to the same reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.cli.asked import SHARED, asked_for
from kvsolve.outputs.writers import CHECK_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.cli.asked import Asked

__all__ = ["FORMATS", "PATHS", "SWITCHES", "read_check"]

FORMATS = CHECK_FORMATS
"""What a check can be printed as."""
SWITCHES = ("effective", "notes", "skip_others")
"""The switches of `check` beside the shared options."""

PATHS = ("baseline", "write_baseline")
"""Its options with a path."""

_OPTIONS = {option.spelling: option for option in SHARED}
_SHARED_SWITCHES = {o.spelling: o.name for o in SHARED if o.kind == "switch"}
_SWITCHES = {f"--{name.replace('_', '-')}": name for name in SWITCHES}
_PATHS = {f"--{name.replace('_', '-')}": name for name in PATHS}


def read_check(
    args: Sequence[str], command: Sequence[str] | None
) -> tuple[Asked, list[str], dict[str, Any]] | None:
    """What a plain `check` asks: shared options, files, own switches.

    Args:
        args: Kvsolve's own tokens, those before ``--``.
        command: Those behind it, None where there is none.

    Returns:
        None where Typer must read it.
    """
    if not args or args[0] != "check":
        return None
    values: dict[str, Any] = {}
    own: dict[str, Any] = dict.fromkeys(SWITCHES, False) | dict.fromkeys(PATHS)
    files: list[str] = []
    tokens = iter(args[1:])
    for token in tokens:
        name, equals, value = token.partition("=")
        if token == "-" or not token.startswith("-"):
            files.append(token)
        elif token in _SWITCHES:
            own[_SWITCHES[token]] = True
        elif token in _SHARED_SWITCHES:
            values[_SHARED_SWITCHES[token]] = True
        else:
            given = value if equals else next(tokens, None)
            if given is not None and not equals and given.startswith("-"):
                return None
            if name in _PATHS and given is not None:
                own[_PATHS[name]] = given
            elif not _take(values, name, given):
                return None
    behind = None if command is None else tuple(command)
    return asked_for(behind, values, FORMATS), files, own


def _take(values: dict[str, Any], name: str, given: str | None) -> bool:
    """Keep the value of an option; False where Typer must say what is wrong with it."""
    option = _OPTIONS.get(name)
    if given is None or (option is None and name != "--format"):
        return False
    if option is None:
        values["format"] = given
        return given in FORMATS
    if option.kind in ("text", "path"):
        values[option.name] = given
        # Typer makes the current folder of an empty path.
        return option.kind == "text" or bool(given)
    if option.kind == "texts":
        values[option.name] = (*values.get(option.name, ()), given)
    elif option.kind == "choice":
        values[option.name] = given
        return given in option.choices
    elif option.kind == "int":
        values[option.name] = int(given) if given.isascii() and given.isdecimal() else -1
        return bool(values[option.name] >= (option.least or 0))
    else:
        return False
    return True
