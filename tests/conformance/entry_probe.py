"""What kvsolve says of one entry in one configuration, and how to shrink or leave it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import walk
from kvsolve.model.program import Let
from kvsolve.packs.pack import load_pack
from kvsolve.solve.check import same_value
from kvsolve.solve.domains import read_literals
from kvsolve.solve.witness import kept_change

from .flag_pool import TABLES, FlagPool
from .kvsolve_subject import Kvsolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.finding import CheckResult
    from kvsolve.packs.catalog import EntryInfo
    from kvsolve.packs.evaluate import Trace
    from kvsolve.session import Question

__all__ = ["Probe", "Seen", "flag_groups"]

Job = dict[str, Any]
Decided = tuple[str, tuple[str, ...], Any]
STAGE = "args"
MOST_HIDING = 5
ARCHITECTURE = re.compile(r"^[A-Z]\w+For[A-Z]\w+$")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a check at stage args says.

    Attributes:
        verdict: ``valid``, ``invalid`` or ``unknown``.
        first: Code of the refusal that SGLang meets first, empty where there is none.
        place: File and function of it.
        errors: Codes of every refusal, in order.
        writes: Code of each entry that decided an effective value, or a part of one -> the flag,
            where in its value, and what stands there.
        effective: Effective values.
        undecided: Codes of refusals of which kvsolve cannot tell whether they take place.
        open_writes: Code of each entry of which kvsolve cannot tell what it writes -> the flag and
            its value in the command.
    """

    verdict: str
    first: str = ""
    place: tuple[str, str] = ("", "")
    errors: tuple[str, ...] = ()
    writes: Mapping[str, Decided] = field(default_factory=dict)
    effective: Mapping[str, Any] = field(default_factory=dict)
    undecided: tuple[str, ...] = ()
    open_writes: Mapping[str, tuple[str, Any]] = field(default_factory=dict)

    def leaves_open(self, code: str) -> bool:
        """Whether nothing refuses for sure, and the entry may take place."""
        if self.verdict == "unknown" and code in self.undecided:
            return True
        return not self.first and code in self.open_writes

    def shows(self, code: str) -> bool:
        """Whether the entry is the first refusal, or what decided a value of a valid command."""
        if self.first:
            return self.first == code
        return self.verdict == "valid" and code in self.writes

    def hidden(self, code: str) -> int | None:
        """How many refusals come before the entry; None where it does not take place."""
        if code in self.errors:
            return self.errors.index(code)
        return len(self.errors) if code in self.writes else None

    def lacks(self, code: str) -> bool:
        """Whether the command is valid without the entry."""
        told = (self.writes, self.open_writes)
        return self.verdict == "valid" and not any(code in codes for codes in told)


def flag_groups(argv: Sequence[str]) -> list[list[str]]:
    """The tokens, each flag with its values."""
    groups: list[list[str]] = []
    for token in argv:
        if token.startswith("--") or not groups:
            groups.append([token])
        else:
            groups[-1].append(token)
    return groups


