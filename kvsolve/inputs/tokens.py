"""Split the tokens of a command into options and their values.

The rules are those of ``argparse`` in Python 3.10 to 3.12, on which SGLang runs: later Pythons
treat abbreviations, ``--`` and numbers such as ``-1e5`` differently. So what a token *is* gets
decided here, once for every Python, and only whole options reach the standard library's parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvsolve.inputs.problems import ParseProblem
from kvsolve.model.flag import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.model.flag import FlagTable

__all__ = ["HELP", "Occurrence", "Scan", "scan"]

HELP = Flag(dest="help", spellings=("-h", "--help"), action="help", nargs=0)
_NEGATIVE_NUMBER = re.compile(r"^-\d+$|^-\d*\.\d+$")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One option of a command with the tokens that belong to it.

    Attributes:
        flag: What it selects.
        typed: The option as typed, an abbreviation perhaps, without ``=VALUE``.
        spelling: The option string that it stands for.
        index: Position of its token.
        values: What follows it, or what stands after ``=``.
        attached: The value was given with ``=``.
    """

    flag: Flag
    typed: str
    spelling: str
    index: int
    values: tuple[str, ...]
    attached: bool

    @property
    def end(self) -> int:
        """Position after its last token."""
        return self.index + 1 + (0 if self.attached else len(self.values))


@dataclass(frozen=True, slots=True)
class Scan:
    """What the tokens are: options that can be judged, and problems told from shape alone."""

    occurrences: tuple[Occurrence, ...]
    problems: tuple[ParseProblem, ...]


@dataclass(frozen=True, slots=True)
class _Head:
    """A token that starts an option; ``flag`` is None when it is unknown or ambiguous."""

    index: int
    flag: Flag | None
    typed: str
    spelling: str
    attached: str | None
    rivals: tuple[str, ...] = ()


def scan(tokens: Sequence[str], table: FlagTable) -> Scan:
    """Find the options in the tokens after the program's name."""
    heads = list(_heads(tokens, table))
    stop = tokens.index("--") if "--" in tokens else len(tokens)
    occurrences: list[Occurrence] = []
    problems: list[ParseProblem] = []
    first = heads[0].index if heads else stop
    problems += _stray(tokens, 0, first, None)
    for at, head in enumerate(heads):
        end = heads[at + 1].index if at + 1 < len(heads) else stop
        values = tuple(tokens[head.index + 1 : end])
        if head.flag is None:
            problems.append(_unselected(head, values))
            continue
        taken = _taken(head, len(values))
        if isinstance(taken, str):
            problems.append(ParseProblem(taken, head.typed, head.index, name=head.flag.name))
            taken = 0
        else:
            kept = (head.attached,) if head.attached is not None else values[:taken]
            occurrences.append(
                Occurrence(
                    head.flag, head.typed, head.spelling, head.index, kept,
                    head.attached is not None,
                )  # fmt: skip
            )
        problems += _stray(tokens, head.index + 1 + taken, end, head.flag.name)
    problems += _stray(tokens, stop, len(tokens), None)
    return Scan(tuple(occurrences), tuple(problems))


def _heads(tokens: Sequence[str], table: FlagTable) -> Iterator[_Head]:
    for index, token in enumerate(tokens):
        if token == "--":
            return
        if token[:1] == "-" and len(token) > 1:
            head = _head(index, token, table)
            if head is not None:
                yield head


def _head(index: int, token: str, table: FlagTable) -> _Head | None:
    """What an option-like token selects, or None when it is a value after all."""
    if token in table:
        return _Head(index, table.by_spelling(token), token, token, None)
    if token in HELP.spellings:
        return _Head(index, HELP, token, token, None)
    typed, equals, rest = token.partition("=")
    attached = rest if equals else None
    if equals and typed in table:
        return _Head(index, table.by_spelling(typed), typed, typed, attached)
    if equals and typed in HELP.spellings:
        return _Head(index, HELP, typed, typed, attached)
    if token[1] != "-":
        if token[1] == "h":
            return _short_help(index, token)
        meant: tuple[str, ...] = ()
    else:
        meant = _beginning_with(typed, table)
    if len(meant) == 1:
        flag = HELP if meant[0] == "--help" else table.by_spelling(meant[0])
        return _Head(index, flag, typed, meant[0], attached)
    if meant:
        return _Head(index, None, typed, typed, attached, meant)
    if _NEGATIVE_NUMBER.match(token) or " " in token:
        return None
    return _Head(index, None, typed, typed, attached)


def _short_help(index: int, token: str) -> _Head:
    """``-hX``: letters glued to ``-h`` are further short options, of which there is only ``-h``."""
    rest = token[2:].lstrip("h")
    return _Head(index, HELP, token, "-h", rest or None)


def _beginning_with(prefix: str, table: FlagTable) -> tuple[str, ...]:
    found = table.beginning_with(prefix)
    return (*found, "--help") if "--help".startswith(prefix) else found


def _unselected(head: _Head, values: tuple[str, ...]) -> ParseProblem:
    """The problem of an option that selects nothing; it takes its values along."""
    if head.rivals:
        return ParseProblem(
            "ambiguous", head.typed, head.index, suggestions=head.rivals, values=values
        )
    attached = () if head.attached is None else (head.attached,)
    return ParseProblem("unknown", head.typed, head.index, values=attached + values)


def _taken(head: _Head, available: int) -> int | str:
    """How many of the following tokens an option takes, or the kind of problem."""
    assert head.flag is not None
    nargs = head.flag.nargs
    if head.attached is not None:
        return "unwanted-value" if nargs == 0 else 0
    if nargs in ("*", "+"):
        return available if available or nargs == "*" else "missing-value"
    if nargs == "?":
        return min(available, 1)
    wanted = 1 if nargs is None else int(nargs)
    return wanted if available >= wanted else "missing-value"


def _stray(
    tokens: Sequence[str], start: int, end: int, after: str | None
) -> Iterator[ParseProblem]:
    """Tokens that belong to no option, as one problem."""
    if start < end:
        yield ParseProblem(
            "stray", tokens[start], start, name=after or "", values=tuple(tokens[start:end])
        )
