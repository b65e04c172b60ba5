"""Keeping the registry of codes in step with the programs."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.program import Program, load_program
from kvsolve.packs.code_assignment import update_registry
from kvsolve.packs.registry import Registry, dump_registry, load_registry
from kvsolve.packs.release_order import release_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["codes_text", "write_codes"]


def codes_text(root: Path) -> str:
    """What ``codes.toml`` should hold for the programs beside it.

    Args:
        root: The directory with ``program/`` and perhaps ``codes.toml``.

    Raises:
        KvsolveError: There is no program, or a file is malformed.
    """
    programs = list(_programs(root))
    if not programs:
        raise KvsolveError(f"{root} holds no program to give codes to")
    path = root / "codes.toml"
    known = Registry()
    if path.exists():
        known = load_registry(tomllib.loads(path.read_text(encoding="utf-8")))
    return dump_registry(update_registry(programs, known))


def write_codes(root: Path, check: bool = False) -> bool:
    """Bring ``codes.toml`` up to date.

    Args:
        root: As for :func:`codes_text`.
        check: Write nothing, only tell.

    Returns:
        Whether the file was up to date already.
    """
    path = root / "codes.toml"
    text = codes_text(root)
    same = path.exists() and path.read_text(encoding="utf-8") == text
    if not same and not check:
        path.write_text(text, encoding="utf-8")
    return same


def _programs(root: Path) -> Iterator[Program]:
    """Every program, oldest release first."""
    paths = (root / "program").glob("*.jsonl")
    for path in sorted(paths, key=lambda p: release_order(p.stem)):
        with path.open(encoding="utf-8") as handle:
            yield load_program(handle, path.name)
