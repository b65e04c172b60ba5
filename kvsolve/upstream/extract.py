"""Reading a release's resolution program and writing it into the packs."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kvsolve.packs.files import constraints_directory
from kvsolve.upstream.flags import read_flags
from kvsolve.upstream.reader.facts import load_fact_names
from kvsolve.upstream.reader.program import Reading, read_release
from kvsolve.upstream.source import SourceTree

if TYPE_CHECKING:
    from kvsolve.model.program import Program

__all__ = ["extract", "read_source", "read_tree"]

_RECURSION = 20_000


def read_source(path: str | Path) -> Reading:
    """Read the program of a wheel, an unpacked wheel or a source checkout.

    Raises:
        KvsolveError: The path is no SGLang release.
    """
    return read_tree(SourceTree.open(path))


def read_tree(tree: SourceTree) -> Reading:
    """Read the program of a release that is open already."""
    names = load_fact_names(constraints_directory() / "sglang" / "facts.toml")
    limit, collecting = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, _RECURSION))
    gc.disable()  # what is read stays to the end, so looking for garbage is a fifth of the time
    try:
        flags = read_flags(tree)
        settable = {*flags.defaults, *flags.launcher["noticed"]}
        return read_release(tree, names, settable=settable)
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()


def extract(path: str | Path, out_dir: str | Path) -> Program:
    """Read a release and write ``<out_dir>/<release>.jsonl``.

    Raises:
        KvsolveError: The path is no SGLang release.
    """
    program = read_source(path).program
    target = Path(out_dir)
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{program.release}.jsonl").write_text(program.dump(), encoding="utf-8")
    return program
