"""Options that the release knows under another name, and values that are misspelt.

A command written for an older release names options that are gone. What took their place is known
(``renames.toml``), so a repair writes that in, instead of dropping what the user asked for.
"""

from __future__ import annotations

from dataclasses import field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from kvsolve.inputs.argv import parse_argv
from kvsolve.inputs.parse_findings import successor
from kvsolve.model.edit import Edit
from kvsolve.model.noun import dataclass
from kvsolve.solve.domains import default_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kvsolve.inputs.problems import ParseProblem
    from kvsolve.model.edit import Repair
    from kvsolve.model.flag import FlagTable
    from kvsolve.session import Question, Request
    from kvsolve.solve.repair import Repairs

__all__ = [
    "Translation",
    "best",
    "span_of",
    "told_once",
    "translated",
    "translations",
    "with_words",
    "written_out",
]

_MOST_TRIED = 3
"""Translations of which each is left out in turn; more are taken up or dropped together."""


@dataclass(frozen=True, slots=True)
class Translation:
    """What to write for an option that the release's parser refuses.

    Attributes:
        problem: The refusal.
        start: Position of the option among the question's tokens.
        stop: Position after its last value.
        tokens: What to write there.
        unknown: For each of these tokens that is not known, the position of the one it repeats.
    """

    problem: ParseProblem
    start: int
    stop: int
    tokens: tuple[str, ...]
    unknown: Mapping[int, int] = field(default_factory=dict)

    @property
    def edit(self) -> Edit:
        """The change of the command line; never dearer than leaving the option out."""
        before = " ".join(self.problem.values) or None
        flag, *values = self.tokens
        name = self.problem.spelling
        value = " ".join(values) or None
        return Edit("set", "", name, before, value, 2, becomes=flag)

    @property
    def dropped(self) -> Edit:
        """The change where the option is left out instead."""
        value = " ".join(self.problem.values) or None
        return Edit("remove", "", self.problem.spelling, value, None, 3 if value is None else 2)


def translations(question: Question) -> tuple[Translation, ...]:
    """What can be written for the options that the parser refuses, in the command's order.

    Only what the release's parser accepts there, and only for an option that nothing else in the
    command sets.
    """
    return tuple(_sound(question, _candidates(question)))


def translated(request: Request, question: Question, chosen: Collection[Translation]) -> Request:
    """The request with other tokens in the place of refused ones.

    Where one of them comes from the file of ``--config``, its options become the command's own.
    """
    if any(question.origin[item.start] < 0 for item in chosen):
        words, at, places = _written_out(question)
    else:
        words, at = list(request.command), question.origin
        places = list(range(len(words)))
    slots = [[(word, place)] for word, place in zip(words, places, strict=True)]
    for item in chosen:
        for place in range(item.start, item.stop):
            slots[at[place]] = []
        repeated = [item.unknown.get(n, -1) for n in range(len(item.tokens))]
        sources = [question.origin[place] if place >= 0 else -1 for place in repeated]
        slots[at[item.start]] = list(zip(item.tokens, sources, strict=True))
    return with_words(request, [pair for slot in slots for pair in slot])


def written_out(question: Question) -> Request:
    """The request with the options of its ``--config`` file, where it has one, as its own."""
    if all(place >= 0 for place in question.origin):
        return question.request
    words, _, places = _written_out(question)
    return with_words(question.request, list(zip(words, places, strict=True)))


def with_words(request: Request, told: Sequence[tuple[str, int]]) -> Request:
    """The request with other words, each with the position that it had, -1 for a new one."""
    return replace(
        request,
        command=[word for word, _ in told],
        unknown={n: request.unknown[p] for n, (_, p) in enumerate(told) if p in request.unknown},
        loose=frozenset(n for n, (_, p) in enumerate(told) if p in request.loose),
    )


def _written_out(question: Question) -> tuple[list[str], Sequence[int], list[int]]:
    """The command with the options of its ``--config`` file among its own.

    Returns:
        Its words, the position among them of each of the question's tokens, and the position of
        each word in the command as it was asked about, -1 for what comes from the file.
    """
    command, origin = question.request.command, question.origin
    own = [place for place in origin if place >= 0]
    front = min([*own, command.index("--config")])
    words = [*command[:front], *question.argv]
    return words, range(front, len(words)), [*range(front), *origin]


