"""The two releases of a comparison: a wheel, a directory, a download, or one that is known."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.flag import FlagTable
from kvsolve.model.program import load_program
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.release_order import release_order

if TYPE_CHECKING:
    from kvsolve.model.program import Program

__all__ = ["Side", "download", "open_side", "predecessor"]

_DOWNLOAD = "pypi:"
_VERSION = re.compile(r"\d+(\.\d+)*([a-z]+\d*|\.post\d+|\.dev\d+)*")
_LONGEST_DOWNLOAD = 600


@dataclass(frozen=True, slots=True)
class Side:
    """One release of a comparison.

    Attributes:
        release: As in ``0.5.23``.
        flags: Its options.
        program: Its argument resolution.
    """

    release: str
    flags: FlagTable
    program: Program


def open_side(given: str) -> Side:
    """Read a release, or take it from the packs.

    Args:
        given: A wheel, a directory, ``pypi:VERSION``, or the number of a known release.

    Raises:
        KvsolveError: It is none of these, or no SGLang release.
    """
    if given.startswith(_DOWNLOAD):
        with tempfile.TemporaryDirectory(prefix="kvsolve-") as folder:
            return _read(download(given.removeprefix(_DOWNLOAD), Path(folder)))
    root = constraints_directory() / "sglang"
    if (root / "program" / f"{given}.jsonl").exists():
        return _known(given, root)
    if Path(given).exists():
        return _read(Path(given))
    raise KvsolveError(
        f"{given} is neither a file, a directory nor a known release; "
        f"to download a release write {_DOWNLOAD}{given}"
    )


def predecessor(release: str) -> str:
    """The newest known release before another.

    Raises:
        KvsolveError: There is none.
    """
    programs = (constraints_directory() / "sglang" / "program").glob("*.jsonl")
    known = sorted((path.stem for path in programs), key=release_order)
    before = [name for name in known if release_order(name) < release_order(release)]
    if not before:
        raise KvsolveError(f"no release before {release} is known; name one with --against")
    return before[-1]


def download(version: str, folder: Path) -> Path:
    """Fetch the wheel of a release with pip, without what it depends on.

    Raises:
        KvsolveError: The version is no version, or pip cannot fetch it.
    """
    if not _VERSION.fullmatch(version):
        raise KvsolveError(f"{version!r} is no version; write it as in {_DOWNLOAD}0.5.23")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--only-binary", ":all:"]
    command += ["--dest", str(folder), f"sglang=={version}"]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST_DOWNLOAD, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KvsolveError(f"pip cannot fetch sglang {version}: {error}") from None
    found = sorted(folder.glob("sglang-*.whl"))
    if run.returncode or not found:
        told = [line for line in run.stderr.splitlines() if line.strip()]
        last = told[-1].strip() if told else "it left no wheel"
        raise KvsolveError(f"pip cannot fetch sglang {version}: {last}")
    return found[0]


def _read(path: Path) -> Side:
    from kvsolve.upstream.extract import read_source
    from kvsolve.upstream.flags import read_flags
    from kvsolve.upstream.source import SourceTree

    flags = read_flags(SourceTree.open(path))
    return Side(flags.release, flags, read_source(path).program)


def _known(release: str, root: Path) -> Side:
    path = root / "program" / f"{release}.jsonl"
    with path.open(encoding="utf-8") as handle:
        program = load_program(handle, path.name)
    return Side(release, FlagTable.load(root / "flags" / f"{release}.json"), program)
