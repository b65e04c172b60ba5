"""The Python API: the answers of the command line, as values.

Every function takes the command as one text or as tokens, and the same context by keyword:
``sglang``, ``gpu``, ``gpus``, ``model_config``, ``family``, ``env`` and ``stage``. ``to_dict()`` of
an answer is the JSON of the verb. Secrets of the command are hidden in every answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.finding import CheckResult, Kind
from kvsolve.model.noun import dataclass
from kvsolve.outputs.redact import Redactor
from kvsolve.session import Question, Request, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.edit import Conflict, Edit, Repair
    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.catalog import EntryInfo
    from kvsolve.packs.pack import Pack

__all__ = [
    "Explanation",
    "Fix",
    "answer",
    "check",
    "conflict",
    "conflict_of",
    "dest_of",
    "explain",
    "facts_of",
    "fix_of",
    "hider",
    "reasons_of",
    "repair",
    "request",
    "session",
    "why",
]

Command = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Fix:
    """The answer of a repair.

    Attributes:
        result: What a check says of the command.
        repairs: Best first; empty where nothing is wrong or nothing helps.
        conflict: Why nothing helps, where that is proven.
        bound: Proven lower bound of the cost of any repair, None where there is none.
        gave_up: The time was too short to tell.
    """

    result: CheckResult
    repairs: tuple[Repair, ...]
    conflict: Conflict | None = None
    bound: int | None = None
    gave_up: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a fix."""
        return {
            **self.result.to_dict(),
            "repairs": [repair.to_dict() for repair in self.repairs],
            "conflict": self.conflict.to_dict() if self.conflict else None,
        }


@lru_cache(maxsize=1)
def session() -> Session:
    """The session that every call shares, so that a context is prepared once."""
    return Session()


def request(command: Command, **context: Any) -> Request:
    """A command and its context as a request.

    Args:
        command: Text or tokens.
        **context: Attributes of :class:`kvsolve.session.Request`.
    """
    if isinstance(command, str):
        import shlex

        try:
            command = shlex.split(command.replace("\\\n", " "))
        except ValueError as error:
            raise KvsolveError(f"the command is no shell text: {error}") from None
    config = context.pop("model_config", None)
    env = context.pop("env", None) or {}
    try:
        return Request(command, model_config=config and str(config), env=dict(env), **context)
    except TypeError as error:
        raise TypeError(str(error).replace("Request.__init__()", "the context")) from None


def hider(question: Question) -> Redactor:
    """Hides the secrets of a command."""
    env = question.prepared[0].context.env if question.prepared else {}
    return Redactor(question.request.command, env)


def check(command: Command, **context: Any) -> CheckResult:
    """Say everything that SGLang would refuse or silently rewrite about a launch command.

    >>> answer = check("--model-path m --tp 2 --tp 2", gpu="h100", family="llama-mha")
    >>> str(answer.verdict)
    'valid'

    Args:
        command: Text or tokens, with or without the program in front.
        **context: ``sglang``, ``gpu``, ``gpus``, ``model_config``, ``family``, ``env``, ``stage``.

    Raises:
        KvsolveError: Something in it cannot be used.
    """
    return answer(request(command, **context))


def answer(asked: Request) -> CheckResult:
    """The check of a request, secrets hidden."""
    question = session().ask(asked)
    return hider(question).result(session().judge(question))


def facts_of(question: Question) -> dict[str, Any]:
    """For what a question is answered: the keys of a result that say so."""
    contexts = [prepared.context for prepared in question.prepared]
    names = {name: {getattr(c, name) for c in contexts} for name in ("gpu", "model", "model_from")}
    single = {name: next(iter(found)) if len(found) == 1 else None for name, found in names.items()}
    return {
        "sglang": question.pack.release,
        "sglang_from": question.sglang_from,
        "facts": {
            "gpu": single["gpu"],
            "gpus": question.request.gpus,
            "model": hider(question).value(single["model"]),
            "model_from": single["model_from"],
        },
        "judged_to": question.prepared[0].stage,
    }


def reasons_of(question: Question, codes: Iterable[str]) -> dict[str, str]:
    """Message by code."""
    entries = ((code, question.pack.catalog.by_code(code)) for code in sorted(codes))
    return {code: entry.message for code, entry in entries if entry is not None}


def dest_of(flags: FlagTable, name: str) -> str:
    """The dest that a user means by a flag's spelling or name.

    Raises:
        KvsolveError: No flag is called so; names the nearest.
    """
    spelled = name if name.startswith("-") else "--" + name.replace("_", "-")
    if spelled in flags:
        return flags.by_spelling(spelled).dest
    if flags.by_dest(name):
        return name
    from kvsolve.inputs.spelling import nearest

    near = nearest(spelled, tuple(flags.spellings))
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise KvsolveError(f"SGLang {flags.release} has no flag {name}{hint}")


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
    return fix_of(question, session().judge(question), keep, costs or {}, top, limit_s)


def fix_of(
    question: Question,
    result: CheckResult,
    keep: Iterable[str] = (),
    costs: Mapping[str, int] | None = None,
    top: int = 3,
    limit_s: float | None = None,
) -> Fix:
    """The repair of a question that was read and checked; see :func:`repair`."""
    flags, hide = question.pack.flags, hider(question)
    pins = [dest_of(flags, name) for name in keep]
    weights = {dest_of(flags, name): _weight(name, cost) for name, cost in (costs or {}).items()}
    shown = hide.result(result)
    if not result.errors:
        return Fix(shown, ())
    context = question.context
    if _unrepairable(result):
        return Fix(shown, ())
    from kvsolve.solve.repair import repair as search

    found = search(context, question.config, pins=pins, weights=weights, k=top, time_limit=limit_s)
    parse = _parse_edits(result)
    if found.repairs:
        repairs = tuple(hide.repair(_with_parse(r, parse, result)) for r in found.repairs)
        return Fix(shown, repairs, None, repairs[0].bound)
    clash = _conflict(question, pins, limit_s) if found.feasible is False else None
    return Fix(shown, (), clash and hide.conflict(clash), found.bound, found.feasible is None)


