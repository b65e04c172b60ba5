"""check: run a configuration through the program and say everything that fires.

A :class:`Prepared` holds a pack in a context. The first configurations run on the full program;
once a context proves to be used often, facts are folded away and the smaller residual program takes
over. Both give the same trace.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kvsolve.model.finding import (
    STAGES,
    CheckResult,
    Finding,
    Kind,
    Severity,
    Verdict,
    stage_rank,
)
from kvsolve.packs.compile import CompiledProgram, FactTable
from kvsolve.packs.evaluate import Failure, Trace, Write

if TYPE_CHECKING:
    from kvsolve.model.context import Config, Context
    from kvsolve.packs.pack import Pack

__all__ = ["Prepared", "check", "judge", "not_modelled"]

_SPECIALISE_AFTER = 3000
"""Runs of one context after which folding its facts pays (it costs about as much as these)."""


class Prepared:
    """A pack in a context, judged up to a stage.

    Attributes:
        pack: The release's knowledge.
        context: GPU, model and environment.
        stage: Last stage judged.
    """

    def __init__(self, pack: Pack, context: Context, stage: str | None = None) -> None:
        self.pack = pack
        self.context = context
        self.stage = stage or pack.last_stage
        self.facts = FactTable(context.facts)
        self._rank = stage_rank(self.stage)
        self._runs = 0
        self._fast: _Specialised | None = None
        judged = {stage: stage_rank(stage) <= self._rank for stage in STAGES}
        self._judged = tuple([judged[s.stage] for s in pack.steps])

    def trace(self, config: Config) -> Trace:
        """Run a configuration; steps are positions in ``pack.program``."""
        if self._fast is None:
            self._runs += 1
            if self._runs <= _SPECIALISE_AFTER:
                return self._run_full(config)
            self.specialise()
        assert self._fast is not None
        # A run that crashes or lacks a fact is told by the full program, so that what is said does
        # not depend on how often a context was used.
        return self._fast.attempt(config) or self._run_full(config)

    def _run_full(self, config: Config) -> Trace:
        return self.pack.compiled.run(config.values, config.given, self.facts)

    def specialise(self) -> None:
        """Fold the context's facts away now; later runs are several times faster."""
        if self._fast is None:
            self._fast = _Specialised(self.pack, self.facts)

    def broken(self, config: Config) -> tuple[int, ...]:
        """Steps at which upstream refuses or crashes, up to the stage judged, in order."""
        trace = self.trace(config)
        steps = [s for s in trace.refusals if self._judged[s]]
        steps += [f.step for f in trace.failures if f.reason == "crash" and self._judged[f.step]]
        return tuple(sorted(steps))

    def judges(self, step: int) -> bool:
        """Whether a step belongs to the stages judged."""
        return self._judged[step]

    def decides(self, step: int) -> bool:
        """Whether upstream may stop at a step; a value that nothing can foretell is no doubt."""
        return self.pack.steps[step].kind in ("refuse", "need")

    @cached_property
    def inlined(self) -> Any:
        """The program as constraints over the given values."""
        from kvsolve.solve.specialise import inline

        return inline(self.pack.program, self.facts)


class _Specialised:
    """The residual program of a context, compiled."""

    def __init__(self, pack: Pack, facts: FactTable) -> None:
        from kvsolve.packs.compile import compile_program
        from kvsolve.solve.specialise import specialise

        residual = specialise(pack.program, facts)
        self.facts = facts
        self.origin = residual.origin
        self.constants = residual.constants
        self.compiled: CompiledProgram = compile_program(residual.program)

    def attempt(self, config: Config) -> Trace | None:
        compiled, origin = self.compiled, self.origin
        found = compiled.attempt(config.values, config.given, self.facts)
        if found is None:
            return None
        return Trace(
            [origin[s] for s in found.refusals],
            [Write(origin[w.step], w.before, w.after) for w in found.writes],
            [Failure(origin[f.step], f.reason, f.detail) for f in found.failures],
            {**self.constants, **found.values},
        )


