"""Places that no flag can decide although names in their conditions look like flags.

Each is listed with the reason, and with every function of the release that names what it lies in.
Where a release names that anywhere else, the reason is not taken for granted any more.
"""

from __future__ import annotations

import ast
import tomllib
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.upstream.reach.reachable import BELOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kvsolve.upstream.source import SourceTree

__all__ = ["FILE", "Key", "RuledOut", "read_ruled_out", "still_ruled_out"]

FILE = "ruled-out.toml"
Key = tuple[str, str, tuple[str, ...]]
"""File below ``sglang/srt``, function, and the names in the condition that look like flags."""


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A place that no flag decides.

    Attributes:
        name: The name by which others call what it lies in.
        callers: ``file:function`` of all that name it; a function of ``""`` is the module itself.
        reason: Why no flag decides it, whoever of them calls.
    """

    key: Key
    name: str
    callers: frozenset[str]
    reason: str


def read_ruled_out(root: Path) -> list[RuledOut]:
    """The list of the packs' directory.

    Raises:
        KvsolveError: A row lacks something.
    """
    path = root / FILE
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("place", [])
    try:
        return [
            RuledOut(
                (row["file"], row["symbol"], tuple(sorted(row["names"]))),
                row["named"],
                frozenset(row["callers"]),
                row["reason"],
            )
            for row in rows
        ]
    except KeyError as error:
        raise KvsolveError(f"A place of {FILE} has no {error.args[0]}.") from error


def still_ruled_out(tree: SourceTree, rows: list[RuledOut]) -> Mapping[Key, str]:
    """Key -> reason of the rows whose callers in this release are among those listed."""
    callers = _callers(tree, frozenset(row.name for row in rows))
    return {row.key: row.reason for row in rows if callers.get(row.name, set()) <= row.callers}


def _callers(tree: SourceTree, names: frozenset[str]) -> Mapping[str, set[str]]:
    """Name -> the functions of the release that name it, other than where it is defined."""
    found: dict[str, set[str]] = {}
    for path in tree.glob(f"{BELOW}*.py"):
        file = path.removeprefix(BELOW)
        text = tree.read(path)
        sought = {name for name in names if name in text}
        if sought and not _tests(file):
            for symbol, name in _named(tree.parse(path)):
                if name in sought:
                    found.setdefault(name, set()).add(f"{file}:{symbol}")
    return found


def _tests(file: str) -> bool:
    name = file.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or "/test/" in file


def _named(module: ast.Module) -> Iterator[tuple[str, str]]:
    """The function around each name or attribute that is read, with it."""
    waiting: list[tuple[ast.AST, str]] = [(module, "")]
    while waiting:
        node, symbol = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = symbol
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{symbol}.{child.name}" if symbol else child.name
            elif isinstance(child, ast.Name):
                yield symbol, child.id
            elif isinstance(child, ast.Attribute):
                yield symbol, child.attr
            waiting.append((child, inner))
