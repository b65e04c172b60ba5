"""The nodes of a syntax tree, for the many looks at whole functions and modules."""

from __future__ import annotations

import ast

__all__ = ["nodes_of"]

_NO_NODES = frozenset(
    ["ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "level", "module", "asname"]
)
"""Fields that hold text, a number, or a node that says nothing but its kind."""


def nodes_of(root: ast.AST) -> list[ast.AST]:
    """What :func:`ast.walk` gives but for operators and contexts, in half the time.

    Returns:
        A list of the caller's own.
    """
    found = [root]
    for node in found:  # grows while it is walked through
        names = _FIELDS.get(type(node))
        if names is None:
            names = _FIELDS[type(node)] = _fields(node)
        for name in names:
            value = getattr(node, name, None)
            if type(value) is list:
                found.extend(part for part in value if isinstance(part, ast.AST))
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Constant):
        return ()
    return tuple(name for name in node._fields if name not in _NO_NODES)
