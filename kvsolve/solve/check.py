"""check: run a configuration through the program and say everything that fires.

A :class:`Prepared` holds a pack in a context. The first configurations run on the whole program;
once a context proves to be used often, one run is kept as its baseline, and others run only what
differs from it. Both give the same trace.
"""

from __future__ import annotations

from functools import cached_property
from itertools import compress
from operator import is_not, itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from kvsolve.model.context import Config
from kvsolve.model.finding import (
    CheckResult,
    Finding,
    Kind,
    Severity,
    Verdict,
    stage_rank,
)
from kvsolve.model.overlay import Overlay, Shared
from kvsolve.packs.compile import FactTable, Unknowable, initial_slots
from kvsolve.packs.evaluate import interpret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.model.context import Context
    from kvsolve.packs.evaluate import Failure, Trace
    from kvsolve.packs.pack import Pack
    from kvsolve.packs.units import Baseline

__all__ = ["Prepared", "check", "judge", "not_modelled"]

_OF_CONTEXT = 20
"""Runs of a context after which a baseline pays: making one costs about as much as these."""
_INTERPRETED = 20
"""Runs that an interpreted one costs as much as."""
_SIMPLE = frozenset([str, int, bool, type(None)])
_OF_RELEASE = 1000
"""Runs of a release after which its program is cut into units. That costs ten times as much as
these, but it is kept for later starts."""


class Prepared:
    """A pack in a context, judged up to a stage.

    Attributes:
        pack: The release's knowledge.
        context: GPU, model and environment.
        stage: Last stage judged.
        whole: The same with all refusals, where some are excused here.
    """

    def __init__(self, pack: Pack, context: Context, stage: str | None = None) -> None:
        self.pack = pack
        self.context = context
        self.stage = stage or pack.last_stage
        self.facts = FactTable(context.facts)
        self._rank = stage_rank(self.stage)
        self._runs, self._patience = 0, _OF_CONTEXT
        self._baseline: Baseline | None = None
        self.whole: Prepared | None = None
        self._excused: frozenset[int] = frozenset()
        self._excusing: dict[frozenset[str], Prepared] = {}

    def excusing(self, codes: frozenset[str]) -> Prepared:
        """The same context where refusals with these codes are none."""
        if not codes:
            return self
        found = self._excusing.get(codes)
        if found is None:
            found = self._excusing[codes] = Prepared(self.pack, self.context, self.stage)
            found.facts, found.whole = self.facts, self
            found._excused = self.pack.catalog.steps_of(codes)
        return found

    def trace(self, config: Config) -> Trace:
        """Run a configuration; steps are positions in ``pack.program``."""
        if self._baseline is None:
            self._runs += 1
            self.pack.runs += 1
            if self._runs >= self._patience:
                self._runs, self._patience = 0, 2 * self._patience
                self._set_baseline(config, make=self.has_run_often())
        if self._baseline is not None:
            found = self._baseline.attempt(config.values, config.given)
            # What a crash or a missing fact leaves in doubt, the interpreter tells step by step;
            # what is said does not depend on how often a context was used.
            if found is None:
                found = self._baseline.exact(config.values, config.given, self.pack.program)
            return found
        found = self.pack.compiled.attempt(config.values, config.given, self.facts)
        if found is None:
            self._runs += _INTERPRETED
            found = interpret(
                self.pack.program, initial_slots(config.values, config.given), self.facts
            )
        return found

    def has_run_often(self) -> bool:
        """Whether it pays to cut the release's program into units."""
        return self.pack.runs >= _OF_RELEASE

    def expect_many(self, config: Config) -> None:
        """Make now what many runs need; a run then costs what differs from the defaults.

        Args:
            config: Any configuration that will be asked for.
        """
        if self._baseline is None:
            self._set_baseline(config, make=True)

    def _set_baseline(self, config: Config, *, make: bool) -> None:
        """Keep a run of the defaults; of the configuration itself where the defaults crash."""
        units = self.pack.units(make=make)
        if units is None:
            return
        for base in (self.defaults(config), config):
            values, given, facts = base.values, base.given, self.facts
            self._baseline = units.baseline(values, given, facts)
            if self._baseline is None:
                self._baseline = units.doubtful_baseline(values, given, facts, self.pack.program)
            if self._baseline is not None:
                return

    def defaults(self, config: Config) -> Config:
        """A configuration with only what has no default."""
        flags = self.pack.flags
        needed = {flags.by_spelling(name).dest for name in flags.required}
        kept = {n: v for n, v in config.values.items() if n in needed or n not in flags.initial}
        values = {n: kept.get(n, flags.initial.get(n)) for n in config.values}
        return Config(values, {d: s for d, s in config.given.items() if d in needed})

    def broken(self, config: Config) -> tuple[int, ...]:
        """Steps at which upstream refuses or crashes, up to the stage judged, in order."""
        trace = self.trace(config)
        steps = [s for s in trace.refusals if self.judges(s)]
        steps += [f.step for f in trace.failures if f.reason == "crash" and self.judges(f.step)]
        return tuple(sorted(steps))

    def judges(self, step: int) -> bool:
        """Whether a step belongs to the stages judged, and is not excused."""
        return stage_rank(self.pack.steps[step].stage) <= self._rank and step not in self._excused

    def decides(self, step: int) -> bool:
        """Whether upstream may stop at a step; a value that nothing can foretell is no doubt."""
        return self.pack.steps[step].kind in ("refuse", "need")

    @property
    def is_searched(self) -> bool:
        """Whether what searches need was made, which takes a thousand times the memory."""
        return "inlined" in vars(self)

    @cached_property
    def inlined(self) -> Any:
        """The program as constraints over the given values."""
        if self.whole is not None:
            return self.whole.inlined
        from kvsolve.solve.specialise import inline

        return inline(self.pack.program, self.facts)


