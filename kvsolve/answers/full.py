"""matrix --full: every pair of values of every modelled flag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, facts_of, must_be_readable, reasons_of, session
from kvsolve.outputs.redact import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.session import Request

__all__ = ["full_of"]


def full_of(
    base: Request, flags: Sequence[str] = (), limit_s: float | None = None
) -> dict[str, Any]:
    """The full matrix around a request, as the JSON of the verb with the reasons by code.

    Args:
        base: The context; what its command gives is kept.
        flags: Only pairs of these flags; all where empty.
        limit_s: Seconds for deciding the pairs.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    from kvsolve.solve.full import full_matrix

    question = session().ask(base)
    must_be_readable(question)
    table = question.pack.flags
    context = {**facts_of(question)["facts"], "release": question.pack.release}
    found = full_matrix(
        question.context,
        question.config,
        flags=[dest_of(table, name) for name in flags],
        held=question.held | {dest for dest in table.fields if is_secret_name(dest)},
        context={**context, "stage": question.context.stage},
        time_limit=limit_s,
    ).to_dict()
    codes = {
        c for part in (found["values"], found["pairs"]) for item in part for c in item["codes"]
    }
    names = {flag["dest"]: table.flag(flag["dest"]).name for flag in found["flags"]}
    for flag in found["flags"]:
        flag["flag"] = names[flag["dest"]]
    return {**found, "reasons": reasons_of(question, codes)}
