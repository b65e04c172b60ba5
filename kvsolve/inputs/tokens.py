"""Split the tokens of a command into options and their values.

The rules are those of ``argparse`` in Python 3.10 to 3.12, on which SGLang runs: later Pythons
treat abbreviations, ``--`` and numbers such as ``-1e5`` differently. So what a token *is* gets
decided here, once for every Python, and only whole options reach the standard library's parser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.inputs.problems import ParseProblem
from kvsolve.model.flag import Flag
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.model.flag import FlagTable

__all__ = ["HELP", "Occurrence", "Scan", "scan"]

HELP = Flag(dest="help", spellings=("-h", "--help"), action="help", nargs=0)
_NEGATIVE_NUMBER = re.compile(r"^-\d+$|^-\d*\.\d+$")


class Occurrence(NamedTuple):
    """One option of a command with the tokens that belong to it.

    Attributes:
        flag: What it selects.
        typed: The option as typed, an abbreviation perhaps, without ``=VALUE``.
        spelling: The option string that it stands for.
        place: Position of its token.
        values: What follows it, or what stands after ``=``.
        attached: The value was given with ``=``.
    """

    flag: Flag
    typed: str
    spelling: str
    place: int
    values: tuple[str, ...]
    attached: bool

    @property
    def end(self) -> int:
        """Position after its last token."""
        return self.place + 1 + (0 if self.attached else len(self.values))


@dataclass(frozen=True, slots=True)
class Scan:
    """What the tokens are: options that can be judged, and problems told from shape alone."""

    occurrences: tuple[Occurrence, ...]
    problems: tuple[ParseProblem, ...]


class _Head(NamedTuple):
    """A token that starts an option; ``flag`` is None when it is unknown or ambiguous."""

    place: int
    flag: Flag | None
    typed: str
    spelling: str
    attached: str | None
    rivals: tuple[str, ...] = ()


def scan(tokens: Sequence[str], table: FlagTable) -> Scan:
    """Find the options in the tokens after the program's name."""
    stop = tokens.index("--") if "--" in tokens else len(tokens)
    heads = list(_heads(tokens, stop, table))
    occurrences: list[Occurrence] = []
    problems: list[ParseProblem] = []
    _stray(tokens, 0, heads[0].place if heads else stop, "", problems)
    for head, end in zip(heads, [*(h.place for h in heads[1:]), stop], strict=False):
        place, flag, typed, spelling, attached, _ = head
        values = tuple(tokens[place + 1 : end])
        if flag is None:
            problems.append(_unselected(head, values))
            continue
        taken = _taken(flag.nargs, len(values), attached is not None)
        if isinstance(taken, str):
            problems.append(ParseProblem(taken, typed, place, name=flag.name))
            taken = 0
        else:
            kept = values[:taken] if attached is None else (attached,)
            occurrences.append(Occurrence(flag, typed, spelling, place, kept, attached is not None))
        _stray(tokens, place + 1 + taken, end, flag.name, problems)
    _stray(tokens, stop, len(tokens), "", problems)
    return Scan(tuple(occurrences), tuple(problems))


def _heads(tokens: Sequence[str], stop: int, table: FlagTable) -> Iterator[_Head]:
    for place in range(stop):
        token = tokens[place]
        if token[:1] != "-" or len(token) == 1:
            continue
        flag = table.find(token)
        if flag is not None:
            yield _Head(place, flag, token, token, None)
            continue
        head = _inexact(place, token, table)
        if head is not None:
            yield head


def _inexact(place: int, token: str, table: FlagTable) -> _Head | None:
    """What a token with a dash selects that is no option string, None when it is a value."""
    if token in HELP.spellings:
        return _Head(place, HELP, token, token, None)
    typed, equals, rest = token.partition("=")
    attached = rest if equals else None
    exact = HELP if typed in HELP.spellings else table.find(typed)
    if equals and exact is not None:
        return _Head(place, exact, typed, typed, attached)
    if token[:2] == "-h":
        return _short_help(place, token)
    meant = _beginning_with(typed, table) if token[1] == "-" else ()
    if len(meant) == 1:
        flag = HELP if meant[0] == "--help" else table.by_spelling(meant[0])
        return _Head(place, flag, typed, meant[0], attached)
    if not meant and (_NEGATIVE_NUMBER.match(token) or " " in token):
        return None
    return _Head(place, None, typed, typed, attached, meant)


def _short_help(place: int, token: str) -> _Head:
    """``-hX``: letters glued to ``-h`` are further short options, of which there is only ``-h``."""
    rest = token[2:].lstrip("h")
    return _Head(place, HELP, token, "-h", rest or None)


def _beginning_with(prefix: str, table: FlagTable) -> tuple[str, ...]:
    found = table.beginning_with(prefix)
    return (*found, "--help") if "--help".startswith(prefix) else found


def _unselected(head: _Head, values: tuple[str, ...]) -> ParseProblem:
    """The problem of an option that selects nothing; it takes its values along."""
    attached = () if head.attached is None else (head.attached,)
    kind = "ambiguous" if head.rivals else "unknown"
    return ParseProblem(
        kind, head.typed, head.place, suggestions=head.rivals, values=attached + values
    )


def _taken(nargs: str | int | None, available: int, attached: bool) -> int | str:
    """How many of the following tokens an option takes, or the kind of problem."""
    if attached:
        return "unwanted-value" if nargs == 0 else 0
    if nargs is None:
        return 1 if available else "missing-value"
    if isinstance(nargs, int):
        return nargs if available >= nargs else "missing-value"
    if nargs == "?":
        return min(available, 1)
    return available if available or nargs == "*" else "missing-value"


def _stray(
    tokens: Sequence[str], start: int, end: int, after: str, problems: list[ParseProblem]
) -> None:
    """Report tokens that belong to no option, as one problem."""
    if start < end:
        values = tuple(tokens[start:end])
        problems.append(ParseProblem("stray", values[0], start, name=after, values=values))