def check(
    prepared: Prepared,
    config: Config,
    *,
    argv: tuple[str, ...] = (),
    problems: tuple[Finding, ...] = (),
    sglang_from: str = "option",
    trace: Trace | None = None,
    told: dict[Any, Finding] | None = None,
) -> CheckResult:
    """Say everything about one configuration in one context.

    Args:
        prepared: Pack, context and stage.
        config: What to check.
        argv: The command's tokens, for the answer.
        problems: Findings of the parser; they come first.
        sglang_from: How the release was chosen.
        trace: The configuration's run in the context, where somebody has it already.
        told: Findings of the same configuration in other contexts; those made here are added.
    """
    if trace is None:
        trace = prepared.trace(config)
    rewritten = _rewritten(prepared.pack, config, trace)
    stopped = any(p.is_error for p in problems)
    kept = {} if told is None else told
    findings = (*problems, *_findings(prepared, config, trace, rewritten, stopped, kept))
    unknown = tuple(
        dict.fromkeys(
            f.detail
            for f in trace.failures
            if f.reason == "unknown" and prepared.judges(f.step) and prepared.decides(f.step)
        )
    )
    unknown = (*unknown, *prepared.context.doubts)
    if stage_rank(prepared.stage) > stage_rank(prepared.pack.last_stage):
        unknown = (*unknown, _beyond(prepared.pack))
    unmodelled = not_modelled(prepared.pack, config)
    context = prepared.context
    effective = Overlay(lambda: _effective(prepared.pack, config, trace))
    return CheckResult(
        argv=argv,
        sglang=prepared.pack.release,
        sglang_from=sglang_from,
        facts={
            "gpu": context.gpu,
            "gpus": context.gpus,
            "model": context.model,
            "model_from": context.model_from,
        },
        judged_to=prepared.stage,
        verdict=judge(findings, unknown, unmodelled),
        findings=findings,
        effective=effective,
        provenance=Overlay(lambda: _provenance(prepared.pack, config, effective, rewritten)),
        not_modelled=unmodelled,
        unknown=unknown,
        pack_status=prepared.pack.status,
    )


