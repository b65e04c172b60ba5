"""Outcomes of a term over several flags, put together from the outcomes of its parts.

How depends on how upstream evaluates the term: all operands in order, one branch of a choice, or
parts by need.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, Operand, children
from kvsolve.solve.lowering.comparing import TooManyOutcomesError
from kvsolve.solve.lowering.evaluating import Bindings, Preset, apply, compiled, operation_of, run
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.lowering.listing import MARKS, Listing, Outcomes, key_of, of_truth
from kvsolve.solve.lowering.terms import (
    NO_FLAG,
    SEVERAL_FLAGS,
    computes,
    makes_table,
    parts_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kvsolve.solve.lowering.outcomes import Encoder

__all__ = ["MOST_ROWS", "Combiner"]

MOST_ROWS = 30_000
"""Combinations of outcomes that one term may be put together from."""

_Heads = list[tuple[tuple[Any, ...], int]]
"""Values of the first few operands, with the literal that they come together under."""


class Combiner:
    """Puts outcomes together.

    Args:
        encoder: Gives the outcomes of the parts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.gates = encoder.gates

    def of(self, term: Expr, bound: Bindings) -> Outcomes:
        """The outcomes of a term."""
        owner = self.encoder.owner(term)
        if owner != SEVERAL_FLAGS:
            return self._tried(term, owner, bound)
        if _is_condition(term, bound):
            return of_truth(self.encoder.truth(term, bound))
        if term.op == "if":
            return self.conditional(term, bound, self.encoder.outcomes)
        if term.op in ("any", "collect", "pick", "table", "getattr"):
            return self.tabulated(term, bound)
        if computes(term):
            leaves = self._leaves(term, bound)
            rows = prod(len(self.encoder.outcomes(leaf, bound)) for leaf in leaves)
            if rows <= min(self._worth(term, bound), MOST_ROWS):
                return self._computed(term, leaves, bound)
        operands = list(children(term))
        return self.combined(operands, operation_of(term, self.encoder.facts), bound)

    def _tried(self, term: Expr, owner: int, bound: Bindings) -> Outcomes:
        """Outcomes of a term over at most one flag, by trying its states."""
        if owner == NO_FLAG:
            value = run(self.encoder.constant, term, bound)
            return {key_of(value): (value, TRUE)}
        masks: dict[Any, int] = {}
        values: dict[Any, Any] = {}
        for number, interpreter in enumerate(self.encoder.states[owner]):
            value = run(interpreter, term, bound)
            key = key_of(value)
            masks[key] = masks.get(key, 0) | 1 << number
            values.setdefault(key, value)
        return {k: (values[k], self.gates.test(owner, mask)) for k, mask in masks.items()}

    # Calculations

    def _leaves(self, term: Expr, bound: Bindings) -> list[Expr]:
        """The distinct terms that a calculation starts from.

        Taken together, not step by step: what a flag is at one place it is at all others.
        """
        found: dict[Expr, None] = {}
        stack = parts_of(term)[::-1]
        while stack:
            part = stack.pop()
            if self.encoder.varies(part) and computes(part):
                stack.extend(reversed(parts_of(part)))
            else:
                found[part] = None
        return sorted(found, key=lambda leaf: -len(self.encoder.outcomes(leaf, bound)))

    def _worth(self, term: Expr, bound: Bindings) -> int:
        """Up to how many rows a calculation is worth its tabulation from its leaves.

        It gives fewer numbers than going step by step, which matters where they are used on.
        """
        if term.op not in ("eq", "ne"):
            return MOST_ROWS
        return prod(len(self.encoder.outcomes(part, bound)) for part in term.args)

    def _computed(self, term: Expr, leaves: Sequence[Expr], bound: Bindings) -> Outcomes:
        listing, facts = Listing(), self.encoder.facts
        *first, last = [list(self.encoder.outcomes(leaf, bound).values()) for leaf in leaves]
        compute = compiled(term, {leaf: at for at, leaf in enumerate(leaves)}, facts)
        for head, under in self._heads(first):
            group = listing.group()
            for value, own in last:
                row = (*head, value)
                if any(part in MARKS for part in row):
                    preset = Preset(dict(zip(leaves, row, strict=True)), facts)
                    group.note(run(preset, term, bound), own)
                else:
                    group.note(apply(compute, (row,)), own)
            listing.take(group, under, self.gates)
        return listing.joined(self.gates)

    def _heads(self, maps: Iterable[Iterable[tuple[Any, int]]]) -> _Heads:
        both = self.gates.both
        heads: _Heads = [((), TRUE)]
        for options in maps:
            heads = [
                ((*head, value), literal)
                for head, under in heads
                for value, own in options
                if (literal := both(under, own)) != FALSE
            ]
        return heads

    # All operands, one branch, parts by need

    def combined(
        self, operands: Sequence[Operand], operation: Callable[..., Any], bound: Bindings
    ) -> Outcomes:
        """Outcomes of an operation that needs all its operands, evaluated in order."""
        maps = [self.encoder.outcomes(operand, bound) for operand in operands]
        if prod(len(m) for m in maps) > MOST_ROWS:
            raise TooManyOutcomesError
        if not maps:
            value = apply(operation, ())
            return {key_of(value): (value, TRUE)}
        listing = Listing()
        heads: _Heads = [((), TRUE)]
        for options in maps[:-1]:
            heads = self._longer(heads, options, listing)
        for head, literal in heads:
            group = listing.group()
            for value, under in maps[-1].values():
                marked = value in MARKS
                group.note(value if marked else apply(operation, (*head, value)), under)
            listing.take(group, literal, self.gates)
        return listing.joined(self.gates)

    def _longer(self, heads: _Heads, options: Outcomes, listing: Listing) -> _Heads:
        """Heads with one more operand; what has no value ends there and is noted."""
        longer: _Heads = []
        for head, literal in heads:
            group = listing.group()
            for value, under in options.values():
                if value in MARKS:
                    group.note(value, under)
                    continue
                both = self.gates.both(literal, under)
                if both != FALSE:
                    longer.append(((*head, value), both))
            listing.take(group, literal, self.gates)
        return longer

    def conditional(
        self, term: Expr, bound: Bindings, of: Callable[[Operand, Bindings], Outcomes]
    ) -> Outcomes:
        """Outcomes of a choice.

        Args:
            term: The choice.
            bound: Values of bound variables.
            of: Gives the outcomes of a branch.
        """
        test, then, other = term.args
        truth = self.encoder.truth(test, bound)
        listing = Listing()
        for mark, literal in zip(MARKS, (truth.crashes, truth.unknown), strict=True):
            listing.note(mark, literal)
        for branch, taken in ((then, truth.holds), (other, truth.fails)):
            if taken == FALSE:
                continue
            for value, literal in of(branch, bound).values():
                listing.note(value, self.gates.both(taken, literal))
        return listing.joined(self.gates)

    def tabulated(self, term: Expr, bound: Bindings, told: bool = False) -> Outcomes:
        """Outcomes of a term that evaluates its parts by need: by running it on their outcomes.

        Args:
            term: The term.
            bound: Values of bound variables.
            told: Only whether there is a value matters, not which.
        """
        parts = self.encoder.reads.closed_parts(term)
        maps = [list(self.encoder.outcomes(part, bound).values()) for part in parts]
        if prod(len(m) for m in maps) > self.encoder.most_runs:
            raise TooManyOutcomesError
        listing = Listing()
        for row in product(*maps):
            literal = self.gates.both(*[under for _, under in row])
            if literal == FALSE:
                continue
            known = dict(zip(parts, (value for value, _ in row), strict=True))
            value = run(Preset(known, self.encoder.facts), term, bound)
            listing.note(True if told and value not in MARKS else value, literal)
        return listing.joined(self.gates)


def _is_condition(term: Expr, bound: Bindings) -> bool:
    """Whether a term gives True or False, and its truth is known without listing its parts."""
    op, args = term.op, term.args
    return (
        op in ("and", "or", "not")
        or (op == "call" and args[0] == "bool")
        or (op in ("lt", "le", "gt", "ge") and not bound)
        or (op in ("is", "is_not") and args[1] is None)
        or (op in ("eq", "ne") and any(makes_table(side) for side in args))
    )