def told_once(
    repair: Repair, chosen: Iterable[Translation], flags: FlagTable
) -> tuple[Repair, tuple[Edit, ...]]:
    """A repair of a translated command, and the edits of its refused options.

    An option whose new name is changed again is dropped instead: nobody writes a value to replace
    it, and a file has no such option to edit.
    """
    later = {edit.dest: edit for edit in repair.edits}
    written: list[Edit] = []
    for item in chosen:
        edit = later.pop(flags.by_spelling(item.tokens[0]).dest, None)
        written.append(item.edit if edit is None else item.dropped)
        if edit is not None and edit.op != "remove":
            before = default_of(flags, edit.dest)
            later[edit.dest] = replace(edit, op="add", before=before, cost=edit.cost // 2)
    edits = tuple(later.values())
    cost = sum(edit.cost for edit in edits)
    bound = repair.bound - repair.cost + cost
    return replace(repair, cost=cost, edits=edits, bound=bound), tuple(written)


def span_of(question: Question, problem: ParseProblem) -> range:
    """Positions, among the question's tokens, of an option that is refused and of its values."""
    start = problem.index
    for option in question.parsed.occurrences:
        if option.place == start:
            return range(start, option.end)
    count = len(problem.values)
    if problem.kind != "stray":
        count += 1 - ("=" in question.argv[start] and bool(problem.values))
    return range(start, start + count)


def _candidates(question: Question) -> Iterator[Translation]:
    for problem in question.parsed.problems:
        if problem.index < 0:
            continue
        tokens = successor(problem, question.pack)
        span = span_of(question, problem)
        places = question.origin[span.start : span.stop]
        whole = list(places) == list(range(places[0], places[0] + len(span)))
        if problem.kind == "bad-choice" and len(span) > 2:
            continue  # one of several values is wrong
        if tokens and (whole or set(places) == {-1}):
            unknown = _repeated(question, span, tokens)
            yield Translation(problem, span.start, span.stop, tokens, unknown)


def _repeated(question: Question, span: range, tokens: Sequence[str]) -> dict[int, int]:
    """The unknown ones among new tokens, each with the position of the token that it repeats."""
    places = {}
    for place in span:
        if question.origin[place] in question.request.unknown:
            word = question.argv[place]
            places[word.partition("=")[2] if place == span.start else word] = place
    return {n: places[token] for n, token in enumerate(tokens) if token in places}


def _sound(question: Question, candidates: Iterator[Translation]) -> Iterator[Translation]:
    """Those that the parser takes, one for each flag, and none for a flag that is given."""
    table, given = question.pack.flags, _given(question)
    for item in candidates:
        required = _required(question)
        unknown = [len(required) + n for n in item.unknown]
        parsed = parse_argv((*required, *item.tokens), table, unknown=unknown)
        read = (o for o in (*parsed.occurrences, *parsed.open) if o.place >= len(required))
        dests = {option.flag.dest for option in read}
        if parsed.problems or parsed.strays or len(dests) != 1 or dests & given:
            continue
        given |= dests
        yield item


def _given(question: Question) -> set[str]:
    """The dests that the command sets, to something that is known or not."""
    return {*question.parsed.given, *(option.flag.dest for option in question.parsed.open)}


def _required(question: Question) -> Sequence[str]:
    return [token for name in question.pack.flags.required for token in (name, "_")]


def best(
    searched: Callable[[Sequence[Translation]], Repairs], known: Sequence[Translation], top: int
) -> Repairs:
    """The best repairs, whichever of the translations they take up.

    An option that is not taken up is dropped. All are tried together first: where nothing else is
    to be mended then, no repair is cheaper. Else every choice among the first few is tried.

    Args:
        searched: Gives the repairs for the translations chosen.
        known: From :func:`translations`.
        top: How many repairs to give.
    """
    first = searched(known)
    if not known or any(_only_translates(r, known) for r in first.repairs[:1]):
        return first
    free, fixed = known[:_MOST_TRIED], known[_MOST_TRIED:]
    choices = [c for n in range(len(free) - 1, -1, -1) for c in combinations(free, n)]
    tried = [first, *(searched((*choice, *fixed)) for choice in choices)]
    if fixed:
        tried.append(searched(()))
    return _merged(tried, top, proven=not fixed)


def _only_translates(repair: Repair, known: Sequence[Translation]) -> bool:
    """Whether every translation is taken up and nothing else is to be mended, which is proven."""
    taken = sum(bool(edit.becomes) for edit in repair.edits)
    refused = sum(not edit.dest for edit in repair.edits)
    return repair.optimal and taken == len(known) and len(repair.edits) == refused


def _merged(tried: Sequence[Repairs], top: int, *, proven: bool) -> Repairs:
    """The cheapest of all, one for each set of edited flags; among equals the earlier tried."""
    repairs = sorted((r for found in tried for r in found.repairs), key=lambda r: r.cost)
    apart = {frozenset((e.flag, e.becomes) for e in r.edits): r for r in reversed(repairs)}
    merged = sorted(apart.values(), key=repairs.index)[:top]
    bounds = [min(r.bound for r in found.repairs) for found in tried if found.repairs]
    doubtful = [found.feasible is None for found in tried]
    bound = min(bounds) if bounds and not any(doubtful) else None
    sure = proven and bound is not None
    answers = tuple(
        replace(r, optimal=r.optimal and sure, bound=min(r.bound, bound or r.bound)) for r in merged
    )
    feasible = True if answers else None if any(doubtful) or not proven else False
    return replace(tried[0], repairs=answers, feasible=feasible, bound=tried[0].bound)
