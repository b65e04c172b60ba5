"""witness: configurations that show one step of a program, and others that just miss it.

A *breaking* configuration makes a refusal the first one, or a write the one that decides the
effective value of an accepted configuration. It is searched for with the engine that repairs
configurations, turned around: that the step does not take place is what is wrong with a member, and
the reason for it is learned as a clause. Searching to the end without a find proves, over the
domains of :mod:`kvsolve.solve.domains`, that no configuration in this context shows the step.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import all_of, negate, node, raw
from kvsolve.model.program import Let, Refuse, Set
from kvsolve.packs.evaluate import Write
from kvsolve.solve.check import same_value
from kvsolve.solve.completion import fixed_flags
from kvsolve.solve.domains import bare
from kvsolve.solve.judge import ProgramJudge, broken_steps
from kvsolve.solve.network import CRASHED, UNKNOWN, Network
from kvsolve.solve.search import Clause, Search
from kvsolve.solve.space import Space
from kvsolve.solve.specialise import inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvsolve.model.context import Config
    from kvsolve.model.expression import Operand
    from kvsolve.model.program import Program
    from kvsolve.packs.evaluate import Trace
    from kvsolve.solve.check import Prepared

__all__ = ["Stage", "Witness", "kept_change", "marked"]

_MOST_EFFORT = 800


@dataclass(frozen=True, slots=True)
class Witness:
    """What a search for a breaking configuration says.

    Attributes:
        config: The configuration; None where none was found.
        proven: Where none was found: there is none in this context, over the solver's domains.
        behind: Steps of the refusals that came first wherever the step would have taken place.
    """

    config: Config | None
    proven: bool = False
    behind: tuple[int, ...] = ()


def marked(program: Program) -> tuple[Program, dict[int, int]]:
    """The program with a marker for every write of a flag, behind its last step.

    A marker is a refusal that stands where the write changes something. It makes the condition of
    a write a constraint like any other; no trace of the program itself ever shows it.

    Returns:
        The longer program, and for each write the position of its marker.
    """
    versions: dict[str, int] = {}
    markers: list[Refuse] = []
    where: dict[int, int] = {}
    for number, step in enumerate(program.steps):
        if not isinstance(step, (Let, Set)):
            continue
        version = versions.get(step.name, 0)
        versions[step.name] = version + 1
        if isinstance(step, Set) and "." not in step.name:
            changes = node("ne", raw("ref", step.name, version), step.value)
            where[number] = len(program.steps) + len(markers)
            markers.append(Refuse("", all_of(step.when, changes), step.place))
    return replace(program, steps=(*program.steps, *markers)), where


def kept_change(write: Write, final: Any) -> tuple[tuple[str, ...], Any] | None:
    """What a write changed and no later one took back.

    Returns:
        Where in the value (empty for the whole of it, keys inside of a mapping) and what stands
        there at the end; None where the write changed nothing, or nothing of it is left. A mapping
        that stands where nothing stood is looked at key by key too.
    """
    before, after = write.before, write.after
    if before is None and isinstance(after, Mapping):
        before = dict.fromkeys(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping) and isinstance(final, Mapping):
        for key in after:
            if key in final and key in before:
                inner = kept_change(Write(write.step, before[key], after[key]), final[key])
                if inner is not None:
                    return (key, *inner[0]), inner[1]
        return None
    changed = not same_value(before, after)
    return ((), final) if changed and same_value(after, final) else None


class Stage:
    """A context in which steps are to be shown, starting from one configuration.

    Attributes:
        network: Constraints of the context, markers of writes among them.
        space: What may be changed.
        exact: Every refusal met so far could be explained.
    """

    def __init__(
        self,
        prepared: Prepared,
        config: Config,
        *,
        held: Iterable[str] = (),
        also: Mapping[str, Iterable[Any]] | None = None,
        most_effort: int = _MOST_EFFORT,
        seconds: float | None = None,
    ) -> None:
        """Prepare the context.

        Args:
            prepared: Pack, context and last stage.
            config: Where to start from; what it gives is kept.
            held: Dests that are no matter of choice.
            also: Further values of flags.
            most_effort: Effort of one search after which to give up.
            seconds: Time of one search after which to give up.
        """
        program = prepared.pack.program
        longer, self.markers = marked(program)
        self.prepared, self.config = prepared, config
        self.most_effort, self.seconds = most_effort, seconds
        count = len(program.steps)
        self.network = Network(
            inline(longer, prepared.facts),
            prepared.facts,
            lambda step: step >= count or prepared.judges(step),
        )
        self.space = Space(
            self.network,
            prepared.pack.flags,
            config,
            held=fixed_flags(prepared, held) | set(config.given),
            also=also,
        )
        self.explain = ProgramJudge(prepared, self.network, self.space)
        self.learned: dict[int, list[Clause]] = {}

    def can_show(self, step: int) -> bool:
        """Whether facts alone leave a step possible."""
        return self.markers.get(step, step) in self.network.constraints

    def breaking(self, step: int) -> Witness:
        """The cheapest configuration that shows a step.

        Args:
            step: Position of a refusal or of a write.
        """
        if not self.can_show(step):
            return Witness(None, proven=True)
        judge = _WriteJudge(self, step) if step in self.markers else _RefusalJudge(self, step)
        search = Search(self.space, judge, deadline=self._deadline())
        search.most_effort = self.most_effort
        found = next(search.run(), None)
        if found is not None:
            return Witness(self.space.changed(found.changes))
        sources = {clause.source for clause in search.clauses} - {None, step}
        behind = tuple(sorted(s for s in sources if s is not None))
        return Witness(None, search.complete and judge.exact, behind)

    def _deadline(self) -> float | None:
        return None if self.seconds is None else time.monotonic() + self.seconds

    def refusals(self, steps: Iterable[int], changes: dict[int, int]) -> Iterator[Clause]:
        """What keeps refusals standing; kept for later searches."""
        for step in steps:
            known = self.learned.setdefault(step, [])
            clause = next((c for c in known if self._breaks(c, changes)), None)
            if clause is None:
                clause = self.explain.refusal(step, changes)
                known.append(clause)
            yield clause

    def _breaks(self, clause: Clause, changes: Mapping[int, int]) -> bool:
        start = self.space.start
        return all(mask >> changes.get(v, start[v]) & 1 for v, mask in clause.literals)

    def guard(self, number: int) -> Operand:
        """The condition of a refusal or marker under what does not vary; False where never."""
        constraint = self.network.constraints.get(number)
        return self.explain.reasoner.guard(constraint.broken) if constraint else False

    def reason(self, term: Operand, *, holds: bool) -> Clause | None:
        """Why a condition holds, or why not; None where it is the other way round."""
        reasoner = self.explain.reasoner
        value, literals = reasoner.reason(term)
        if value is CRASHED or value is UNKNOWN:
            return None if holds else Clause(literals)
        if bool(value) is not holds:
            return None
        return Clause(reasoner.widened(term if holds else negate(term), True, literals))

    def as_is(self, changes: Mapping[int, int]) -> Clause:
        """A member and nothing else."""
        start = self.space.start
        return Clause(tuple((v, 1 << changes.get(v, start[v])) for v in range(len(start))))

    def _space(self, config: Config) -> Space:
        held = fixed_flags(self.prepared, self.space.held)
        return Space(
            self.network, self.prepared.pack.flags, config, held=held, also=self.space.also
        )

    def mended(self, config: Config) -> Config | None:
        """The cheapest edit of a configuration that leaves nothing to refuse; None: not found."""
        space = self._space(config)
        judge = ProgramJudge(self.prepared, self.network, space)
        search = Search(space, judge, deadline=self._deadline())
        search.most_effort = self.most_effort
        found = next(search.run(), None)
        return None if found is None else space.changed(found.changes)

    def near(self, config: Config, steps: Iterable[int]) -> Iterator[Config]:
        """Configurations one edit away, of the flags given first, then of those that steps read."""
        space = self._space(config)
        dests = dict.fromkeys(d for d in config.given if d not in self.config.given)
        for step in steps:
            constraint = self.network.constraints.get(self.markers.get(step, step))
            for slot in sorted(constraint.cone) if constraint else ():
                dests.setdefault(bare(slot))
        for dest in dests:
            variable = space.variable(dest)
            if variable is None:
                continue
            domain = space.domains[variable]
            states = sorted(range(len(domain.states)), key=lambda at: domain.states[at].typed)
            for at in states:
                if at != domain.start:
                    yield space.changed({variable: at})


class _RefusalJudge:
    """Accepts members in which a refusal is the first."""

    def __init__(self, stage: Stage, step: int) -> None:
        self.stage, self.step, self.exact = stage, step, True

    def __call__(self, changes: dict[int, int]) -> list[Clause]:
        """What is wrong with a member."""
        stage = self.stage
        trace = stage.prepared.trace(stage.space.changed(changes))
        stage.explain.reasoner.move(changes)
        earlier = [s for s in broken_steps(stage.prepared, trace) if s < self.step]
        found = list(stage.refusals(earlier, changes))
        if self.step not in trace.refusals:
            missing = stage.reason(stage.guard(self.step), holds=False)
            found.append(missing or stage.as_is(changes))
            self.exact &= missing is not None
        return found


class _WriteJudge:
    """Accepts members that nothing refuses and in which a write decides an effective value."""

    def __init__(self, stage: Stage, step: int) -> None:
        self.stage, self.step, self.exact = stage, step, True
        self.name = stage.prepared.pack.program.steps[step].name
        self.marker = stage.markers[step]

    def __call__(self, changes: dict[int, int]) -> list[Clause]:
        """What is wrong with a member."""
        stage = self.stage
        config = stage.space.changed(changes)
        trace = stage.prepared.trace(config)
        stage.explain.reasoner.move(changes)
        found = list(stage.refusals(broken_steps(stage.prepared, trace), changes))
        own = [w for w in trace.writes if stage.prepared.pack.steps[w.step].name == self.name]
        if self._decides(own, config, trace):
            return [*found, stage.as_is(changes)] if self._doubt(trace) and not found else found
        clause = self._missing(own)
        self.exact &= clause is not None
        return [*found, clause or stage.as_is(changes)]

    def _decides(self, own: list[Write], config: Config, trace: Trace) -> bool:
        final = trace.values.get(self.name)
        if same_value(final, config.values.get(self.name)):
            return False
        return any(w.step == self.step and kept_change(w, final) is not None for w in own)

    def _missing(self, own: list[Write]) -> Clause | None:
        """What keeps the write from deciding; None where that is not known."""
        stage = self.stage
        for write in reversed(own):
            if write.step == self.step:
                break
            changed = not same_value(write.before, write.after)
            if write.step > self.step and changed:
                return stage.reason(stage.guard(stage.markers[write.step]), holds=True)
        return stage.reason(stage.guard(self.marker), holds=False)

    def _doubt(self, trace: Trace) -> bool:
        prepared = self.stage.prepared
        return any(
            f.reason == "unknown" and prepared.judges(f.step) and prepared.decides(f.step)
            for f in trace.failures
        )
