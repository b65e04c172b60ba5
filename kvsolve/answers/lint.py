"""packs lint: what the pack of a release says twice, in vain or wrongly, in one context."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import facts_of, must_be_readable
from kvsolve.model.context import Config

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.remedies import Change
    from kvsolve.session import Question
    from kvsolve.solve.firing import Firing
    from kvsolve.solve.lint import Remark

__all__ = ["TOPICS", "edited", "lint_of", "remark_json", "remedy_trials"]

TOPICS = ("values", "entries", "remedies")
"""What can be looked at."""
_LATE = "not every entry was looked at in time"


def lint_of(
    question: Question, topics: Iterable[str] = TOPICS, limit_s: float | None = None
) -> dict[str, Any]:
    """The remarks on a pack in the context of a question, as the JSON of the verb.

    Args:
        question: One context; what its command gives is held.
        topics: Of :data:`TOPICS`.
        limit_s: Seconds, half of them for the values; what needs longer is told as open.

    Raises:
        KvsolveError: GPU or model is not known, or the command cannot be read.
    """
    must_be_readable(question)
    wanted = set(topics)
    until = None if limit_s is None else time.monotonic() + limit_s
    remarks: list[Any] = []
    unread = 0
    if "values" in wanted:
        from kvsolve.solve.lint_values import value_remarks

        remarks += value_remarks(
            question.context,
            question.config,
            held=question.held,
            time_limit=limit_s if limit_s is None or len(wanted) == 1 else limit_s / 2,
        )
    if wanted & {"entries", "remedies"}:
        from kvsolve.solve.firing import Firings
        from kvsolve.solve.lint import Kind, Remark, entry_remark

        with Firings(question.context, question.config, held=question.held) as firings:
            for step in firings.steps():
                if until is not None and time.monotonic() > until:
                    remarks.append(Remark(Kind.OPEN, detail=_LATE))
                    break
                firing = firings.firing(step)
                if "entries" in wanted:
                    remarks += entry_remark(question.context, firing)
                if "remedies" in wanted:
                    found, unclear = remedy_remarks(question, firing)
                    remarks += found
                    unread += unclear
    told: dict[Any, Mapping[str, Any]] = {}
    for remark in remarks:  # an entry may stand in the program more than once
        known = remark.kind, remark.code, repr(remark.values), remark.codes, remark.detail
        told.setdefault(known, remark_json(question, remark))
    return {
        **facts_of(question),
        "remarks": list(told.values()),
        "remedies_not_understood": unread,
    }


def remedy_remarks(question: Question, firing: Firing) -> tuple[list[Remark], int]:
    """The ways out of an entry's remedy that lead to a refusal, and how many were not read."""
    from kvsolve.solve.lint import Kind, Outcome, Remark

    remarks = []
    unread = 0
    for text, tried in remedy_trials(question, firing):
        if tried is None:
            unread += 1
        elif tried.outcome is not Outcome.HELPS:
            code = str(question.pack.catalog.entry(firing.step).code)
            remarks.append(
                Remark(Kind.REMEDY, code, (), tried.codes, firing.witness, "witness", text)
            )
    return remarks, unread


def remedy_trials(question: Question, firing: Firing) -> Iterator[tuple[str, Any]]:
    """Each way out of an entry's remedy with what becomes of its witness; None where not read.

    Only entries that can be the first to refuse are tried: nobody is shown another one's remedy
    before that of the entry in front of it.
    """
    from kvsolve.packs.remedies import proposals
    from kvsolve.solve.firing import Reach
    from kvsolve.solve.lint import trial

    entry = question.pack.catalog.entry(firing.step)
    if firing.witness is None or firing.reach not in (Reach.ALONE, Reach.IMPLIED):
        return
    flags = question.pack.flags
    for proposal in proposals(entry.remedy or "", flags) if entry.remedy else ():
        if not proposal.changes:
            yield proposal.text, None
            continue
        if all(c.value is None and c.dest not in firing.witness.given for c in proposal.changes):
            continue  # the witness is refused without the flags that are to be dropped
        after = edited(firing.witness, flags, proposal.changes)
        yield proposal.text, trial(question.context, entry.code, firing.witness, after)


def edited(config: Config, flags: FlagTable, changes: Sequence[Change]) -> Config:
    """A configuration with the changes of a remedy made."""
    from kvsolve.solve.space import spelling

    values, given = dict(config.values), dict(config.given)
    for change in changes:
        if change.value is None:
            values[change.dest] = flags.fields.get(change.dest)
            given.pop(change.dest, None)
        else:
            values[change.dest] = change.value
            typed = given.get(change.dest)
            given[change.dest] = spelling(flags, change.dest, change.value, typed)
    return Config(values, given)


def remark_json(question: Question, remark: Remark) -> Mapping[str, Any]:
    """The JSON of a remark."""
    from kvsolve.answers.asking import hider
    from kvsolve.solve.repair import command_tokens

    flags, hide = question.pack.flags, hider(question)
    witness = None
    if remark.witness is not None:
        witness = list(hide.argv(command_tokens(remark.witness, flags)))
    return {
        "kind": str(remark.kind),
        "code": remark.code,
        "values": [
            {"flag": flags.flag(dest).name, "dest": dest, "value": hide.value(value, dest)}
            for dest, value in remark.values
        ],
        "codes": list(remark.codes),
        "proof": remark.proof,
        "witness": witness,
        "detail": remark.detail,
        "fault": remark.fault,
    }
