"""Laws of command parsing, held on random commands of every release."""

from __future__ import annotations

import argparse
import shlex
from contextlib import suppress
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.errors import KvsolveError
from kvsolve.inputs.argv import ParsedCommand, parse_argv
from kvsolve.inputs.command import split_text
from kvsolve.inputs.options import CrashError, RetiredError, _arguments, _Parser
from kvsolve.inputs.shell import shell_commands
from kvsolve.model.flag import Flag, FlagTable
from tests.conformance.oracle.home import RELEASES
from tests.conformance.random_argv import random_line
from tests.unit.inputs.test_flags_tables import table

SAMPLES = settings(max_examples=120, deadline=None)
LINES = st.tuples(st.sampled_from(RELEASES), st.randoms(use_true_random=False))


@cache
def full_parser(release: str) -> argparse.ArgumentParser:
    """The standard library's parser with every option of the release, abbreviations allowed."""
    parser = _Parser(prog="", add_help=False, exit_on_error=False)
    for flag in table(release):
        made = {**_arguments(flag, flag.choices), "required": flag.required}
        parser.add_argument(*_declared(flag), **made)
    return parser


def _declared(flag: Flag) -> tuple[str, ...]:
    if flag.action != "boolean":
        return flag.spellings
    return tuple(s for s in flag.spellings if not s.startswith("--no-"))


def plain_values(flag: Flag) -> st.SearchStrategy[str]:
    """Values on which all Pythons agree what they are: nothing starts with a dash."""
    words = st.sampled_from(["x", "7", "0.5", "1k", "{}", "[1]", "None", "a b", "a=b", "true"])
    if not flag.choices:
        return words
    return st.sampled_from([str(c) for c in flag.choices]) | words


@st.composite
def plain_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A release and a command that every Python's argparse sorts the same way."""
    release = draw(st.sampled_from(RELEASES))
    tokens = ["--model-path", "m"]
    for flag in draw(st.lists(st.sampled_from(table(release).flags), max_size=6)):
        spelling = draw(st.sampled_from(flag.spellings))
        spelling = spelling[: draw(st.integers(len(spelling) - 3, len(spelling)))]
        values = [] if flag.nargs == 0 else [draw(plain_values(flag))]
        if values and draw(st.booleans()):
            tokens.append(f"{spelling}={values[0]}")
        else:
            tokens += [spelling, *values]
    return release, tokens


def stdlib_answer(release: str, tokens: list[str]) -> dict[str, Any] | None:
    """What the full parser says: the values it sets, or None for a refusal."""
    try:
        values, extra = full_parser(release).parse_known_args(tokens)
    except (argparse.ArgumentError, RetiredError, CrashError):
        return None
    return None if extra else vars(values)


@SAMPLES
@given(plain_lines())
def test_only_selected_options_are_needed(case: tuple[str, list[str]]) -> None:
    release, tokens = case
    parsed = parse_argv(tokens, table(release))
    refusals = [p for p in parsed.problems if p.kind != "bad-level"]
    wanted = stdlib_answer(release, tokens)
    assert (wanted is None) == bool(refusals)
    if wanted is not None:
        found = {name: parsed.values[name] for name in wanted}
        assert repr(found) == repr(wanted)
        assert {n for n, g in parsed.given.items() if g.flag.action != "ignore"} == set(wanted)


def answer(parsed: ParsedCommand) -> tuple[str, list[str]]:
    return repr(sorted(parsed.values.items())), [f"{p.kind} {p.name}" for p in parsed.problems]


@SAMPLES
@given(LINES)
def test_what_is_left_after_the_problems_parses_to_the_same_values(case: Any) -> None:
    release, chance = case
    flags = table(release)
    parsed = parse_argv(random_line(chance, flags), flags)
    kept = [
        t for given in sorted(parsed.given.values(), key=lambda g: g.place) for t in given.tokens
    ]
    again = parse_argv(kept, flags)
    noticed = flags.launcher["noticed"]
    assert {p.kind for p in again.problems} <= {"missing-flag", "bad-level"}
    assert {k: repr(v) for k, v in again.values.items() if k not in noticed} == {
        k: repr(v) for k, v in parsed.values.items() if k not in noticed
    }


@SAMPLES
@given(LINES)
def test_problems_stand_in_upstreams_order_and_point_at_tokens(case: Any) -> None:
    release, chance = case
    tokens = random_line(chance, table(release))
    parsed = parse_argv(tokens, table(release))
    assert list(parsed.problems) == sorted(parsed.problems, key=lambda p: p.order)
    for problem in parsed.problems:
        if problem.index < 0:
            assert problem.kind == "missing-flag"
        else:
            assert tokens[problem.index].startswith(problem.spelling)
    for given_flag in parsed.given.values():
        end = given_flag.place + len(given_flag.tokens)
        assert tuple(tokens[given_flag.place : end]) == given_flag.tokens


@SAMPLES
@given(LINES)
def test_parsing_is_the_same_from_a_compiled_table_and_again(case: Any) -> None:
    release, chance = case
    flags = table(release)
    tokens = random_line(chance, flags)
    fresh = FlagTable.from_plain(flags.to_plain())
    first = answer(parse_argv(tokens, flags))
    assert first == answer(parse_argv(tokens, fresh)) == answer(parse_argv(tuple(tokens), flags))


@SAMPLES
@given(st.lists(st.text(min_size=0, max_size=8), min_size=1, max_size=6))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    words = [w.replace("\0", "") for w in words]
    (found,) = shell_commands(shlex.join(words))
    assert [w.text for w in found] == words


@SAMPLES
@given(st.text(max_size=40))
def test_any_text_gives_words_or_one_sentence(text: str) -> None:
    with suppress(KvsolveError):
        assert split_text(text).entry in ("serve", "module", "options")
