"""Carrying curated late entries over to a new release.

An entry of the ``7*.toml`` files holds for the releases that somebody confirmed. Where the function
that it is about has not changed by as much as a token, it holds for the next release too; what
changed is left to a person.
"""

from __future__ import annotations

import ast
import re
import tomllib
from typing import TYPE_CHECKING

from kvsolve.model.noun import dataclass
from kvsolve.packs.late import confirmed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kvsolve.upstream.source import SourceTree

__all__ = ["Carried", "carry_over"]

_HEADER = re.compile(r"(?m)^(?=\[\[(?:entry|let)\]\]$)")


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of the entries that held for the release before.

    Attributes:
        texts: New text by file, where it changes.
        carried: Entries that hold for the new release too.
        left: Entries whose function changed or is gone: (file, code, function).
    """

    texts: dict[Path, str]
    carried: int
    left: tuple[tuple[str, str, str], ...]


def carry_over(files: list[Path], old: SourceTree, new: SourceTree) -> Carried:
    """Widen the ranges of the entries whose function is the same in a new release.

    Args:
        files: The curated files.
        old: The newest release that the entries were confirmed for.
        new: The new release.
    """
    texts: dict[Path, str] = {}
    carried, left = 0, []
    for path in files:
        parts = []
        for block in _HEADER.split(path.read_text(encoding="utf-8")):
            kept, code, symbol = _block(block, old, new)
            if code and kept == block:
                left.append((path.name, code, symbol))
            carried += bool(code) and kept != block
            parts.append(kept)
        if (text := "".join(parts)) != path.read_text(encoding="utf-8"):
            texts[path] = text
    return Carried(texts, carried, tuple(left))


def _block(block: str, old: SourceTree, new: SourceTree) -> tuple[str, str, str]:
    """The block for both releases, and code and function of an entry that held for the older."""
    data = tomllib.loads(block)
    wider = block.replace(f'<={old.release}"', f'<={new.release}"')
    for item in data.get("let", []):
        # A name alone refuses nothing: it is carried over for the entries that speak of it.
        if confirmed(old.release, item.get("sglang", "<0")):
            return wider, "", ""
    for item in data.get("entry", []):
        ground = item["ground"]
        held = confirmed(old.release, ground["sglang"])
        if not held or confirmed(new.release, ground["sglang"]):
            continue
        path, symbol = f"sglang/srt/{ground['file']}", ground["symbol"]
        before, after = list(_dumps(old, path, symbol)), list(_dumps(new, path, symbol))
        same = bool(before) and before == after
        return (wider if same else block), item["code"], f"{ground['file']} {symbol}"
    return block, "", ""


def _dumps(tree: SourceTree, path: str, symbol: str) -> Iterator[str]:
    """The functions of a name, without places and texts that explain them."""
    if not tree.exists(path):
        return
    scopes: list[ast.AST] = [tree.parse(path)]
    for name in symbol.split("."):
        scopes = [node for scope in scopes for node in _named(scope, name)]
    yield from (ast.dump(scope) for scope in scopes)


def _named(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = [node for node in ast.walk(scope) if isinstance(node, kinds)]
    yield from (node for node in body if node.name == name and node is not scope)
