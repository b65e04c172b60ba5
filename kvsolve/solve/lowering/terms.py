"""The shape of a term: its parts, what they read, and which kind of calculation it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, children, is_constant
from kvsolve.solve.domains import bare

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "NO_FLAG",
    "NUMERIC",
    "SEVERAL_FLAGS",
    "Reads",
    "collects",
    "computes",
    "is_plain_table",
    "makes_table",
    "members",
    "parts_of",
    "rows_of",
]

NO_FLAG, SEVERAL_FLAGS = -1, -2
"""In place of the one flag that a term reads."""

NUMERIC = frozenset(
    ["add", "sub", "mul", "floordiv", "mod", "truediv", "neg", "max", "min", "abs", "round", "ceil",
     "floor", "float", "int"]
)  # fmt: skip
"""Operations that give a number for numbers."""


class Reads:
    """Tells which flags and which bound variables terms read.

    Args:
        position: The number of each flag that varies.
    """

    def __init__(self, position: Mapping[str, int]) -> None:
        self.position = position
        self._owner: dict[Expr, int] = {}
        self._free: dict[Expr, frozenset[int]] = {}

    def owner(self, term: Expr) -> int:
        """The variable that a term reads, negative where it reads none or several."""
        found = self._owner.get(term)
        if found is None:
            if term.op == "ref":
                found = self.position.get(bare(term.args[0]), NO_FLAG)
            else:
                found = NO_FLAG
                for part in parts_of(term):
                    other = self.owner(part)
                    if other == SEVERAL_FLAGS or (found >= 0 and other >= 0 and other != found):
                        found = SEVERAL_FLAGS
                        break
                    found = max(found, other)
            self._owner[term] = found
        return found

    def free(self, term: Expr) -> frozenset[int]:
        """The bound variables that a term reads from outside."""
        found = self._free.get(term)
        if found is None:
            if term.op == "var":
                found = frozenset(term.args[:1])
            else:
                found = frozenset[int]().union(*(self.free(part) for part in parts_of(term)))
                if term.op in ("any", "collect"):
                    found -= {term.args[0 if term.op == "any" else 1]}
            self._free[term] = found
        return found

    def leaves(self, operand: Operand) -> list[Expr]:
        """The largest terms over a single flag below an operand."""
        found: dict[Expr, None] = {}
        stack, seen = [operand], set[Expr]()
        while stack:
            term = stack.pop()
            if isinstance(term, tuple):
                stack.extend(term)
            elif isinstance(term, Expr) and term not in seen:
                seen.add(term)
                if self.owner(term) >= 0 and not self.free(term):
                    found[term] = None
                elif self.owner(term) != NO_FLAG:
                    stack.extend(children(term))
        return list(found)

    def closed_parts(self, term: Expr) -> list[Expr]:
        """The largest parts of a term that read flags and no variable bound inside it."""
        outside = self.free(term)
        found: dict[Expr, None] = {}
        stack = list(parts_of(term))
        while stack:
            part = stack.pop()
            if self.free(part) <= outside and part.op not in ("pick", "table"):
                found[part] = None
            else:
                stack.extend(parts_of(part))
        return list(found)


def parts_of(term: Expr) -> list[Expr]:
    """The terms right below a term, those in tuples too, in order."""
    out: list[Expr] = []
    stack = list(children(term))[::-1]
    while stack:
        child = stack.pop()
        if isinstance(child, Expr):
            out.append(child)
        elif isinstance(child, tuple):
            stack.extend(reversed(child))
    return out


def computes(term: Expr) -> bool:
    """Whether a term is a calculation or a comparison, which needs all its operands."""
    return (
        term.op in NUMERIC
        or term.op in ("lt", "le", "gt", "ge", "eq", "ne")
        or (term.op == "call" and term.args[0] in NUMERIC)
    )


def is_plain_table(term: Operand) -> bool:
    """Whether a term makes a dictionary with the same keys under all circumstances."""
    return (
        isinstance(term, Expr)
        and term.op == "table"
        and all(is_constant(key) for key in term.args[::3])
        and all(condition is True for condition in term.args[1::3])
    )


def makes_table(term: Operand) -> bool:
    """Whether a term is a plain table, or a choice that may be one."""
    while isinstance(term, Expr) and term.op == "if":
        if makes_table(term.args[1]):
            return True
        term = term.args[2]
    return is_plain_table(term)


def rows_of(term: Operand) -> dict[object, Operand]:
    """The values of a plain table by key."""
    return dict(zip(term.args[::3], term.args[2::3], strict=True)) if isinstance(term, Expr) else {}


def collects(term: Operand) -> bool:
    """Whether a term is the set of some members, all of them text or None."""
    if not (isinstance(term, Expr) and term.op == "call" and term.args[0] in ("set", "frozenset")):
        return False
    inner = term.args[1]
    return isinstance(inner, tuple) or (isinstance(inner, Expr) and inner.op in ("pick", "tuple"))


def members(term: Expr) -> list[tuple[Operand, Operand]]:
    """The members of such a set, each with the condition under which it is there."""
    inner = term.args[1]
    if isinstance(inner, Expr) and inner.op == "pick":
        return list(zip(inner.args[::2], inner.args[1::2], strict=True))
    return [(True, member) for member in (inner.args if isinstance(inner, Expr) else inner)]
