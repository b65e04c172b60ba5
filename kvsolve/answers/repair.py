"""repair: the cheapest edits that leave nothing to refuse."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, hider, request, seconds, session
from kvsolve.answers.conflict import pinned_conflict, shown_conflict
from kvsolve.answers.elsewhere import Elsewhere, elsewhere_of
from kvsolve.answers.translation import best, told_once, translated, translations
from kvsolve.errors import KvsolveError
from kvsolve.model.edit import Edit
from kvsolve.model.finding import Kind, Verdict
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.answers.asking import Command
    from kvsolve.answers.translation import Translation
    from kvsolve.model.edit import Conflict, Repair
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question
    from kvsolve.solve.repair import Repairs

__all__ = ["Fix", "fix_of", "repair"]

_LEAST_S = 0.01
"""What a search gets where others have used up the time."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The answer of a repair.

    Attributes:
        result: What a check says of the command.
        repairs: Best first; empty where nothing is wrong or nothing helps.
        conflict: Why nothing helps, where that is proven.
        bound: Proven lower bound of the cost of any repair, None where there is none.
        gave_up: The time was too short to tell.
        instead: What to do where no edit of the command's flags helps, one sentence each.
        elsewhere: Where the command would be accepted as it is, looked up where nothing helps here.
    """

    result: CheckResult
    repairs: tuple[Repair, ...]
    conflict: Conflict | None = None
    bound: int | None = None
    gave_up: bool = False
    instead: tuple[str, ...] = ()
    elsewhere: Elsewhere | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a fix."""
        return {
            **self.result.to_dict(),
            "repairs": [repair.to_dict() for repair in self.repairs],
            "conflict": self.conflict.to_dict() if self.conflict else None,
            "bound": self.bound,
            "gave_up": self.gave_up,
            "instead": list(self.instead),
            "elsewhere": self.elsewhere.to_dict() if self.elsewhere else None,
        }


def repair(
    command: Command,
    *,
    keep: Iterable[str] = (),
    costs: Mapping[str, int] | None = None,
    top: int = 3,
    limit_s: float | None = None,
    **context: Any,
) -> Fix:
    """Find the cheapest edits that leave nothing to refuse.

    Args:
        command: Text or tokens.
        keep: Flags to leave as they are.
        costs: Cost factor of a flag, a positive integer.
        top: How many alternatives.
        limit_s: Seconds after which to answer with what is known.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    question = session().ask(request(command, **context))
    result = session().judge(question)
    return fix_of(question, result, keep, costs or {}, top, limit_s, look_elsewhere=True)


def fix_of(
    question: Question,
    result: CheckResult,
    keep: Iterable[str] = (),
    costs: Mapping[str, int] | None = None,
    top: int = 3,
    limit_s: float | None = None,
    *,
    look_elsewhere: bool = False,
    excused: frozenset[str] = frozenset(),
) -> Fix:
    """The repair of a question that was read and checked; see :func:`repair`.

    Where nothing helps, ``look_elsewhere`` asks for other GPUs and releases, some seconds' work.
    Refusals whose codes are ``excused`` may stay, and may come.
    """
    flags, hide = question.pack.flags, hider(question)
    pins = [dest_of(flags, name) for name in keep]
    told = {dest_of(flags, name): _weight(name, cost) for name, cost in (costs or {}).items()}
    shown = hide.result(result)
    if result.verdict is Verdict.VALID:
        return Fix(shown, ())
    _ = question.context  # repairs are for one GPU and one model
    if not result.errors or _unrepairable(result):
        return Fix(shown, (), instead=_instead(shown))
    weights = {**_unasked(question), **told}
    wanted = _Wanted(result, tuple(pins), weights, top, _until(limit_s), excused)
    found = best(partial(_searched, question, wanted), translations(question), top)
    if found.repairs and not found.repairs[0].edits:
        return Fix(shown, (), instead=_instead(shown))
    if found.repairs:
        repairs = tuple(hide.repair(r) for r in found.repairs)
        return Fix(shown, repairs, None, repairs[0].bound)
    clash = None
    if found.feasible is False:
        with suppress(TimeoutError):
            clash = pinned_conflict(question, pins, limit_s)
    gave_up = found.feasible is None
    return Fix(
        shown,
        (),
        shown_conflict(question, clash),
        found.bound,
        gave_up,
        elsewhere=elsewhere_of(question) if look_elsewhere and not gave_up else None,
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a repair is to heed.

    Attributes:
        result: What a check says of the command as given.
        pins: Dests to leave as they are.
        weights: Cost factor by dest.
        top: How many alternatives.
        until: When to answer with what is known, in monotonic seconds; None for no limit.
        excused: Codes of refusals that may stay.
    """

    result: CheckResult
    pins: tuple[str, ...]
    weights: Mapping[str, int]
    top: int
    until: float | None
    excused: frozenset[str]

    @property
    def left(self) -> float | None:
        """Seconds that are left for a search: all searches of an answer share the limit."""
        return None if self.until is None else max(self.until - time.monotonic(), _LEAST_S)


