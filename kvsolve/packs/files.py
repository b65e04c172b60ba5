"""Where the knowledge lies, and where compiled packs are kept."""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "cache_directory",
    "constraints_directory",
    "is_trusted",
    "read_cached",
    "read_toml",
    "stamp",
    "write_cached",
]


@lru_cache(maxsize=1)
def constraints_directory() -> Path:
    """The ``constraints`` folder: inside an installed package, beside it in a source checkout.

    Raises:
        KvsolveError: Neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_constraints", package.parent / "constraints"):
        if candidate.is_dir():
            return candidate
    raise KvsolveError("kvsolve's own constraints folder is missing; install kvsolve again")


def cache_directory() -> Path:
    """Folder for compiled packs: ``$KVSOLVE_CACHE_DIR``, else the user's cache folder."""
    chosen = os.environ.get("KVSOLVE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "kvsolve"


def stamp(files: Iterable[Path]) -> str:
    """A text that changes whenever one of the files does, or the Python that reads the cache."""
    parts = [sys.implementation.cache_tag or "python"]
    for file in files:
        try:
            status = os.stat(file)
        except FileNotFoundError:
            parts.append(f"{file}:none")
        else:
            parts.append(f"{file}:{status.st_size}:{status.st_mtime_ns}")
    return "\n".join(parts)


def is_trusted(descriptor: int) -> bool:
    """Whether nobody but this user can have written an open file."""
    status = os.fstat(descriptor)
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        return False
    return not (status.st_mode & 0o022 and os.name == "posix")


def read_cached(name: str, key: str) -> memoryview | None:
    """The cached bytes of that name, if they were written under the same key by the same user.

    Compiled packs hold code, so a file that somebody else could have written is not read.
    """
    path = cache_directory() / name
    try:
        with open(path, "rb") as handle:
            data = handle.read() if is_trusted(handle.fileno()) else b""
    except OSError:
        return None
    head = key.encode() + b"\0"
    return memoryview(data)[len(head) :] if data.startswith(head) else None


def write_cached(name: str, key: str, body: bytes) -> None:
    """Keep bytes for the next start, whole or not at all; a read-only home is no error."""
    path = cache_directory() / name
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(key.encode() + b"\0" + body)
        os.replace(temporary, path)
    except OSError:
        pass
    finally:  # neither a full disk nor an interrupt must keep halves of files
        with suppress(OSError):
            temporary.unlink()


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file of kvsolve's own, kept parsed between starts: parsing takes as long as a check.

    Raises:
        KvsolveError: It is not TOML; names file and line.
    """
    key = f"{marshal.version}\n{stamp([path])}"
    kept = read_cached(path.name, key)
    if kept is not None:
        return dict(marshal.loads(kept))
    import tomllib

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KvsolveError(f"{path.name}: {error}") from None
    write_cached(path.name, key, marshal.dumps(data))
    return data
