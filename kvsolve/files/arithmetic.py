"""Integer arithmetic as shells and recipes write it."""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["evaluated"]

_OPERATIONS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_DOLLAR = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_LARGEST = 1 << 63
_LONGEST = 200


def evaluated(text: str, value: Callable[[str], str | None]) -> int | None:
    """The value of an expression, None where it cannot be told.

    Args:
        text: The expression.
        value: The text of a variable, None where it is not known.

    >>> evaluated("16384 * 4 + $X", {"X": "1"}.get)
    65537
    """
    bare = _DOLLAR.sub(r"\1", text).strip()
    if not bare or len(bare) > _LONGEST:
        return None
    try:
        found = _value(ast.parse(bare, mode="eval").body, value)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError):
        return None
    return found if found is not None and abs(found) < _LARGEST else None


def _value(node: ast.expr, value: Callable[[str], str | None]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        text = value(node.id)
        return int(text) if text is not None and re.fullmatch(r"-?\d{1,19}", text) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        found = _value(node.operand, value)
        return found if found is None or isinstance(node.op, ast.UAdd) else -found
    if isinstance(node, ast.BinOp):
        return _binary(node, value)
    return None


def _binary(node: ast.BinOp, value: Callable[[str], str | None]) -> int | None:
    left, right = _value(node.left, value), _value(node.right, value)
    if left is None or right is None:
        return None
    if isinstance(node.op, (ast.Div, ast.FloorDiv)):  # a shell divides towards zero
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    if isinstance(node.op, ast.Mod):
        remainder = abs(left) % abs(right)
        return remainder if left >= 0 else -remainder
    if isinstance(node.op, (ast.LShift, ast.RShift)) and not 0 <= right < 64:
        return None
    operation = _OPERATIONS.get(type(node.op))
    return operation(left, right) if operation else None