def check(
    prepared: Prepared,
    config: Config,
    *,
    argv: tuple[str, ...] = (),
    problems: tuple[Finding, ...] = (),
    sglang_from: str = "option",
) -> CheckResult:
    """Say everything about one configuration in one context.

    Args:
        prepared: Pack, context and stage.
        config: What to check.
        argv: The command's tokens, for the answer.
        problems: Findings of the parser; they come first.
        sglang_from: How the release was chosen.
    """
    trace = prepared.trace(config)
    findings = (*problems, *_findings(prepared, config, trace, any(p.is_error for p in problems)))
    unknown = tuple(
        dict.fromkeys(
            f.detail
            for f in trace.failures
            if f.reason == "unknown" and prepared.judges(f.step) and prepared.decides(f.step)
        )
    )
    unmodelled = not_modelled(prepared.pack, config)
    context = prepared.context
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
        effective=Later(lambda: _effective(prepared.pack, config, trace)),
        provenance=Later(lambda: _provenance(prepared.pack, config, trace)),
        not_modelled=unmodelled,
        unknown=unknown,
    )


class Later(Mapping[str, Any]):
    """A mapping that is made when somebody first looks into it."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make
        self._made: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def keys(self) -> KeysView[str]:
        """As of a dict: the views of a Mapping look every name up one by one."""
        return self._all().keys()

    def items(self) -> ItemsView[str, Any]:
        """The same for the pairs."""
        return self._all().items()

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def judge(
    findings: Iterable[Finding], unknown: Iterable[str], unmodelled: Iterable[str]
) -> Verdict:
    """The verdict: refused, or nothing known refuses it, or something needed is not known."""
    if any(f.is_error for f in findings):
        return Verdict.INVALID
    return Verdict.UNKNOWN if any(unknown) or any(unmodelled) else Verdict.VALID


def _findings(prepared: Prepared, config: Config, trace: Trace, stopped: bool) -> Iterator[Finding]:
    errors = sorted(
        [(s, None) for s in trace.refusals]
        + [(f.step, f) for f in trace.failures if f.reason != "unknown"],
        key=lambda item: item[0],
    )
    for step, failure in errors:
        if not prepared.judges(step):
            continue
        finding = _violation(prepared, config, step, failure, stopped)
        stopped = stopped or finding.is_error
        yield finding
    yield from _rewrites(prepared.pack, config, trace)
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


def _last_writes(pack: Pack, trace: Trace) -> dict[str, Write]:
    """The last write of each resolved slot that changed something."""
    return {pack.steps[w.step].name: w for w in trace.writes if "." not in pack.steps[w.step].name}


def _rewrites(pack: Pack, config: Config, trace: Trace) -> Iterator[Finding]:
    for dest, write in sorted(_last_writes(pack, trace).items(), key=lambda i: i[1].step):
        before, after = config.values.get(dest), trace.values.get(dest)
        # A write whose value is not known leaves no effective value, and no rewrite to tell.
        if dest not in trace.values or same_value(before, after) or dest not in pack.flags.defaults:
            continue
        typed = dest in config.given
        if not typed and before is None:
            continue
        entry = pack.catalog.entry(write.step)
        yield Finding(
            code=entry.code,
            slug=entry.slug,
            kind=Kind.REWRITE,
            severity=Severity.WARNING if typed else Severity.NOTE,
            stage=pack.steps[write.step].stage,
            flags=_spelled(config, pack, (dest,)),
            message=entry.message,
            ground=entry.ground,
            remedy=entry.remedy,
            before=plain(before),
            after=plain(after),
            dest=dest,
            step=write.step,
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
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _reports(prepared: Prepared, config: Config, trace: Trace) -> Iterator[Finding]:
    values = {**config.values, **trace.values}
    for entry in prepared.pack.catalog.reports(values, prepared.facts):
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


def _effective(pack: Pack, config: Config, trace: Trace) -> dict[str, Any]:
    written, modelled = trace.values, pack.modelled
    return {
        dest: written.get(dest, value) for dest, value in config.values.items() if dest in modelled
    }


def _provenance(pack: Pack, config: Config, trace: Trace) -> dict[str, str]:
    given, modelled = config.given, pack.modelled
    out = {d: "user" if d in given else "default" for d in config.values if d in modelled}
    for dest, write in _last_writes(pack, trace).items():
        if dest in out and not same_value(config.values.get(dest), trace.values.get(dest)):
            out[dest] = pack.catalog.entry(write.step).code
    return out


def not_modelled(pack: Pack, config: Config) -> tuple[str, ...]:
    """Given flags that the release reads and the pack does not model, away from their default."""
    blind = pack.unread
    return tuple(
        d
        for d in config.given
        if d in blind and not same_value(config.values.get(d), pack.flags.fields.get(d))
    )
