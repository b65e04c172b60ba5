"""Judging members of a search space by running the program, and learning from what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Operand, raw, walk
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.network import CRASHED, Network
from kvsolve.solve.reasons import Literals, Reasoner, is_broken
from kvsolve.solve.search import Clause, Soft

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.model.context import Config
    from kvsolve.packs.evaluate import Trace
    from kvsolve.solve.space import Space
    from kvsolve.solve.specialise import Constraint

__all__ = [
    "ConstraintJudge",
    "ProgramJudge",
    "broken_steps",
    "reports_of",
    "rewritten_flags",
]


def broken_steps(prepared: Prepared, trace: Trace) -> tuple[int, ...]:
    """Steps at which a run refuses or crashes, up to the stage judged, in order."""
    steps = [s for s in trace.refusals if prepared.judges(s)]
    steps += [f.step for f in trace.failures if f.reason == "crash" and prepared.judges(f.step)]
    return tuple(sorted(steps))


class ProgramJudge:
    """Runs members through the program; explains refusals, reports and rewrites as clauses.

    Attributes:
        exact: Every refusal met so far could be explained by what the entry reads.
        runs: How often the program was run.
    """

    def __init__(
        self,
        prepared: Prepared,
        network: Network,
        space: Space,
        *,
        intact: Iterable[str] = (),
    ) -> None:
        self.prepared, self.network, self.space = prepared, network, space
        self.intact = frozenset(intact)
        self.reasoner = Reasoner(network, space)
        self.exact = True
        self.runs = 0

    def __call__(self, changes: dict[int, int]) -> list[Clause]:
        """The clauses that a member breaks; soft ones only where it is not refused."""
        self.runs += 1
        config = self.space.changed(changes)
        trace = self.prepared.trace(config)
        steps = broken_steps(self.prepared, trace)
        self.reasoner.move(changes)
        refused = [self.refusal(s, changes) for s in steps]
        refused += self._spoilt(config, trace)
        return refused or self._soft(config, trace)

    def refusal(self, step: int, changes: Mapping[int, int]) -> Clause:
        """What keeps a refusal standing under changes."""
        constraint = self.network.constraints.get(step)
        if constraint is None:
            self.exact = False
            return Clause(self._all_as_they_are(changes), step)
        term = self.reasoner.guard(constraint.broken)
        value, literals = self.reasoner.reason(term)
        if is_broken(value):
            return Clause(self.reasoner.widened(term, value, literals), step)
        return Clause(self._cone(constraint.broken), step)

    def _cone(self, term: Operand) -> Literals:
        """The values that a term reads, as they are."""
        masks: dict[int, int] = {}
        for ref in walk(term):
            if ref.op == "ref":
                for variable, mask in self.reasoner.reason(ref)[1]:
                    masks[variable] = masks.get(variable, -1) & mask
        return tuple(sorted(masks.items()))

    def _all_as_they_are(self, changes: Mapping[int, int]) -> Literals:
        start = self.space.start
        return tuple((v, 1 << changes.get(v, start[v])) for v in range(len(start)))

    def _spoilt(self, config: Config, trace: Trace) -> list[Clause]:
        """Values that must arrive as typed and do not."""
        return [
            Clause(self._rewrite(dest))
            for dest in sorted(self.intact)
            if _is_rewritten(dest, config, trace)
        ]

    def _soft(self, config: Config, trace: Trace) -> list[Clause]:
        rewritten = [
            Clause(self._rewrite(dest), None, Soft(1, dest))
            for dest in config.given
            if _is_rewritten(dest, config, trace)
        ]
        return [*self._reported(config, trace), *rewritten]

    def _rewrite(self, dest: str) -> Literals:
        term = self.network.rewritten(dest)
        value, literals = self.reasoner.reason(term)
        return literals if value is True or value is CRASHED else self._cone(term)

    def _reported(self, config: Config, trace: Trace) -> list[Clause]:
        """Reports that hold; they rest on every flag that their guard reads."""
        values: dict[str, Any] = {**config.values, **trace.values}
        found = []
        for report in reports_of(self.prepared, values):
            literals: dict[int, int] = {}
            for dest in report.flags:
                effective = self.network.effective.get(dest, raw("ref", dest, 0))
                for variable, mask in self.reasoner.reason(effective)[1]:
                    literals[variable] = literals.get(variable, -1) & mask
            found.append(Clause(tuple(sorted(literals.items())), None, Soft(0, report.code)))
        return found


class ConstraintJudge:
    """Judges members by a few constraints alone, without running a program."""

    def __init__(self, constraints: tuple[Constraint, ...], reasoner: Reasoner) -> None:
        self.constraints, self.reasoner = constraints, reasoner

    def __call__(self, changes: dict[int, int]) -> list[Clause]:
        """The clauses that a member breaks."""
        self.reasoner.move(changes)
        found = []
        for constraint in self.constraints:
            guard = self.reasoner.guard(constraint.broken)
            value, literals = self.reasoner.reason(guard)
            if is_broken(value):
                weaker = self.reasoner.widened(guard, value, literals)
                found.append(Clause(weaker, constraint.step))
        return found


def reports_of(prepared: Prepared, values: Mapping[str, Any]) -> list[Any]:
    """The reports of the catalog that hold for effective values."""
    return list(prepared.pack.catalog.reports(values, prepared.facts))


def rewritten_flags(config: Config, trace: Trace) -> tuple[str, ...]:
    """Typed flags whose value upstream replaces."""
    return tuple(d for d in config.given if _is_rewritten(d, config, trace))


def _is_rewritten(dest: str, config: Config, trace: Trace) -> bool:
    if dest not in trace.values or dest not in config.given:
        return False
    return not same_value(config.values.get(dest), trace.values[dest])
