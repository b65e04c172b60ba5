"""SGLang's own ``--config FILE``, read as the release reads it.

The release takes the bare token only, once; the file's keys become options as they are written
(``tp_size: 2`` becomes ``--tp_size 2``, which no release knows) and stand before the command's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.inputs.problems import ParseProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["ConfigFileError", "Merged", "merge_config_file", "read_yaml", "switches", "unsupported"]

_OPTION = "--config"


class ConfigFileError(KvsolveError):
    """A configuration file cannot be read here."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A command's options with those of its configuration file.

    Attributes:
        argv: The tokens for the release's parser.
        origin: For each its position in the command's own tokens, or -1 when the file gives it.
        keys: For each the key of the file that gives it, or "".
        path: The file, or None when the command names none.
        problems: Why the release refuses the file; then ``argv`` lacks its options.
    """

    argv: tuple[str, ...]
    origin: tuple[int, ...]
    keys: tuple[str, ...]
    path: str | None = None
    problems: tuple[ParseProblem, ...] = ()


class _RefusedError(Exception):
    """The release stops at the file."""


def merge_config_file(
    argv: Sequence[str], table: FlagTable, read: Callable[[Path], Any] | None = None
) -> Merged:
    """Put the options of the ``--config`` file in front of the command's own.

    Args:
        argv: The command's tokens after the program.
        table: The options of the release.
        read: Reads a YAML file; :func:`read_yaml` when not given.

    Raises:
        ConfigFileError: The file is not there or cannot be read.
    """
    places = [i for i, token in enumerate(argv) if token == _OPTION]
    if not places:
        return Merged(tuple(argv), tuple(range(len(argv))), ("",) * len(argv))
    place = places[0]
    own = [i for i in range(len(argv)) if i not in (place, place + 1)]
    path = argv[place + 1] if place + 1 < len(argv) else None
    added: list[tuple[str, str]] = []
    problems: list[ParseProblem] = []
    try:
        if path == "":
            own = list(range(len(argv)))  # the release leaves an empty name to its parser
        else:
            added = _added(places, path, table, read or read_yaml)
    except _RefusedError as reason:
        problems.append(_problem(place, path, str(reason)))
    return Merged(
        (*(token for _, token in added), *(argv[i] for i in own)),
        (*(-1 for _ in added), *own),
        (*(key for key, _ in added), *("" for _ in own)),
        path,
        tuple(problems),
    )


def _problem(place: int, path: str | None, detail: str) -> ParseProblem:
    values = () if path is None else (path,)
    return ParseProblem(
        "config-file", _OPTION, place, detail, name=_OPTION, values=values, crash=True
    )


def _added(
    places: list[int], path: str | None, table: FlagTable, read: Callable[[Path], Any]
) -> list[tuple[str, str]]:
    """The (key, token) pairs that the file gives."""
    if len(places) > 1:
        raise _RefusedError("only one file may be given")
    if path is None:
        raise _RefusedError("no file is given")
    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        raise _RefusedError("the file's name must end in .yaml or .yml")
    content = read(Path(path))
    if content is None:
        return []
    if not isinstance(content, dict):
        raise _RefusedError("the file must hold a mapping of options")
    bare, refused = switches(table), unsupported(table)
    any_key = table.launcher["config_keys"] == "none"
    write = str if table.launcher.get("config_mappings") == "text" else _as_json
    pairs = []
    for key, value in content.items():
        if not isinstance(key, str):
            raise _RefusedError(f"the key {key} is not text")
        name = key.replace("-", "_")
        if name in refused:
            raise _RefusedError(f"{key} is an option that a file cannot give in this release")
        tokens = _tokens(key, value, any_key or name in bare, write)
        pairs += [(key, token) for token in tokens]
    return pairs


def _tokens(
    key: str, value: Any, is_switch: bool, write: Callable[[dict[Any, Any]], str]
) -> Iterator[str]:
    """The tokens of one key; a null becomes the text ``None``."""
    if isinstance(value, bool) and is_switch:
        if value:
            yield f"--{key}"
    elif isinstance(value, bool):
        yield from (f"--{key}", str(value).lower())
    elif isinstance(value, list):
        if value:
            yield f"--{key}"
            yield from (str(item) for item in value)
    elif isinstance(value, dict):
        yield from (f"--{key}", write(value))
    else:
        yield from (f"--{key}", str(value))


def _as_json(value: dict[Any, Any]) -> str:
    try:
        return json.dumps(value)
    except TypeError as error:
        raise _RefusedError(f"a value cannot be written as JSON: {error}") from error


def _keys(flag: Flag, table: FlagTable) -> set[str]:
    """The keys by which the release's file reader knows an option."""
    if table.launcher["config_keys"] == "dest":
        return {flag.dest}
    return {flag.dest} | {s[2:].replace("-", "_") for s in flag.spellings if s[:2] == "--"}


def switches(table: FlagTable) -> set[str]:
    """Keys of a file that the release treats as switches: true gives the option, false nothing."""
    return {key for f in table.flags if f.action == "store_true" for key in _keys(f, table)}


def unsupported(table: FlagTable) -> set[str]:
    """Keys of a file that the release refuses."""
    if table.launcher["config_keys"] == "none":
        return set()
    by_dest = table.launcher["config_keys"] == "dest"
    refused: set[str] = set()
    supported: set[str] = set()
    for flag in table.flags:
        if _OPTION in flag.spellings:
            supported |= set() if by_dest else _keys(flag, table)
        elif flag.action in ("store_true", "store") or (flag.nargs is None and not by_dest):
            supported |= _keys(flag, table)
        else:
            refused |= _keys(flag, table)
    # Up to 0.5.22 an alias that writes the same value makes the value's own key unusable.
    return refused if by_dest else refused - supported


def read_yaml(path: Path) -> Any:
    """The content of a YAML file, read as upstream's reader (YAML 1.1) does.

    Raises:
        ConfigFileError: The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        told = error.strerror or error
        raise ConfigFileError(f"The --config file {path} cannot be read: {told}.") from error
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"The --config file {path} is not UTF-8 text.") from error
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise ConfigFileError(f"The --config file {path} is no YAML: {problem}.") from error
