"""Short hashes of upstream functions, to notice when one that we model by name has changed."""

from __future__ import annotations

import ast
import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fingerprint"]

_SKIPPED = frozenset({"ctx", "type_comment", "type_params", "kind", "returns", "annotation"})


def fingerprint(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Twelve hex digits over what a function or class does.

    Equal for every Python that computes it; comments, layout, docstrings, annotations and the
    words of messages do not count.
    """
    text = "\n".join(_lines(node))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _lines(node: Any) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "text"
    elif isinstance(node, ast.Constant):
        words = isinstance(node.value, str) and " " in node.value
        yield "text" if words else repr(node.value)
    elif isinstance(node, ast.AST):
        yield type(node).__name__
        for name, value in ast.iter_fields(node):
            if name in _SKIPPED or value is None or value == []:
                continue
            yield name
            yield from _lines(_body(value) if name == "body" else value)
    elif isinstance(node, list):
        for item in node:
            yield from _lines(item)
    else:
        yield repr(node)


def _body(statements: Any) -> Any:
    """A block without its docstring."""
    if not isinstance(statements, list):
        return statements
    return [
        s for s in statements
        if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]  # fmt: skip
