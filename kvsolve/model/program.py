"""The program of a release: what its argument resolution does, step by step.

A program is run from top to bottom over *slots*. At the start slot ``flag`` and slot ``raw.flag``
hold the value that the command line gives (or the declared default), and ``given.flag`` what the
user typed or None. Each step happens only where its ``when`` holds:

* :class:`Let` names an intermediate result;
* :class:`Set` writes a slot: version ``n + 1`` of the slot is ``value`` where ``when`` holds and
  version ``n`` elsewhere;
* :class:`Refuse` is a refusal: upstream raises;
* :class:`Need` has no effect but that its expression must be computable: where it is not
  (arithmetic on an unset flag, say), upstream crashes at that place without meaning to.

A ``when``, value or need that crashes in evaluation is upstream's crash at that step.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.model.syntax import parse, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.model.expression import Operand

__all__ = [
    "Gap",
    "Let",
    "Need",
    "Place",
    "Program",
    "ProgramError",
    "Refuse",
    "Set",
    "Step",
    "load_program",
]

FORMAT = 1


class ProgramError(KvsolveError):
    """A program file is not one, or breaks its own rules."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where upstream does it.

    Attributes:
        file: Path below ``sglang/srt``.
        symbol: Qualified name of the innermost function, ``Class.method`` for methods.
        line: Line of the statement in that release.
        caller: Symbol of the handler that the pipeline called, for grouping; may equal ``symbol``.
    """

    file: str
    symbol: str
    line: int
    caller: str = ""


@dataclass(frozen=True, slots=True)
class Let:
    """A named intermediate result."""

    name: str
    value: Operand
    when: Operand = True
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """A write of a slot.

    Attributes:
        name: ``flag`` (the resolved view) or ``raw.flag`` (the field itself).
        value: The value written.
        when: The condition of the path.
        place: Where.
        mode: ``assign`` (the field is written), ``declare`` (upstream's stash overlays the field)
            or ``default`` (a declared fallback of an unset field, no statement of a handler).
        key: Fingerprint that is stable from release to release.
    """

    name: str
    value: Operand
    when: Operand
    place: Place
    mode: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """A refusal.

    Attributes:
        raises: Name of the exception.
        when: Full condition of the path.
        place: Where.
        key: Fingerprint that is stable from release to release.
        words: Hashes of short word runs of the literal parts of upstream's message.
        stage: Where upstream notices: ``args`` unless read elsewhere.
    """

    raises: str
    when: Operand
    place: Place
    key: str = ""
    words: tuple[str, ...] = ()
    stage: str = "args"


@dataclass(frozen=True, slots=True)
class Need:
    """An expression that upstream evaluates and that may crash."""

    value: Operand
    when: Operand
    place: Place


Step: TypeAlias = "Let | Set | Refuse | Need"


@dataclass(frozen=True, slots=True)
class Gap:
    """A statement that the reader did not follow.

    Attributes:
        place: Where.
        reason: Why, in a few words.
        refusals: How many raise and assert statements lie inside.
        reads: Fields of the server arguments that it reads.
    """

    place: Place
    reason: str
    refusals: int = 0
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The ordered steps of one release and what could not be read.

    Attributes:
        release: As in ``0.5.23``.
        steps: In upstream's order.
        gaps: Statements not followed.
        source: SHA-256 over the source files read, for the staleness check.
        statements: Raise and assert statements of argument resolution: total and reached.
    """

    release: str
    steps: tuple[Step, ...]
    gaps: tuple[Gap, ...] = ()
    source: str = ""
    statements: Mapping[str, int] = field(default_factory=dict)

    def dump(self) -> str:
        """The program file: one JSON object a line, header first; the same bytes every time."""
        return "\n".join(_dump_lines(self)) + "\n"


def _dump_lines(program: Program) -> Iterator[str]:
    places = sorted({s.place for s in program.steps if s.place} | {g.place for g in program.gaps})
    index = {place: number for number, place in enumerate(places)}
    head: dict[str, Any] = {
        "kvsolve_program": FORMAT,
        "release": program.release,
        "written_by": "kvsolve upstream extract",
        "source": program.source,
        "statements": dict(sorted(program.statements.items())),
        "places": [[p.file, p.symbol, p.line, p.caller] for p in places],
    }
    yield _line(head)
    versions: dict[str, int] = {}
    for step in program.steps:
        yield _line(_dump_step(step, index, versions))
        if isinstance(step, (Let, Set)):
            versions[step.name] = versions.get(step.name, 0) + 1
    for gap in program.gaps:
        yield _line(
            {
                "gap": gap.reason,
                "refusals": gap.refusals,
                "at": index[gap.place],
                "reads": " ".join(gap.reads),
            }
        )


def _dump_step(
    step: Step, index: Mapping[Place, int], versions: Mapping[str, int]
) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if isinstance(step, Let):
        out |= {"let": step.name, "to": render(step.value, versions)}
    elif isinstance(step, Set):
        out |= {"set": step.name, "to": render(step.value, versions)}
    elif isinstance(step, Refuse):
        out["refuse"] = step.raises
    else:
        out["need"] = render(step.value, versions)
    if step.when is not True:
        out["when"] = render(step.when, versions)
    if step.place is not None:
        out["at"] = index[step.place]
    if isinstance(step, (Set, Refuse)) and step.key:
        out["key"] = step.key
    if isinstance(step, Set) and step.mode != "declare":
        out["mode"] = step.mode
    if isinstance(step, Refuse) and step.words:
        out["words"] = " ".join(step.words)
    if isinstance(step, Refuse) and step.stage != "args":
        out["stage"] = step.stage
    return out


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def load_program(lines: Iterable[str], name: str = "program") -> Program:
    """Read a program file.

    Args:
        lines: Its lines.
        name: What to call it in an error.

    Raises:
        ProgramError: It is malformed; names the line.
    """
    rows = iter(lines)
    try:
        head = json.loads(next(rows))
        places = [Place(*p) for p in head["places"]]
        if head["kvsolve_program"] != FORMAT:
            raise KeyError("kvsolve_program")
    except (StopIteration, ValueError, KeyError, TypeError) as error:
        raise ProgramError(f"{name}, line 1: not a kvsolve program file ({error!r})") from None
    steps: list[Step] = []
    gaps: list[Gap] = []
    versions: dict[str, int] = {}
    for number, row in enumerate(rows, 2):
        try:
            item = json.loads(row)
            if "gap" in item:
                reads = tuple(item.get("reads", "").split())
                gaps.append(Gap(places[item["at"]], item["gap"], item.get("refusals", 0), reads))
                continue
            steps.append(step := _load_step(item, places, versions))
        except (ValueError, KeyError, TypeError, IndexError, KvsolveError) as error:
            raise ProgramError(f"{name}, line {number}: {error}") from None
        if isinstance(step, (Let, Set)):
            versions[step.name] = versions.get(step.name, 0) + 1
    return Program(
        head["release"],
        tuple(steps),
        tuple(gaps),
        head.get("source", ""),
        head.get("statements", {}),
    )


def _load_step(item: Mapping[str, Any], places: list[Place], versions: Mapping[str, int]) -> Step:
    when = parse(item["when"], versions) if "when" in item else True
    place = places[item["at"]] if "at" in item else None
    if "let" in item:
        return Let(item["let"], parse(item["to"], versions), when, place)
    if place is None:
        raise ProgramError("a step other than a named result needs its place (`at`)")
    if "set" in item:
        value = parse(item["to"], versions)
        mode = item.get("mode", "declare")
        return Set(item["set"], value, when, place, mode, item.get("key", ""))
    if "refuse" in item:
        words = tuple(item.get("words", "").split())
        key, stage = item.get("key", ""), item.get("stage", "args")
        return Refuse(item["refuse"], when, place, key, words, stage)
    if "need" in item:
        return Need(parse(item["need"], versions), when, place)
    raise ProgramError("a step is one of let, set, refuse, need, gap")