class Probe:
    """Asks kvsolve about jobs of one release.

    Attributes:
        stage: Last stage judged. The entries asked about are those of the arguments where it is
            ``args``, else the later ones.
    """

    def __init__(self, release: str, stage: str = STAGE) -> None:
        self.release, self.stage = release, stage
        self.pack = load_pack(release)
        self.pool = FlagPool.of(self.pack.flags, TABLES)
        self.subject = Kvsolve()
        self.lets: dict[str, list[Let]] = {}
        for step in self.pack.program.steps:
            if isinstance(step, Let):
                self.lets.setdefault(step.name, []).append(step)
        self.entries: dict[str, list[tuple[int, EntryInfo]]] = {}
        for number, info in enumerate(self.pack.steps):
            if info.kind in ("refuse", "set") and (info.stage == STAGE) is (stage == STAGE):
                entry = self.pack.catalog.entry(number)
                self.entries.setdefault(entry.code, []).append((number, entry))

    def look(self, job: Job) -> Seen:
        """Check one job."""
        question = self.subject.ask(self.release, job, self.stage)
        result = self.subject.session.judge(question)
        errors = result.errors
        codes = tuple(error.code for error in errors)
        trace = question.context.trace(question.config)
        writes = self._decided(question, result, trace)
        known = {"writes": writes, "effective": result.effective}
        known |= {"undecided": tuple(self._undecided(trace))}
        known |= {"open_writes": dict(self._open_writes(question, trace))}
        if not errors:
            return Seen(str(result.verdict), **known)
        ground = errors[0].ground
        place = (ground.file, ground.symbol) if ground else ("", "")
        return Seen(str(result.verdict), errors[0].code, place, codes, **known)

    def _unknown(self, trace: Trace, kind: str) -> Iterator[int]:
        for failure in trace.failures:
            if failure.reason == "unknown" and self.pack.steps[failure.step].kind == kind:
                yield failure.step

    def _undecided(self, trace: Trace) -> Iterator[str]:
        for step in self._unknown(trace, "refuse"):
            yield self.pack.catalog.entry(step).code

    def _open_writes(
        self, question: Question, trace: Trace
    ) -> Iterator[tuple[str, tuple[str, Any]]]:
        for step in self._unknown(trace, "set"):
            dest = self.pack.steps[step].name
            given = question.config.values.get(dest)
            yield self.pack.catalog.entry(step).code, (dest, given)

    def _decided(self, question: Question, result: CheckResult, trace: Trace) -> dict[str, Decided]:
        """What each entry decided: values that it wrote last, or parts that were not taken back."""
        found: dict[str, Decided] = {}
        steps, given = self.pack.steps, question.config.values
        for write in trace.writes:
            dest = steps[write.step].name
            final = trace.values.get(dest)
            kept = None if "." in dest else kept_change(write, final)
            if kept is not None and not same_value(final, given.get(dest)):
                found[self.pack.catalog.entry(write.step).code] = (dest, *kept)
        for dest, code in result.provenance.items():
            if code.startswith("KV") and code not in found:
                found[code] = (dest, (), result.effective[dest])
        return found

    def shrink(self, job: Job, code: str) -> Job:
        """The job without the flags and variables that the entry can do without."""
        if job.get("env"):
            bare = {**job, "env": {}}
            job = bare if self.look(bare).shows(code) else job
        groups = flag_groups(job["argv"])
        for group in list(groups):
            fewer = [g for g in groups if g is not group]
            tried = {**job, "argv": [t for g in fewer for t in g]}
            if self.look(tried).shows(code):
                groups, job = fewer, tried
        return job

    def uncover(self, job: Job, code: str) -> Job | None:
        """A job near this one that shows an entry which other refusals hide here."""
        for _ in range(MOST_HIDING):
            seen = self.look(job)
            depth = seen.hidden(code)
            if seen.shows(code) or not depth or seen.first not in self.entries:
                break
            for twin in self.edits(job, seen.first):
                now = self.look(twin).hidden(code)
                if now is not None and now < depth:
                    job = twin
                    break
            else:
                return None
        return job if self.look(job).shows(code) else None

    def twins(self, job: Job, code: str) -> Iterator[Job]:
        """Jobs one edit away, then repairs that kvsolve proposes."""
        yield from self.edits(job, code)
        for argv in self.subject.repairs(self.release, job, self.stage):
            yield {**job, "argv": argv}

    def edits(self, job: Job, code: str) -> Iterator[Job]:
        """Jobs with one flag less, changed or more."""
        groups = flag_groups(job["argv"])
        for group in groups:
            yield _with(job, [g for g in groups if g is not group])
        for group in groups:
            for value in self.values(group[0].partition("=")[0], code):
                yield _with(job, [[group[0], value] if g is group else g for g in groups])
        given = {group[0] for group in groups}
        for name in self.names(code):
            if name not in given:
                values = self.values(name, code)
                added = [[name, value] for value in values] if values else [[name]]
                yield from (_with(job, [*groups, extra]) for extra in added)

    def names(self, code: str) -> list[str]:
        """Spellings of the flags that take part in an entry."""
        dests = dict.fromkeys(d for _, entry in self.entries[code] for d in entry.flags)
        dests |= dict.fromkeys(self._read(code))
        flags = [flag for dest in dests for flag in self.pack.flags.by_dest(dest)[:1]]
        return [flag.name for flag in flags if flag.name in self.pool.flags]

    def _read(self, code: str) -> Iterator[str]:
        """Flags that the entry's guard reads, through a few named results."""
        front = [self.pack.program.steps[number].when for number, _ in self.entries[code]]
        seen: set[str] = set()
        for _ in range(3):
            names = {t.args[0] for t in walk(*front) if t.op == "ref"} - seen
            seen |= names
            yield from sorted(name.rpartition(".")[2] for name in names)
            steps = [step for name in names for step in self.lets.get(name, ())]
            front = [part for step in steps for part in (step.value, step.when)]

    def surroundings(self, code: str) -> tuple[list[str], list[str]]:
        """Architectures and environment variables that the entry's guard names."""
        whens = [self.pack.program.steps[number].when for number, _ in self.entries[code]]
        terms = list(walk(*whens))
        constants = {a for t in terms for a in _flat(t.args) if isinstance(a, str)}
        variables = {t.args[0] for t in terms if t.op in ("env", "env_is_set")}
        facts = {t.args[0] for t in terms if t.op == "fact" and t.args[0].startswith("env.")}
        variables |= {name.removeprefix("env.") for name in facts}
        return sorted(c for c in constants if ARCHITECTURE.search(c)), sorted(variables)

    def values(self, name: str, code: str) -> list[str]:
        """What may follow a flag: what the entry compares it with, then what is drawable."""
        canonical = self.pool.canonical(name)
        if canonical is None or not self.pool.flags[canonical].takes_value:
            return []
        whens = [self.pack.program.steps[number].when for number, _ in self.entries[code]]
        constants = read_literals(whens, ()).constants.get(self.pool.flags[canonical].dest, ())
        told = [str(c) for c in constants if isinstance(c, (str, int, float)) and c is not True]
        return list(dict.fromkeys([*told, *self.pool.values[canonical]]))


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, (tuple, frozenset)):
            yield from item
        else:
            yield item


def _with(job: Job, groups: list[list[str]]) -> Job:
    return {**job, "argv": [token for group in groups for token in group]}
