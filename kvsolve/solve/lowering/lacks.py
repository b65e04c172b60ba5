"""When a term has no value, because it crashes or because a fact is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, children
from kvsolve.solve.lowering.gates import FALSE, TRUE
from kvsolve.solve.lowering.listing import marks_of
from kvsolve.solve.lowering.terms import NUMERIC, collects, is_plain_table, members, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.solve.lowering.evaluating import Bindings
    from kvsolve.solve.lowering.outcomes import Encoder

__all__ = ["Lacks"]


class Lacks:
    """Finds where terms have no value: the literals of a crash and of a missing fact.

    Args:
        encoder: Gives the lacks, truths and kinds of the parts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.gates = encoder.gates

    def of(self, term: Expr, bound: Bindings) -> tuple[int, int]:
        """The lack of a term."""
        found = self._by_shape(term, bound) if self.encoder.varies(term) else None
        return found or marks_of(self.encoder.outcomes(term, bound))

    def _by_shape(self, term: Expr, bound: Bindings) -> tuple[int, int] | None:
        """The lack where the shape of a term tells it with fewer outcomes."""
        op, args = term.op, term.args
        if op in ("eq", "ne", "is", "is_not", "tuple", "isinstance"):
            return self.of_all(children(term), bound)
        if is_plain_table(term):
            return self.of_all(rows_of(term).values(), bound)
        if op in NUMERIC or (op == "call" and args[0] in NUMERIC):
            return marks_of(self.encoder.kinds(term, bound))
        if op in ("lt", "le", "gt", "ge"):
            return marks_of(self.encoder.kinds_maker.of_operation(term, args, bound))
        if op == "if":
            return self._of_choice(term, bound)
        if op in ("and", "or", "not"):
            truth = self.encoder.truth(term, bound)
            return truth.crashes, truth.unknown
        if collects(term):
            return self._of_members(term, bound)
        if op in ("any", "collect", "pick", "table"):
            return marks_of(self.encoder.combiner.tabulated(term, bound, told=True))
        return None

    def of_all(self, operands: Iterable[Operand], bound: Bindings) -> tuple[int, int]:
        """For operands evaluated in order: the first that has no value says why."""
        return self._first(self.encoder.lack(operand, bound) for operand in operands)

    def _of_members(self, term: Expr, bound: Bindings) -> tuple[int, int]:
        """For a set of listed members, each evaluated where it is present."""
        return self._first(
            self._where_present(present, member, bound) for present, member in members(term)
        )

    def _where_present(self, present: Operand, member: Operand, bound: Bindings) -> tuple[int, int]:
        both, either = self.gates.both, self.gates.either
        test, lack = self.encoder.truth(present, bound), self.encoder.lack(member, bound)
        crashes = either(test.crashes, both(test.holds, lack[0]))
        return crashes, either(test.unknown, both(test.holds, lack[1]))

    def _first(self, lacks: Iterable[tuple[int, int]]) -> tuple[int, int]:
        both, either = self.gates.both, self.gates.either
        fine, crashed, unknown = TRUE, FALSE, FALSE
        for crashes, doubts in lacks:
            crashed = either(crashed, both(fine, crashes))
            unknown = either(unknown, both(fine, doubts))
            fine = both(fine, -crashes, -doubts)
        return crashed, unknown

    def _of_choice(self, term: Expr, bound: Bindings) -> tuple[int, int]:
        both, either = self.gates.both, self.gates.either
        test = self.encoder.truth(term.args[0], bound)
        crashes, unknown = [test.crashes], [test.unknown]
        for branch, taken in ((term.args[1], test.holds), (term.args[2], test.fails)):
            if taken != FALSE:
                lacks = self.encoder.lack(branch, bound)
                crashes.append(both(taken, lacks[0]))
                unknown.append(both(taken, lacks[1]))
        return either(*crashes), either(*unknown)
