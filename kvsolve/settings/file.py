"""kvsolve.toml, or ``[tool.kvsolve]`` in pyproject.toml: found upwards, read, checked."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.settings.options import SHARED

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Ignored", "Settings", "keys", "nearest_settings", "read_settings", "settings_for"]

NAME = "kvsolve.toml"
_PROJECT = "pyproject.toml"
_TABLE = b"tool.kvsolve"
_NONE = "none"
_OWN = ("baseline", "cost", "extend", "format", "ignore", "keep", "notes")
"""Keys beside the shared options."""
_LONGEST_CHAIN = 20


@dataclass(frozen=True, slots=True)
class Ignored:
    """Findings that a file of settings suppresses.

    Attributes:
        codes: Codes or slugs.
        reason: Why.
        files: Patterns of files below the folder of the settings; none for all.
    """

    codes: tuple[str, ...]
    reason: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file of settings says.

    Attributes:
        file: The file.
        values: Shared options that it sets, and the keys beside them.
        ignores: What it suppresses.
    """

    file: str
    values: Mapping[str, Any]
    ignores: tuple[Ignored, ...] = ()

    @property
    def folder(self) -> str:
        """The folder it lies in."""
        return os.path.dirname(self.file)


def keys() -> tuple[str, ...]:
    """Every key of a file of settings."""
    shared = (option.name.replace("_", "-") for option in SHARED if option.name != "settings")
    return tuple(sorted((*shared, *_OWN)))


def settings_for(named: str | None) -> Settings | None:
    """The settings of a run: those named, else the nearest from the working directory upwards.

    Args:
        named: A path, or ``none`` for no settings at all.

    Raises:
        KvsolveError: They cannot be used.
    """
    _above.cache_clear()  # files may have changed since the last run in this process
    if named is None:
        return _above(os.getcwd())
    return None if named == _NONE else read_settings(os.path.abspath(named))


def nearest_settings(file: str) -> Settings | None:
    """The settings nearest to a file, from its folder upwards.

    Raises:
        KvsolveError: They cannot be used.
    """
    return _above(os.path.dirname(os.path.abspath(file)))


@lru_cache(maxsize=4096)
def _above(folder: str) -> Settings | None:
    own = os.path.join(folder, NAME)
    if os.path.isfile(own):
        return read_settings(own)
    project = os.path.join(folder, _PROJECT)
    if os.path.isfile(project) and _TABLE in _bytes(project):
        found = _read(project, ())
        if found is not None:
            return found
    parent = os.path.dirname(folder)
    return None if parent == folder else _above(parent)


def read_settings(file: str) -> Settings:
    """The settings in a file.

    Raises:
        KvsolveError: They cannot be used; names the file and the key.
    """
    found = _read(file, ())
    if found is None:
        raise KvsolveError(f"{file} holds no table [tool.kvsolve]")
    return found


def _bytes(file: str) -> bytes:
    try:
        with open(file, "rb") as handle:
            return handle.read()
    except OSError as error:
        raise KvsolveError(f"{file}: cannot be read: {error.strerror}") from None


def _read(file: str, chain: tuple[str, ...]) -> Settings | None:
    """The settings of a file with those that it extends; None where pyproject.toml has none."""
    if file in chain or len(chain) > _LONGEST_CHAIN:
        raise KvsolveError(f"{file}: extend leads in a circle")
    table = _table(file)
    if table is None:
        return None
    from kvsolve.settings.table import read_table

    settings = read_table(file, table)
    base = settings.values.get("extend")
    if base is None:
        return settings
    below = _read(base, (*chain, file))
    if below is None:
        raise KvsolveError(f"{file}: extend: {base} holds no table [tool.kvsolve]")
    return _over(settings, below)


def _over(settings: Settings, below: Settings) -> Settings:
    env = (*below.values.get("env", ()), *settings.values.get("env", ()))
    values = {**below.values, **settings.values, **({"env": env} if env else {})}
    values.pop("extend", None)
    return Settings(settings.file, values, (*below.ignores, *settings.ignores))


def _table(file: str) -> dict[str, Any] | None:
    import tomllib

    try:
        data = tomllib.loads(_bytes(file).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KvsolveError(f"{file} is no TOML: {' '.join(str(error).split())}") from None
    if os.path.basename(file) != _PROJECT:
        return data
    tool = data.get("tool")
    found = tool.get("kvsolve") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else None