def _beyond(pack: Pack) -> str:
    """What is not known of a release whose later stages nobody wrote down."""
    return f"what this release refuses past stage {pack.last_stage}"


def judge(
    findings: Iterable[Finding], unknown: Iterable[str], unmodelled: Iterable[str]
) -> Verdict:
    """The verdict: refused, or nothing known refuses it, or something needed is not known."""
    if any(f.is_error for f in findings):
        return Verdict.INVALID
    return Verdict.UNKNOWN if any(unknown) or any(unmodelled) else Verdict.VALID


def _findings(
    prepared: Prepared,
    config: Config,
    trace: Trace,
    rewritten: Mapping[str, int],
    stopped: bool,
    told: dict[Any, Finding],
) -> Iterator[Finding]:
    errors = sorted(
        [(s, None) for s in trace.refusals]
        + [(f.step, f) for f in trace.failures if f.reason != "unknown"],
        key=lambda item: item[0],
    )
    for step, failure in errors:
        if not prepared.judges(step):
            continue
        key = step, failure, stopped
        finding = told.get(key)
        if finding is None:
            finding = told[key] = _violation(prepared, config, step, failure, stopped)
        stopped = stopped or finding.is_error
        yield finding
    yield from _rewrites(prepared.pack, config, trace, rewritten, told)
    yield from _reports(prepared, config, trace)


def _violation(
    prepared: Prepared, config: Config, step: int, failure: Failure | None, stopped: bool
) -> Finding:
    pack = prepared.pack
    info = pack.steps[step]
    crash = failure is not None
    entry = pack.catalog.crash(step) if crash else pack.catalog.entry(step)
    unreached = failure is not None and failure.reason == "not_reached"
    raises = failure.detail if failure is not None and not unreached else info.name or None
    return Finding(
        code=entry.code,
        slug=entry.slug,
        kind=Kind.VIOLATION,
        severity=Severity.NOTE if unreached else Severity.ERROR,
        stage=info.stage,
        flags=_spelled(config, pack, entry.flags),
        message=entry.message,
        ground=entry.ground,
        raises=raises,
        remedy=entry.remedy,
        crash=crash,
        after_first=stopped,
        not_reached=unreached,
        step=step,
    )


def _spelled(config: Config, pack: Pack, dests: Iterable[str]) -> tuple[str, ...]:
    return tuple(config.given.get(d) or spelling(pack, d) for d in dests)


def spelling(pack: Pack, dest: str) -> str:
    """How to type a flag; the bare name where the release has no option for it."""
    flags = pack.flags.by_dest(dest)
    return flags[0].name if flags else dest


def _rewritten(pack: Pack, config: Config, trace: Trace) -> dict[str, int]:
    """Slots whose resolved value is not the one they came with, and the step that wrote it last."""
    names, values, final = pack.written, config.values, trace.values
    last = {names[step]: step for step, _, _ in trace.writes}
    last.pop("", None)
    found = {}
    for dest, step in last.items():
        before, after = values.get(dest), final.get(dest)
        if before is not after and not same_value(before, after):
            found[dest] = step
    return found


def _rewrites(
    pack: Pack,
    config: Config,
    trace: Trace,
    rewritten: Mapping[str, int],
    told: dict[Any, Finding],
) -> Iterator[Finding]:
    for dest, step in sorted(rewritten.items(), key=itemgetter(1)):
        before, typed = config.values.get(dest), dest in config.given
        if before is None and not typed:
            continue
        # A write whose value is not known leaves no effective value, and no rewrite to tell.
        if dest not in trace.values or dest not in pack.flags.defaults:
            continue
        after = trace.values[dest]
        key = (step, type(after), after) if type(after) in _SIMPLE else None
        finding = None if key is None else told.get(key)
        if finding is None:
            finding = _rewrite(pack, config, dest, step, after)
            if key is not None:
                told[key] = finding
        yield finding


