"""Parse the options of a launch command exactly as the release's own parser would."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.inputs.options import (
    CrashError,
    OptionReader,
    RefusedError,
    RetiredError,
    option_reader,
)
from kvsolve.inputs.problems import ParseProblem
from kvsolve.inputs.tokens import HELP, Occurrence, scan
from kvsolve.inputs.value_types import converter
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kvsolve.model.flag import Flag, FlagTable, Value

__all__ = ["Given", "ParsedCommand", "parse_argv"]

TRUE_WORDS = frozenset({"true", "1", "yes", "y"})
"""What upstream reads as true in an environment variable, in lower case."""

_NAME = re.compile(r"-{1,2}[A-Za-z][\w-]*", re.ASCII)
_LEVELS = ("INFO", "WARNING", "ERROR", "DEBUG", "CRITICAL", "FATAL", "WARN", "NOTSET")


class Given(NamedTuple):
    """The option that set a value.

    Attributes:
        spelling: As typed, perhaps abbreviated.
        place: Position of its token.
        tokens: Its tokens as typed, values included.
        flag: The flag that it selects.
    """

    spelling: str
    place: int
    tokens: tuple[str, ...]
    flag: Flag


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command's options.

    Attributes:
        values: dest -> value, for every flag of the release.
        given: dest -> the option that decided it, for what the command names without a problem.
        problems: Everything for which the release's parser would stop, in its order. An option
            with a problem is left out of ``values`` and ``given``.
        occurrences: The options without a problem of shape, in order, repeated ones included.
        open: The options of which a token is not known; they are in none of the others.
        strays: Positions of unknown tokens that belong to no option.
    """

    values: Mapping[str, Value]
    given: Mapping[str, Given]
    problems: tuple[ParseProblem, ...]
    occurrences: tuple[Occurrence, ...]
    open: tuple[Occurrence, ...] = ()
    strays: tuple[int, ...] = ()

    @property
    def first_problem(self) -> ParseProblem | None:
        """Where the release's parser would stop, or None."""
        return self.problems[0] if self.problems else None


def parse_argv(
    tokens: Sequence[str],
    table: FlagTable,
    env: Mapping[str, str] | None = None,
    unknown: Collection[int] = (),
) -> ParsedCommand:
    """Judge the tokens after the program's name.

    Args:
        tokens: For example ``["--model-path", "m", "--tp", "8"]``.
        table: The options of the release.
        env: Environment of the launch; a few choices depend on it.
        unknown: Positions of tokens of which the value is not known; nothing is said of them.

    Returns:
        The values, where they come from and every problem. Values must not be changed in place.
    """
    reader = option_reader(table, _true_variables(table, env))
    shape = scan(tokens, table)
    sound = shape.occurrences
    opened: tuple[Occurrence, ...] = ()
    strays: tuple[int, ...] = ()
    problems = list(shape.problems)
    if unknown:
        sound, opened = _settled(sound, frozenset(unknown))
        problems, strays = _settled_problems(problems, frozenset(unknown))
    if any(o.flag is HELP for o in sound):
        problems += (_asks_for_help(o) for o in sound if o.flag is HELP)
        sound = tuple(o for o in sound if o.flag is not HELP)
    bad: tuple[Occurrence, ...] = ()
    try:
        found = reader.read(sound)
    except (RefusedError, RetiredError, CrashError):
        found, bad = _one_by_one(sound, reader, problems)
    good = [o for o in sound if o not in bad] if bad else sound
    given = {
        o.flag.dest: Given(o.typed, o.place, tuple(tokens[o.place : o.end]), o.flag) for o in good
    }
    values = {**table.defaults, **found}
    for field, option in table.launcher["noticed"].items():
        values[field] = any(t == option or t.startswith(option + "=") for t in tokens)
    problems += _missing(table, (*sound, *opened), problems)
    problems += _bad_level(table, values, given)
    if problems:
        problems = [_with_advice(p, table) for p in sorted(problems, key=lambda p: p.order)]
    return ParsedCommand(values, given, tuple(problems), sound, opened, strays)


def _settled(
    occurrences: tuple[Occurrence, ...], unknown: frozenset[int]
) -> tuple[tuple[Occurrence, ...], tuple[Occurrence, ...]]:
    """The options that are known, and those that are not and that no later one overrides."""
    last = {o.flag.dest: o for o in occurrences}
    opened = tuple(o for o in last.values() if not unknown.isdisjoint(range(o.place, o.end)))
    dests = {o.flag.dest for o in opened}
    known = (o for o in occurrences if o.flag.dest not in dests)
    return tuple(o for o in known if unknown.isdisjoint(range(o.place, o.end))), opened


