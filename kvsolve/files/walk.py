"""Files to read: those that are named, and those below folders that are named."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.found import Document, FileError, SkippedError
from kvsolve.files.read import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

__all__ = ["LARGEST", "Met", "documents", "open_document", "piped_document"]

LARGEST = 8_000_000
"""Bytes of a file that are read; larger ones are told and left."""
_SKIPPED = frozenset({
    "node_modules", "__pycache__", "venv", "site-packages", "dist-packages", "build", "dist",
})  # fmt: skip
_NAMES = re.compile(r"^(?:Dockerfile|Containerfile)(?:[.\-_].*)?$", re.IGNORECASE)
_TEMPLATES = (".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".gotmpl", ".template")
_WORD = b"sglang"
STDIN = "stdin"
"""What the text on stdin is called."""


class Met(NamedTuple):
    """A file to read.

    Attributes:
        document: Its name and text.
        sure: The user named it, so that it has to hold a command.
    """

    document: Document
    sure: bool


def documents(paths: Sequence[str]) -> Iterator[Met | FileError]:
    """The files that are named or lie below what is named, in order, each once.

    Below a folder only files are met whose name or first line says that they may hold a command,
    and that mention SGLang. Hidden folders, folders of installed packages and what ``.gitignore``
    files leave out are skipped; so are links to folders that are already open.

    Args:
        paths: Files and folders.
    """
    for path in paths:
        if os.path.isdir(path):
            for found in _below(path):
                met = _met(found) if isinstance(found, str) else found
                if met is not None:
                    yield met
        else:
            named = open_document(path)
            yield named if isinstance(named, FileError) else Met(named, True)


def _met(path: str) -> Met | FileError | None:
    """A file that a walk meets; one without the word is not worth a line."""
    try:
        size = os.stat(path).st_size
        if size > LARGEST:
            return _too_large(path, size) if _mentions(path) else None
        if not _mentions(path):
            return None
    except OSError as error:
        return FileError(f"cannot be read: {error.strerror}", path)
    found = open_document(path)
    return found if isinstance(found, FileError) else Met(found, False)


def open_document(path: str) -> Document | FileError:
    """A file's text; line ends as they are, a byte order mark kept out."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode) and not stat.S_ISCHR(mode):
            return FileError("is neither a file nor a folder", path)
        with open(path, "rb") as handle:
            raw = handle.read(LARGEST + 1)
            if len(raw) > LARGEST:
                return _too_large(path, os.fstat(handle.fileno()).st_size)
    except OSError as error:
        return FileError(f"cannot be read: {error.strerror}", path)
    return _text(path, raw)


def piped_document(stream: BinaryIO) -> Document | FileError:
    """What comes on stdin, as if it were a file."""
    raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        return _too_large(STDIN, 0)
    return _text(STDIN, raw)


def _text(path: str, raw: bytes) -> Document | FileError:
    if b"\0" in raw[:65536]:
        return FileError("is no text", path)
    try:
        return Document(path, raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return FileError("cannot be read: not UTF-8 text", path)


def _too_large(path: str, size: int) -> FileError:
    shown = f"{size / 1e6:.0f} MB" if size else "too large"
    limit = f"{LARGEST / 1e6:.0f} MB"
    return FileError(f"is {shown} large; files over {limit} are not read", path)


def _mentions(path: str) -> bool:
    """Whether the word stands in a file; its parts are read one after the other."""
    kept = b""
    with open(path, "rb") as handle:
        while True:
            part = handle.read(1 << 20)
            if not part:
                return False
            if _WORD in kept + part:
                return True
            kept = part[-len(_WORD) :]


class _Folder(NamedTuple):
    path: str
    ignores: tuple[_Ignore, ...] = ()


def _below(root: str) -> Iterator[str | FileError]:
    """Files below a folder that may hold a command, in the order of their names."""
    opened: set[tuple[int, int]] = set()
    waiting = [_Folder(root)]
    while waiting:
        folder = waiting.pop()
        try:
            status = os.stat(folder.path)
            entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
        except OSError as error:
            yield FileError(f"cannot be read: {error.strerror}", folder.path)
            continue
        if (status.st_dev, status.st_ino) in opened:
            if os.path.islink(folder.path):
                yield SkippedError("is a link to a folder that is read anyway", folder.path)
            continue
        opened.add((status.st_dev, status.st_ino))
        ignores = (*folder.ignores, *_ignores(folder.path))
        folders: list[_Folder] = []
        for entry in entries:
            yield from _entry(entry, ignores, folders)
        waiting += reversed(folders)


def _entry(
    entry: os.DirEntry[str], ignores: tuple[_Ignore, ...], folders: list[_Folder]
) -> Iterator[str | FileError]:
    """One name of a folder: a file to read, a folder to look into, or neither."""
    try:
        is_folder = entry.is_dir()
        if _ignored(entry, is_folder, ignores):
            return
        if is_folder and not entry.name.startswith(".") and entry.name not in _SKIPPED:
            folders.append(_Folder(entry.path, ignores))
        elif not is_folder and entry.is_file() and _may_hold(entry):
            yield entry.path
    except OSError as error:
        yield SkippedError(f"leads nowhere: {error.strerror}", entry.path)


def _may_hold(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    for ending in _TEMPLATES:
        name = name.removesuffix(ending)
    suffix = PurePath(name).suffix.lower()
    if suffix in SUFFIXES or _NAMES.match(name):
        return True
    return not suffix and _is_script(entry.path)


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as handle:
            return handle.read(2) == b"#!"
    except OSError:
        return False


class _Ignore(NamedTuple):
    """One line of a ``.gitignore``: the folder it stands in, what it matches, what it does."""

    folder: str
    pattern: re.Pattern[str]
    folders_only: bool
    keeps: bool


def _ignores(folder: str) -> Iterator[_Ignore]:
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as handle:
            lines = handle.read(1 << 16).splitlines()
    except OSError:
        return
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        keeps = text.startswith("!")
        text = text.removeprefix("!").removeprefix("\\")
        yield _Ignore(folder, _pattern(text.rstrip("/")), text.endswith("/"), keeps)


def _pattern(text: str) -> re.Pattern[str]:
    """A line of a ``.gitignore`` as a pattern of paths below its folder."""
    anywhere = "/" not in text
    text = text.removeprefix("/")
    parts = []
    if text.endswith("/**"):
        text = text.removesuffix("**") + "*"
    for part in text.split("/"):
        if part == "**":
            parts.append("(?:.*/)?")
        else:
            inner = fnmatch.translate(part).removeprefix("(?s:").rpartition(")")[0]
            parts.append(inner.replace(".*", "[^/]*") + "/")
    body = "".join(parts).removesuffix("/")
    try:
        return re.compile(("(?:.*/)?" if anywhere else "") + body + r"\Z")
    except re.error:
        return re.compile(r"(?!)")


def _ignored(entry: os.DirEntry[str], is_folder: bool, ignores: Sequence[_Ignore]) -> bool:
    """Whether the last line that matches a path leaves it out."""
    ignored = False
    for ignore in ignores:
        if ignore.folders_only and not is_folder:
            continue
        path = os.path.relpath(entry.path, ignore.folder).replace(os.sep, "/")
        if ignore.pattern.match(path):
            ignored = not ignore.keeps
    return ignored
