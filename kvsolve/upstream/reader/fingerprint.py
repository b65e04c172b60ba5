"""Fingerprints of refusals and writes that stay the same from release to release.

A fingerprint covers the function, the exception (or the field and how it is written) and the
condition over names: no line numbers, no versions, the parts of ``and`` and ``or`` sorted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

from kvsolve.model.expression import Expr, Operand, raw
from kvsolve.model.program import Refuse, Set, Step
from kvsolve.model.syntax import render

__all__ = ["canonical", "with_keys"]

_LENGTH = 12


def canonical(operand: Operand, memo: dict[Expr, Operand] | None = None) -> Operand:
    """An operand without versions, with the parts of ``and`` and ``or`` in sorted order."""
    memo = {} if memo is None else memo
    if isinstance(operand, tuple):
        return tuple(canonical(part, memo) for part in operand)
    if not isinstance(operand, Expr):
        return operand
    if operand not in memo:
        memo[operand] = _canonical(operand, memo)
    return memo[operand]


def _canonical(term: Expr, memo: dict[Expr, Operand]) -> Operand:
    if term.op == "ref":
        return raw("ref", term.args[0], 0)
    if term.op == "var":
        return raw("var", 0)
    args = [canonical(a, memo) for a in term.args]
    if term.op in ("and", "or"):
        args.sort(key=render)
    if term.op in ("any", "collect"):
        args[0 if term.op == "any" else 1] = 0
    return raw(term.op, *args)


def with_keys(steps: list[Step]) -> list[Step]:
    """The steps with their fingerprints; equal ones are told apart by an ordinal."""
    seen: Counter[str] = Counter()
    memo: dict[Expr, Operand] = {}
    out: list[Step] = []
    for step in steps:
        if isinstance(step, (Refuse, Set)) and not step.key:
            key = _digest(step, memo)
            seen[key] += 1
            step = replace(step, key=key if seen[key] == 1 else f"{key}-{seen[key]}")
        out.append(step)
    return out


def _digest(step: Refuse | Set, memo: dict[Expr, Operand]) -> str:
    what = step.raises if isinstance(step, Refuse) else f"{step.name} {step.mode}"
    text = f"{step.place.symbol}|{what}|{render(canonical(step.when, memo))}"
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