def _weight(name: str, cost: int) -> int:
    if isinstance(cost, bool) or not isinstance(cost, int) or cost < 1:
        raise KvsolveError(f"the cost of {name} is a positive integer, not {cost!r}")
    return cost


def _unrepairable(result: CheckResult) -> bool:
    """Whether a required flag is missing, which no edit of other flags makes up for."""
    return any(f.kind is Kind.PARSE and f.slug == "missing-flag" for f in result.findings)


def _parse_edits(result: CheckResult) -> tuple[Edit, ...]:
    """What the parser refuses is dropped: no other edit of it can be known to be meant."""
    from kvsolve.model.edit import Edit

    return tuple(
        Edit("remove", "", flag, None, None, 2)
        for finding in result.findings
        if finding.kind is Kind.PARSE
        for flag in finding.flags[:1]
    )


def _with_parse(repair: Repair, edits: tuple[Edit, ...], result: CheckResult) -> Repair:
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


def conflict(
    command: Command,
    *,
    keep: Iterable[str] | None = None,
    limit_s: float | None = None,
    **context: Any,
) -> Conflict | None:
    """Why nothing valid agrees with the flags to keep: a minimal conflict.

    Args:
        command: Text or tokens.
        keep: Flags to hold at their values; everything typed where None.
        limit_s: Seconds after which to give up.
        **context: As for :func:`check`.

    Returns:
        None where there is no conflict, or none was proven in time.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    return conflict_of(session().ask(request(command, **context)), keep, limit_s)


def conflict_of(
    question: Question, keep: Iterable[str] | None = None, limit_s: float | None = None
) -> Conflict | None:
    """The conflict of a question that was read; see :func:`conflict`."""
    pins = None if keep is None else [dest_of(question.pack.flags, name) for name in keep]
    found = _conflict(question, pins, limit_s)
    return found and hider(question).conflict(found)


def _conflict(
    question: Question, pins: Iterable[str] | None, limit_s: float | None
) -> Conflict | None:
    import time

    from kvsolve.solve.conflict import conflict as search

    deadline = None if limit_s is None else time.monotonic() + limit_s
    return search(question.context, question.config, pins=pins, deadline=deadline)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One entry, in full.

    Attributes:
        sglang: The release whose words these are.
        entry: What the catalog tells of it.
        conditions: Where it takes place, as the pack reads it: one for each time that it stands in
            the program.
        score: How likely it is the entry behind a pasted text, None where it was named.
    """

    sglang: str
    entry: EntryInfo
    conditions: tuple[str, ...]
    score: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of an explanation."""
        entry = self.entry
        row: dict[str, Any] = {
            "code": entry.code,
            "slug": entry.slug,
            "kind": entry.kind,
            "stage": entry.stage,
            "raises": entry.raises,
            "crash": entry.crash,
            "flags": list(entry.flags),
            "message": entry.message,
            "remedy": entry.remedy,
            "ground": entry.ground.to_dict(),
            "curated": entry.curated,
            "sglang": self.sglang,
            "conditions": list(self.conditions),
        }
        return row if self.score is None else {**row, "score": self.score}


def explain(code: str, *, sglang: str | None = None) -> Explanation:
    """Tell of one entry.

    Args:
        code: Its code or slug, as in ``KV1042``.
        sglang: Release; the newest that has the entry where None.

    Raises:
        KvsolveError: No release known has such an entry, or not the one named.
    """
    for pack in _packs(sglang):
        entry = pack.catalog.by_code(code)
        if entry is not None:
            return Explanation(pack.release, entry, _conditions(pack, entry))
    where = f"SGLang {sglang}" if sglang else "any release known"
    raise KvsolveError(f"there is no entry {code} in {where}; `kvsolve rules` lists all")


def why(text: str, *, sglang: str | None = None, top: int = 3) -> tuple[Explanation, ...]:
    """Find the entries that a pasted error, log line or traceback may come from.

    Args:
        text: The text.
        sglang: Release; the newest in which something fits where None.
        top: How many to tell, likeliest first.

    Returns:
        Nothing where no entry fits.
    """
    for pack in _packs(sglang):
        found = []
        for match in pack.catalog.find(text)[:top]:
            entry = pack.catalog.by_code(match.code)
            if entry is not None:
                told = _conditions(pack, entry)
                found.append(Explanation(pack.release, entry, told, match.score))
        if found:
            return tuple(found)
    return ()


def _packs(sglang: str | None) -> Iterator[Pack]:
    from kvsolve.packs.pack import load_pack, releases

    if sglang is not None:
        yield load_pack(sglang)
        return
    for release in reversed(releases()):
        yield load_pack(release)


def _conditions(pack: Pack, entry: EntryInfo) -> tuple[str, ...]:
    """Guards of the steps that have an entry's code, in program order."""
    from kvsolve.model.syntax import render

    steps = pack.program.steps
    kinds = ("refuse", "set")
    here = (
        number
        for number, info in enumerate(pack.steps)
        if info.kind in kinds and pack.catalog.entry(number).code == entry.code
    )
    return tuple(dict.fromkeys(render(steps[number].when) for number in here))
