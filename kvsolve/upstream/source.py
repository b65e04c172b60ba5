"""The files of one SGLang release, read as text and syntax trees and never imported."""

from __future__ import annotations

import ast
import fnmatch
import io
import re
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["SourceTree"]

_PROOF = "sglang/srt/server_args.py"


class SourceTree:
    """One release's Python files, addressed relative to the directory that holds ``sglang/``.

    Attributes:
        release: The release as its own files state it, for example ``0.5.18``.
    """

    def __init__(
        self, names: Iterable[str], load: Callable[[str], bytes], release: str, where: str
    ) -> None:
        self._names = frozenset(names)
        self._load = load
        self._where = where
        self._texts: dict[str, str] = {}
        self._trees: dict[str, ast.Module] = {}
        self.release = release

    @classmethod
    def open(cls, path: str | Path, release: str | None = None) -> SourceTree:
        """Open a wheel, an unpacked site directory or a source checkout.

        Args:
            path: A ``.whl`` or ``.zip`` file, a directory that holds ``sglang/``, or a checkout
                that holds ``python/sglang/``.
            release: The release to record when the files do not state one (a bare checkout).

        Raises:
            KvsolveError: The path is no SGLang release, or nothing in it tells its release.
        """
        place = Path(path)
        if place.is_dir():
            return cls._from_directory(place, release)
        if not place.exists():
            raise KvsolveError(f"{path} does not exist.")
        try:
            archive = zipfile.ZipFile(io.BytesIO(place.read_bytes()))
        except (zipfile.BadZipFile, OSError) as error:
            raise KvsolveError(f"{path} is no wheel and no directory: {error}.") from error
        names = archive.namelist()
        return cls._checked(names, archive.read, release, str(path))

    @classmethod
    def _from_directory(cls, place: Path, release: str | None) -> SourceTree:
        root = next((d for d in (place, place / "python") if (d / "sglang").is_dir()), None)
        if root is None:
            raise KvsolveError(f"{place} is no SGLang release: it holds no sglang directory.")
        names = [f.relative_to(root).as_posix() for f in (root / "sglang").rglob("*.py")]
        names += [f.relative_to(root).as_posix() for f in root.glob("sglang-*.dist-info/METADATA")]
        return cls._checked(names, lambda name: (root / name).read_bytes(), release, str(place))

    @classmethod
    def _checked(
        cls, names: list[str], load: Callable[[str], bytes], release: str | None, where: str
    ) -> SourceTree:
        if _PROOF not in names:
            raise KvsolveError(f"{where} is no SGLang release: it has no {_PROOF}.")
        found = release or _stated_release(names, load)
        if found is None:
            raise KvsolveError(f"Nothing in {where} tells which SGLang release it is.")
        return cls(names, load, found, where)

    def exists(self, relpath: str) -> bool:
        """Tell whether the release has this file."""
        return relpath in self._names

    def glob(self, pattern: str) -> list[str]:
        """Sorted relative paths that match a shell pattern; ``*`` also matches ``/``."""
        return sorted(fnmatch.filter(self._names, pattern))

    def read(self, relpath: str) -> str:
        """The text of a file.

        Raises:
            KvsolveError: The release has no such file, or it is not UTF-8 text.
        """
        text = self._texts.get(relpath)
        if text is None:
            if relpath not in self._names:
                raise KvsolveError(f"SGLang {self.release} in {self._where} has no {relpath}.")
            try:
                text = self._load(relpath).decode("utf-8-sig")
            except (OSError, UnicodeDecodeError, zipfile.BadZipFile) as error:
                message = f"{relpath} of {self._where} cannot be read: {error}."
                raise KvsolveError(message) from error
            self._texts[relpath] = text
        return text

    def parse(self, relpath: str) -> ast.Module:
        """The syntax tree of a file, parsed once.

        Raises:
            KvsolveError: The file is missing or is not valid Python.
        """
        tree = self._trees.get(relpath)
        if tree is None:
            try:
                tree = ast.parse(self.read(relpath))
            except (SyntaxError, ValueError) as error:
                raise KvsolveError(f"{relpath} of {self._where} is not Python: {error}.") from error
            self._trees[relpath] = tree
        return tree

    def module_path(self, dotted: str) -> str | None:
        """The file that a dotted module name stands for, or None when the release has none."""
        base = dotted.replace(".", "/")
        for candidate in (f"{base}.py", f"{base}/__init__.py"):
            if candidate in self._names:
                return candidate
        return None


def _stated_release(names: list[str], load: Callable[[str], bytes]) -> str | None:
    metadata = [n for n in names if re.fullmatch(r"sglang-[^/]+\.dist-info/METADATA", n)]
    for name in sorted(metadata):
        text = load(name).decode("utf-8", "replace")
        version = HeaderParser().parsestr(text, headersonly=True)["Version"]
        if version:
            return version.strip()
    for name in ("sglang/_version.py", "sglang/version.py"):
        if name in names:
            pattern = r"""^__version__\s*=(?:\s*version\s*=)?\s*["']([^"']+)["']"""
            match = re.search(pattern, load(name).decode("utf-8", "replace"), re.M)
            if match:
                return match.group(1)
    return None