def _until(limit_s: float | None) -> float | None:
    limit = seconds(limit_s)
    return None if limit is None else time.monotonic() + limit


def _searched(question: Question, wanted: _Wanted, chosen: Sequence[Translation]) -> Repairs:
    """The repairs of the command with some of its refused options translated, others dropped."""
    from kvsolve.inputs.doubts import known_part
    from kvsolve.solve.repair import repair as search

    if chosen:
        question = session().ask(translated(question.request, question, chosen))
    found = search(
        question.context.excusing(wanted.excused),
        known_part(question.config, question.pack.flags),
        pins=wanted.pins,
        held=question.held | {option.flag.dest for option in question.parsed.open},
        weights=wanted.weights,
        k=wanted.top,
        time_limit=wanted.left,
    )
    found = _decided(question, wanted.result, found)
    refused = _parse_edits(question)
    repairs = (
        _with_parse(*told_once(r, chosen, question.pack.flags), refused, wanted.result)
        for r in found.repairs
    )
    return replace(found, repairs=tuple(repairs))


def _decided(question: Question, result: CheckResult, found: Repairs) -> Repairs:
    """The repairs after which nothing is unknown that is known of the command as given."""
    known, sure = set(result.unknown), []
    for repair in found.repairs:
        asked = replace(question.request, command=repair.argv, unknown={}, loose=frozenset())
        if set(session().check(asked).unknown) <= known:
            sure.append(repair)
    if len(sure) == len(found.repairs):
        return found
    # What else might be as cheap as those left out was not looked for.
    told = tuple(replace(repair, optimal=False) for repair in sure)
    return replace(found, repairs=told, feasible=True if told else None)


def _unasked(question: Question) -> Mapping[str, int]:
    """What it costs more to bring in a feature that the command says nothing of."""
    from kvsolve.packs.weights import unasked_weights

    return {d: w for d, w in unasked_weights().items() if d not in question.parsed.given}


def _weight(name: str, cost: int) -> int:
    if isinstance(cost, bool) or not isinstance(cost, int) or cost < 1:
        raise KvsolveError(f"the cost of {name} is a positive integer, not {cost!r}")
    return cost


def _unrepairable(result: CheckResult) -> bool:
    """Whether a required flag is missing, which no edit of other flags makes up for."""
    return any(f.kind is Kind.PARSE and f.slug == "missing-flag" for f in result.findings)


def _instead(result: CheckResult) -> tuple[str, ...]:
    """What to do about problems that no flag causes, in the launcher's words or a file's."""
    told = [f.remedy or f.message for f in result.errors if f.kind is Kind.PARSE]
    return tuple(dict.fromkeys(told))


def _parse_edits(question: Question) -> tuple[Edit, ...]:
    """What the parser refuses is dropped: no other edit of it can be known to be meant."""
    hide = hider(question)
    edits = []
    for problem in question.parsed.problems:
        value = hide.value(" ".join(problem.values), problem.spelling) or None
        edits.append(Edit("remove", "", problem.spelling, value, None, 3 if value is None else 2))
    return tuple(edits)


def _with_parse(
    repair: Repair, written: tuple[Edit, ...], refused: tuple[Edit, ...], result: CheckResult
) -> Repair:
    edits = (*written, *refused)
    if not edits:
        return repair
    price = sum(edit.cost for edit in edits)
    codes = [f.code for f in result.findings if f.kind is Kind.PARSE]
    return replace(
        repair,
        cost=repair.cost + price,
        bound=repair.bound + price,
        edits=(*edits, *repair.edits),
        removes=tuple(dict.fromkeys((*codes, *repair.removes))),
    )