def _settled_problems(
    problems: list[ParseProblem], unknown: frozenset[int]
) -> tuple[list[ParseProblem], tuple[int, ...]]:
    """The problems that do not come from an unknown token, and such tokens that stand alone."""
    kept: list[ParseProblem] = []
    strays: list[int] = []
    for problem in problems:
        places = range(problem.index, problem.index + max(len(problem.values), 1))
        found = [place for place in places if place in unknown]
        if problem.kind == "stray":
            strays += found
            rest = [v for p, v in zip(places, problem.values, strict=False) if p not in unknown]
            if found and rest:
                problem = replace(problem, values=tuple(rest))
            elif found:
                continue
        elif found and not _is_named(problem):
            strays += found
            continue
        kept.append(problem)
    return kept, tuple(strays)


def _is_named(problem: ParseProblem) -> bool:
    """Whether the parser refuses an option by its name alone, which has no part that is unknown."""
    by_name = problem.kind in ("unknown", "ambiguous")
    return by_name and _NAME.fullmatch(problem.spelling) is not None


def _true_variables(table: FlagTable, env: Mapping[str, str] | None) -> frozenset[str]:
    if not env:
        return frozenset()
    named = table.choice_variables
    return frozenset(n for n in named if env.get(n, "").lower() in TRUE_WORDS)


def _one_by_one(
    occurrences: tuple[Occurrence, ...], reader: OptionReader, problems: list[ParseProblem]
) -> tuple[dict[str, Value], tuple[Occurrence, ...]]:
    """Read each option by itself, so that every one that is refused gets told."""
    found: dict[str, Value] = {}
    bad = []
    for occurrence in occurrences:
        try:
            found.update(reader.read((occurrence,)))
        except (RefusedError, RetiredError, CrashError) as error:
            problems.append(_problem(occurrence, error, reader))
            bad.append(occurrence)
    return found, tuple(bad)


def _problem(occurrence: Occurrence, error: Exception, reader: OptionReader) -> ParseProblem:
    flag = occurrence.flag
    base = ParseProblem(
        "bad-value", occurrence.typed, occurrence.place, name=flag.name, values=occurrence.values
    )
    if isinstance(error, RetiredError):
        pointer = (flag.new_flag,) if flag.new_flag else ()
        return replace(base, kind="retired", suggestions=pointer)
    if isinstance(error, CrashError):
        return replace(base, detail=str(error), crash=True)
    convert = converter(flag.type, flag.type_facts) or str
    choices = reader.choices(flag)
    for value in occurrence.values:
        try:
            made = convert(value)
        except (ValueError, TypeError) as reason:
            return replace(base, detail=_reason(flag, reason), values=(value,))
        if choices is not None and made not in choices:
            allowed = tuple(str(c) for c in choices)
            return replace(base, kind="bad-choice", values=(value,), suggestions=allowed)
    raise AssertionError(f"argparse refused {occurrence} for {error}, which is not understood")


def _reason(flag: Flag, reason: Exception) -> str:
    plain = {"int": "not an integer", "float": "not a number", "human_int": "not an integer"}
    return plain.get(flag.type, str(reason))


def _asks_for_help(occurrence: Occurrence) -> ParseProblem:
    return ParseProblem("help", occurrence.typed, occurrence.place, name="--help")


def _missing(
    table: FlagTable, occurrences: tuple[Occurrence, ...], problems: list[ParseProblem]
) -> Iterator[ParseProblem]:
    """Required flags that the command does not even try to give."""
    tried = {o.flag.name for o in occurrences} | {p.name for p in problems}
    for name in table.required:
        if name not in tried:
            yield ParseProblem("missing-flag", name, -1, name=name)


def _bad_level(
    table: FlagTable, values: Mapping[str, Value], given: Mapping[str, Given]
) -> Iterator[ParseProblem]:
    """A logging level that Python does not know; upstream looks it up without a guard."""
    dest = table.launcher.get("log_level", "")
    source = given.get(dest)
    if source is not None and str(values[dest]).upper() not in _LEVELS:
        yield ParseProblem(
            "bad-level",
            source.spelling,
            source.place,
            suggestions=_LEVELS[:4],
            name=source.flag.name,
            values=(str(values[dest]),),
            crash=True,
        )


def _with_advice(problem: ParseProblem, table: FlagTable) -> ParseProblem:
    """Put the likeliest remedy first; costs time only where something is wrong."""
    from kvsolve.inputs.spelling import nearest

    if problem.kind == "unknown":
        return replace(problem, suggestions=nearest(problem.spelling, tuple(table.spellings)))
    if problem.kind == "bad-choice":
        ranked = nearest(problem.values[0], problem.suggestions)
        rest = tuple(s for s in problem.suggestions if s not in ranked)
        return replace(problem, suggestions=ranked + rest)
    return problem
