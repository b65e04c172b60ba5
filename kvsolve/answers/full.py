"""matrix --full: every pair of values of every modelled flag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, facts_of, must_be_readable, reasons_of, session
from kvsolve.answers.spreading import cores, spread
from kvsolve.outputs.redact import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.session import Request
    from kvsolve.solve.cells import Ruling
    from kvsolve.solve.full import FullJudge, FullPart

__all__ = ["full_of", "judged_full"]


def full_of(
    base: Request, flags: Sequence[str] = (), limit_s: float | None = None
) -> dict[str, Any]:
    """The full matrix around a request, as the JSON of the verb with the reasons by code.

    Args:
        base: The context; what its command gives is kept.
        flags: Only pairs of these flags; all where empty.
        limit_s: Seconds; what is not decided then is unknown, and the answer is not complete.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    from kvsolve.solve.full import full_matrix

    question = session().ask(base)
    must_be_readable(question)
    table = question.pack.flags
    context = {**facts_of(question)["facts"], "release": question.pack.release}
    held = question.held | {dest for dest in table.fields if is_secret_name(dest)}
    found = full_matrix(
        question.context,
        question.config,
        flags=[dest_of(table, name) for name in flags],
        held=sorted(held),
        context={**context, "stage": question.context.stage},
        time_limit=limit_s,
        judge=lambda _, parts, until: spread(
            judged_full, (base, tuple(sorted(held)), until), parts, cores() if len(parts) > 2 else 1
        ),
    ).to_dict()
    codes = {
        c for part in (found["values"], found["pairs"]) for item in part for c in item["codes"]
    }
    names = {flag["dest"]: table.flag(flag["dest"]).name for flag in found["flags"]}
    for flag in found["flags"]:
        flag["flag"] = names[flag["dest"]]
    return {**found, "reasons": reasons_of(question, codes)}


Shared = tuple["Request", tuple[str, ...], float | None]
"""The context, dests that are no matter of choice, a reading of ``time.time`` to end at."""


def judged_full(shared: Shared, part: FullPart) -> Sequence[Ruling | None]:
    """The answers of a part of the full matrix around a request; what worker processes do."""
    base, held, until = shared
    return _judge_of(base, held).of(part, until)


_last: list[tuple[Request, tuple[str, ...], FullJudge]] = []
"""The judge made last, for the next part of the same matrix."""


def _judge_of(base: Request, held: tuple[str, ...]) -> FullJudge:
    from kvsolve.solve.full import FullJudge
    from kvsolve.solve.lowering.lower import lower

    if not _last or _last[0][:2] != (base, held):
        question = session().ask(base)
        lowered = lower(question.context, question.config, held=held)
        _last[:] = [(base, held, FullJudge(lowered, question.config, held))]
    return _last[0][2]
