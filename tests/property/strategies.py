"""Small random packs for the solver's laws, and the naive twins that its answers are held to."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from kvsolve.model.context import Config, Context
from kvsolve.model.expression import Crash, Operand, Unknown, node, raw, walk
from kvsolve.model.flag import Flag, FlagTable
from kvsolve.model.program import Let, Need, Place, Program, Refuse, Set, Step
from kvsolve.packs.compile import compile_program
from kvsolve.packs.evaluate import Interpreter, NotReached
from kvsolve.packs.pack import Pack, StepInfo
from kvsolve.packs.units import compile_units
from kvsolve.solve.check import Prepared, same_value
from kvsolve.solve.domains import Domain, bare, default_of, domain_of
from kvsolve.solve.network import network_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PLACE = Place("arguments.py", "Arguments.check", 1)


@dataclass(frozen=True, slots=True)
class StubEntry:
    """What the solver asks of a catalog's entry."""

    code: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StubReport:
    """A report that holds where every named flag has its value in the end."""

    code: str
    wanted: Mapping[str, Any]

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(self.wanted)


@dataclass
class StubCatalog:
    """A catalog without texts; an entry names the flags that its step reads itself."""

    held: list[StubReport] = field(default_factory=list)
    reads: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def entry(self, step: int) -> StubEntry:
        return StubEntry(f"KV{step:04}", self.reads.get(step, ()))

    def steps_of(self, codes: frozenset[str]) -> frozenset[int]:
        return frozenset(int(code.removeprefix("KV")) for code in codes)

    def reports(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> list[StubReport]:
        return [r for r in self.held if all(same_value(values[d], v) for d, v in r.wanted.items())]


FLAGS = (
    Flag("alpha", ("--alpha",), action="store_true", nargs=0, default=False),
    Flag("bravo", ("--bravo", "--no-bravo"), action="boolean", nargs=0, default=True),
    Flag("codec", ("--codec",), choices=("x", "y", "z"), default=None),
    Flag("depth", ("--depth",), type="int", choices=(1, 2, 4), default=1),
    Flag("extra", ("--extra",), choices=("on", "off"), default="off"),
    Flag("fixed", ("--fixed",), action="store_true", nargs=0, default=False),
)
VALUES: dict[str, tuple[Any, ...]] = {
    "alpha": (True, False),
    "bravo": (True, False),
    "codec": (None, "x", "y", "z"),
    "depth": (1, 2, 4),
    "extra": ("on", "off"),
    "fixed": (True, False),
}


def pack_of(program: Program, flags: tuple[Flag, ...] = FLAGS, catalog: Any = None) -> Pack:
    """A pack around a program, nothing of it on disk."""
    fields = {f.dest: f.default for f in flags}
    steps = tuple(_info(s) for s in program.steps)
    tables = {
        "modelled": sorted(fields),
        "unread": [],
        "last_stage": "args",
    }
    table = FlagTable("0.0.1", list(flags), fields, {})
    pack = Pack("0.0.1", table, steps, compile_program(program), tables)
    pack.__dict__["program"] = program
    pack.__dict__["catalog"] = catalog or StubCatalog()
    pack._units = compile_units(program)  # else those of another pack of this name are read
    return pack


def _info(step: Step) -> StepInfo:
    kind = type(step).__name__.lower()
    name = step.raises if isinstance(step, Refuse) else getattr(step, "name", "")
    return StepInfo(kind, name)


def prepared_of(
    program: Program,
    facts: Mapping[str, Any] | None = None,
    flags: tuple[Flag, ...] = FLAGS,
    catalog: Any = None,
) -> Prepared:
    """A pack in a context."""
    known = {"environ": {}, **(facts or {})}
    return Prepared(pack_of(program, flags, catalog), Context("0.0.1", "g", 8, "m", "-", known))


def config_of(flags: FlagTable, typed: Mapping[str, Any]) -> Config:
    """The configuration of a command line that gives these values."""
    values = {d: default_of(flags, d) for d in flags.fields}
    return Config({**values, **typed}, {d: _spelled(flags, d, v) for d, v in typed.items()})


def _spelled(flags: FlagTable, dest: str, value: Any) -> str:
    flag = flags.flag(dest)
    return "--no-" + dest if flag.action == "boolean" and value is False else flag.name


def _atom(source: random.Random, versions: Mapping[str, int]) -> Operand:
    dest = source.choice(list(VALUES))
    view = source.choice(["", "", "", "raw.", "given."])
    version = versions.get(view + dest, 0)
    ref = raw("ref", view + dest, source.choice([0, version]) if version else 0)
    kind = source.random()
    if kind < 0.12:
        return node("gt", raw("ref", "depth", 0), source.choice((0, 1, 2)))
    if kind < 0.2:
        return node("is", ref, None)
    if kind < 0.3:
        return node("in", ref, tuple(source.sample(VALUES[dest], 2)))
    if kind < 0.36:
        other = source.choice(list(VALUES))
        return node("eq", ref, raw("ref", other, versions.get(other, 0)))
    if kind < 0.42:
        return node("eq", raw("fact", source.choice(("gpu.new", "gpu.old"))), True)
    return node("eq", ref, source.choice(VALUES[dest]))


def _guard(source: random.Random, versions: Mapping[str, int], depth: int = 2) -> Operand:
    if depth == 0 or source.random() < 0.25:
        return _atom(source, versions)
    op = source.choice(("and", "and", "or", "not", "if"))
    parts = [_guard(source, versions, depth - 1) for _ in range(3 if op == "if" else 2)]
    return node(op, parts[0]) if op == "not" else node(op, *parts)


def random_program(source: random.Random, refusals: int = 4) -> Program:
    """A program of named results, writes, needs and refusals over :data:`FLAGS`."""
    versions: dict[str, int] = {}
    steps: list[Step] = []
    for number in range(source.randint(0, 3)):
        dest = source.choice(list(VALUES))
        kind = source.random()
        if kind < 0.3:
            name = f"named_{number}"
            steps.append(Let(name, _guard(source, versions), True, PLACE))
            versions[name] = 1
            when = node("and", raw("ref", name, 1), _atom(source, versions))
            steps.append(Refuse("ValueError", when, PLACE))
        elif kind < 0.4:
            ratio = node("floordiv", 4, node("sub", raw("ref", "depth", 0), 2))
            steps.append(Need(ratio, _guard(source, versions, 1), PLACE))
        else:
            name = source.choice(("", "raw.")) + dest
            value = source.choice(VALUES[dest])
            steps.append(Set(name, value, _guard(source, versions), PLACE, "declare"))
            versions[name] = versions.get(name, 0) + 1
    for _ in range(source.randint(1, refusals)):
        steps.append(Refuse("ValueError", _guard(source, versions), PLACE))
    return Program("0.0.1", tuple(steps))


def reads_of(program: Program) -> dict[int, tuple[str, ...]]:
    """By step, the flags that its condition reads, whatever they were made of before."""
    return {
        number: tuple(sorted({bare(t.args[0]) for t in walk(step.when) if t.op == "ref"}))
        for number, step in enumerate(program.steps)
    }


@dataclass(frozen=True)
class Case:
    """A small pack in a context and a configuration."""

    prepared: Prepared
    config: Config
    seed: int

    def __repr__(self) -> str:
        return f"Case(seed={self.seed}, {dict(self.config.given)}, {dict(self.config.values)})"


def random_case(seed: int, reports: bool = True) -> Case:
    """The case of a seed."""
    source = random.Random(seed)
    program = random_program(source)
    held = []
    if reports and source.random() < 0.5:
        for number in range(source.randint(1, 2)):
            wanted = {d: source.choice(VALUES[d]) for d in source.sample(list(VALUES), 2)}
            held.append(StubReport(f"KV9{number:03}", wanted))
    facts = {"gpu.new": source.random() < 0.5}
    if source.random() < 0.8:
        facts["gpu.old"] = source.random() < 0.5
    prepared = prepared_of(program, facts, catalog=StubCatalog(held, reads_of(program)))
    typed = {}
    for dest, values in VALUES.items():
        if source.random() < 0.6:
            choices = [v for v in values if v is not None]
            value = True if dest in ("alpha", "fixed") else source.choice(choices)
            typed[dest] = value
    return Case(prepared, config_of(prepared.pack.flags, typed), seed)


def cases(reports: bool = True) -> st.SearchStrategy[Case]:
    """Small packs with a configuration."""
    return st.integers(0, 2**40).map(lambda seed: random_case(seed, reports))


def domains(case: Case, held: frozenset[str] = frozenset()) -> dict[str, Domain]:
    """The domains of all flags that are not held."""
    literals = network_of(case.prepared).literals
    flags = case.prepared.pack.flags
    return {
        dest: domain_of(dest, case.config, flags, literals)
        for dest in flags.fields
        if dest not in held
    }


Assignment = dict[str, int]


def assignments(found: Mapping[str, Domain]) -> Iterator[Assignment]:
    """The whole product of domains."""
    for combination in product(*(range(len(d.states)) for d in found.values())):
        yield dict(zip(found, combination, strict=True))


def config_at(case: Case, found: Mapping[str, Domain], at: Assignment) -> Config:
    """The configuration of an assignment."""
    values, given = dict(case.config.values), dict(case.config.given)
    for dest, number in at.items():
        state = found[dest].states[number]
        values[dest] = state.value
        given.pop(dest, None)
        if state.typed:
            given[dest] = _spelled(case.prepared.pack.flags, dest, state.value)
    return Config(values, given)


def stops(prepared: Prepared, step: int, config: Config) -> bool:
    """Whether an entry by itself would refuse a configuration, or crash."""
    constraint = network_of(prepared).constraints.get(step)
    if constraint is None:
        return False
    slots = {}
    for dest, value in config.values.items():
        slots[dest, 0] = slots[f"raw.{dest}", 0] = value
        slots[f"given.{dest}", 0] = value if dest in config.given else None
    try:
        return bool(Interpreter(slots, prepared.facts).value(constraint.broken))
    except (Crash, NotReached):
        return True
    except Unknown:
        return False


def is_valid(prepared: Prepared, config: Config) -> bool:
    """Whether nothing refuses a configuration."""
    return not prepared.broken(config)


def valid_assignments(
    case: Case, found: Mapping[str, Domain], also: Callable[[Config], bool] = lambda _: True
) -> list[Assignment]:
    """The filtered product."""
    out = []
    for at in assignments(found):
        config = config_at(case, found, at)
        if is_valid(case.prepared, config) and also(config):
            out.append(at)
    return out
