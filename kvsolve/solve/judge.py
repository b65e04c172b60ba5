"""Judging members of a search space by running the program, and learning from what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Operand, raw, walk
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.circuit import is_mark
from kvsolve.solve.network import CRASHED, Network
from kvsolve.solve.nogoods import Clause, Soft
from kvsolve.solve.reasons import Literals, Reasoner, is_broken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kvsolve.model.context import Config
    from kvsolve.packs.evaluate import Trace
    from kvsolve.solve.board import Board
    from kvsolve.solve.space import Space
    from kvsolve.solve.specialise import Constraint

__all__ = [
    "CircuitJudge",
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


_EXPLAINED = 4
"""Entries of one member that are explained at most."""


class CircuitJudge:
    """Judges members by the circuit of the context; the program has the last word.

    Attributes:
        exact: The program accepted whatever the circuit accepted.
        runs: How often the program was run.
    """

    def __init__(
        self,
        prepared: Prepared,
        network: Network,
        space: Space,
        *,
        only: Collection[int] | None = None,
        proof: bool = False,
        steady: bool = False,
        board: Board | None = None,
    ) -> None:
        """Make a judge.

        Args:
            prepared: Pack, context and stage.
            network: The context's constraints.
            space: What members are members of.
            only: The entries to heed, by step; reports and rewrites are left aside then.
            proof: Run what is accepted through the whole program as well.
            steady: Explain the same always alike, whatever was explained before.
            board: The circuit to use; the network's own where None.
        """
        self.prepared, self.network, self.space = prepared, network, space
        self.board = network.board_of(prepared.pack.flags) if board is None else board
        self.only, self.proof = only, proof
        self.steady = self.board.proofs.steady() if steady else None
        self.exact = True
        self.runs = 0
        self._last: tuple[Any, Config, Trace] | None = None

    def __call__(self, changes: Mapping[int, int]) -> list[Clause]:
        """The clauses that a member breaks; soft ones only where it is not refused."""
        steps = self.broken(changes)
        if steps and self.only is None:
            return [self.board.explain(step) for step in self._telling(steps)]
        if steps:
            return [self._alone(step) for step in self._telling(steps)]
        if self.only is not None:
            return []
        if self.proof and not self._proven(changes):
            self.exact = False
            start = self.space.start
            as_is = ((v, 1 << changes.get(v, start[v])) for v in range(len(start)))
            return [Clause(tuple(as_is))]
        return self._soft(changes)

    def _alone(self, step: int) -> Clause:
        """Why an entry refuses, whatever others do."""
        if self.steady is not None:
            return Clause(self.steady.refusal(step), step)
        return self.board.explain_alone(step)

    def _telling(self, steps: list[int]) -> list[int]:
        """Of entries that refuse those that are explained: what reads the fewest flags says most.

        One would do. Explaining costs more than anything else, and all that refuse a member often
        have the same cause.
        """
        circuit = self.board.circuit
        return sorted(steps, key=lambda s: (circuit.weight[circuit.roots[s]], s))[:_EXPLAINED]

    def broken(self, changes: Mapping[int, int]) -> list[int]:
        """The entries that refuse a member, in upstream's order; the first of equal ones."""
        board = self.board
        board.move(self.space.place(changes))
        first = board.circuit.steps
        found = sorted(first[root][0] for root in board.follower.broken)
        return found if self.only is None else [step for step in found if step in self.only]

    def _proven(self, changes: Mapping[int, int]) -> bool:
        return not broken_steps(self.prepared, self.run(changes)[1])

    def run(self, changes: Mapping[int, int]) -> tuple[Config, Trace]:
        """A member's configuration and its run through the whole program, the last one kept."""
        key = tuple(sorted(changes.items()))
        if self._last is None or self._last[0] != key:
            self.runs += 1
            config = self.space.changed(changes)
            self._last = key, config, self.prepared.trace(config)
        return self._last[1:]

    def _soft(self, changes: Mapping[int, int]) -> list[Clause]:
        """Reports and rewrites that no clause tells of yet."""
        board, universe = self.board, self.space.universe
        at = self.space.place(changes)
        learned = board.learned
        told = learned.broken(at)
        found = self._reported(changes, told)
        for variable, state in at.items():
            here = universe.states[variable][state]
            dest = universe.dests[variable]
            if here.typed and dest in self.network.effective:
                after = board.value(dest)
                if is_mark(after) or same_value(here.value, after):
                    continue
                if not told & learned.soft(Soft(1, dest)):
                    found.append(Clause(self._rewrite(variable, state), None, Soft(1, dest)))
        return found

    def _rewrite(self, variable: int, state: int) -> Literals:
        """Why a typed value does not arrive: what comes instead, and any value but that."""
        board, universe = self.board, self.space.universe
        dest = universe.dests[variable]
        after = board.value(dest)
        literals = dict(board.explain_value(dest))
        own = 1 << state
        for at in range(universe.full[variable].bit_length()):
            other = universe.states[variable][at]
            if other.typed and not same_value(other.value, after):
                own |= 1 << at
        literals[variable] = literals.get(variable, -1) & own
        return tuple(sorted(literals.items()))

    def _reported(self, changes: Mapping[int, int], told: int) -> list[Clause]:
        """Reports that hold; they rest on every flag that their guard reads."""
        board = self.board
        found = []
        values = _Effective(self.space, self.network, board, changes)
        for report in reports_of(self.prepared, values):
            if told & board.learned.soft(Soft(0, report.code)):
                continue
            literals: dict[int, int] = {}
            for dest in report.flags:
                for variable, mask in board.explain_value(dest):
                    literals[variable] = literals.get(variable, -1) & mask
            found.append(Clause(tuple(sorted(literals.items())), None, Soft(0, report.code)))
        return found


class _Effective(Mapping[str, Any]):
    """Effective values by slot, read off the circuit when asked for."""

    def __init__(
        self, space: Space, network: Network, board: Board, changes: Mapping[int, int]
    ) -> None:
        self.space, self.network, self.board, self.changes = space, network, board, changes

    def __getitem__(self, name: str) -> Any:
        if name in self.network.effective:
            value = self.board.value(name)
            if not is_mark(value):
                return value
        if name not in self.space.config.values:
            raise KeyError(name)
        return self.space.state(name, self.changes).value

    def __iter__(self) -> Iterator[str]:
        return iter({**self.space.config.values, **self.network.effective})

    def __len__(self) -> int:
        return sum(1 for _ in self)


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
