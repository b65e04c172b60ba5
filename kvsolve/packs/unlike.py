"""Whether two values of a run may be taken for the same."""

from __future__ import annotations

from typing import Any

from kvsolve.packs.compile import Unknowable

__all__ = ["unlike"]


def unlike(a: Any, b: Any) -> bool:
    """Whether any expression could tell two values apart; errs on the side of yes."""
    kind = type(a)
    if a is b or kind is not type(b):
        return a is not b
    if kind in _PLAIN:
        return bool(a != b)
    if kind in (list, tuple):
        if a != b:
            return True
        # Equal items may still differ in type; of plain ones that is all, and compared in one go.
        kinds = list(map(type, a))
        return kinds != list(map(type, b)) or (
            not _PLAIN.issuperset(kinds) and any(map(unlike, a, b))
        )
    if kind is dict:
        return unlike(list(a), list(b)) or unlike(list(a.values()), list(b.values()))
    if kind is float:  # 0.0 is equal to -0.0
        return repr(a) != repr(b)
    return a.label != b.label if kind is Unknowable else True


_PLAIN = frozenset([str, int, bool, type(None), bytes])
