"""Edited files: shown as a unified diff, written as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from difflib import unified_diff
from typing import TYPE_CHECKING

from kvsolve.files.found import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.files.editing import TextEdit
    from kvsolve.files.found import Document

__all__ = ["applied", "diff_of", "store"]

_MARK = b"\xef\xbb\xbf"


def applied(text: str, edits: Sequence[TextEdit]) -> str:
    """The text after its edits."""
    parts, done = [], 0
    for start, end, new in edits:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def diff_of(document: Document, text: str) -> str:
    """The change of a file as a unified diff that ``patch`` and ``git apply`` take."""
    old, new = (t.splitlines(keepends=True) for t in (document.text, text))
    lines = []
    for line in unified_diff(old, new, document.path, document.path):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def store(document: Document, text: str) -> None:
    """Write a file in one step, its mode and its byte order mark kept.

    Raises:
        FileError: It cannot be written, or is no longer what was read.
    """
    path = os.path.realpath(document.path)
    if not os.path.isfile(path):
        raise FileError("cannot be written: it is no file any more, or never was", document.path)
    try:
        with open(path, "rb") as handle:
            raw = handle.read()
        mark = _MARK if raw.startswith(_MARK) else b""
        if raw.removeprefix(_MARK) != document.text.encode():
            raise FileError("it was changed meanwhile; nothing is written", document.path)
        _replace(path, mark + text.encode())
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", document.path) from None


def _replace(path: str, raw: bytes) -> None:
    """Put the bytes beside the file, then in its place."""
    folder, name = os.path.split(path)
    number, beside = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(number, "wb") as handle:
            handle.write(raw)
            handle.flush()
            os.fsync(handle.fileno())
        status = os.stat(path)
        os.chmod(beside, status.st_mode & 0o7777)
        with contextlib.suppress(OSError):
            os.chown(beside, status.st_uid, status.st_gid)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
