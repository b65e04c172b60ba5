"""Hashed words of upstream's messages, so that a pasted error finds its entry."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.packs.messages import hash_message

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["literal_parts", "words"]


def words(tree: ast.expr | None) -> tuple[str, ...]:
    """Hashes of the word runs of a message; the text itself is not kept."""
    if tree is None:
        return ()
    parts = list(literal_parts(tree))
    return hash_message(parts) if parts else ()


def literal_parts(tree: ast.expr) -> Iterator[str]:
    """The literal parts of the message that an expression builds, cut at placeholders."""
    text = "".join(_pieces(tree))
    yield from (part for part in text.split("\0") if part.strip())


def _pieces(tree: ast.expr) -> Iterator[str]:
    if isinstance(tree, ast.Constant):
        yield tree.value if isinstance(tree.value, str) else "\0"
    elif isinstance(tree, ast.JoinedStr):
        for part in tree.values:
            yield from _pieces(part)
    elif isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        yield from _pieces(tree.left)
        yield from _pieces(tree.right)
    elif isinstance(tree, ast.Call):
        for argument in (*tree.args, *(k.value for k in tree.keywords)):
            yield from _pieces(argument)
            yield "\0"
    else:
        yield "\0"