def _rewrite(pack: Pack, config: Config, dest: str, step: int, after: Any) -> Finding:
    entry = pack.catalog.entry(step)
    return Finding(
        code=entry.code,
        slug=entry.slug,
        kind=Kind.REWRITE,
        severity=Severity.WARNING if dest in config.given else Severity.NOTE,
        stage=pack.steps[step].stage,
        flags=_spelled(config, pack, (dest,)),
        message=entry.message,
        ground=entry.ground,
        remedy=entry.remedy,
        before=plain(config.values.get(dest)),
        after=plain(after),
        dest=dest,
        step=step,
    )


def plain(value: Any) -> Any:
    """A value as JSON has it: tuples as lists, sets as sorted lists."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are the same, lists and tuples alike, ``True`` and ``1`` apart."""
    if type(a) is Unknowable or type(b) is Unknowable:
        return a is b
    if type(a) is str or a is None:  # most are, and this is asked some dozens of times a run
        return bool(a == b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


class _Final(dict[str, Any]):
    """The values in the end: those written, over those that a configuration comes with."""

    __slots__ = ("own",)

    def __init__(self, written: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        super().__init__(written)
        self.own = own

    def __missing__(self, name: str) -> Any:
        return self.own[name]


def _reports(prepared: Prepared, config: Config, trace: Trace) -> Iterator[Finding]:
    reports = prepared.pack.catalog.reports
    for entry in reports(_Final(trace.values, config.values), prepared.facts):
        yield Finding(
            code=entry.code,
            slug=entry.slug,
            kind=Kind.REPORT,
            severity=Severity.WARNING,
            stage=entry.stage,
            flags=_spelled(config, prepared.pack, entry.flags),
            message=entry.message,
            ground=entry.ground,
            remedy=entry.remedy,
            step=len(prepared.pack.steps),
        )


Parts: TypeAlias = "tuple[Shared, dict[str, Any]]"
"""Defaults, and what differs from them."""


def _effective(pack: Pack, config: Config, trace: Trace) -> Parts:
    shared, own = _typed(pack, config)
    changes, defaults = own.copy(), shared.values
    for dest, value in trace.values.items():
        if dest in defaults and (value is not defaults[dest] or dest in own):
            changes[dest] = value
    return shared, changes


def _typed(pack: Pack, config: Config) -> Parts:
    """The defaults, and what a configuration has instead; kept for its next context."""
    kept = pack.typed
    if kept is not None and kept[0] is config:
        return kept[1]
    values, initial = config.values, pack.flags.initial
    if list(values) != list(initial):
        parts: Parts = Shared({d: values[d] for d in values if d in pack.modelled}), {}
    else:
        # One pass in C over some five hundred values, nearly all of them the table's own objects.
        differ = compress(values, map(is_not, values.values(), initial.values()))
        shared = pack.effective
        parts = shared, {dest: values[dest] for dest in differ if dest in shared.values}
    pack.typed = config, parts
    return parts


def _provenance(
    pack: Pack, config: Config, effective: Overlay, rewritten: Mapping[str, int]
) -> Parts:
    shared, _ = effective.parts
    known = shared.values
    changes = {dest: "user" for dest in config.given if dest in known}
    for dest, step in rewritten.items():
        if dest in known:
            changes[dest] = pack.catalog.entry(step).code
    if shared is pack.effective:
        return pack.provenance, changes
    return Shared(dict.fromkeys(known, "default")), changes


def not_modelled(pack: Pack, config: Config) -> tuple[str, ...]:
    """Given flags that the release reads and the pack does not model, away from their default."""
    blind = pack.unread
    return tuple(
        d
        for d in config.given
        if d in blind and not same_value(config.values.get(d), pack.flags.fields.get(d))
    )
