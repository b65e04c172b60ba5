"""Count agreements, and keep an example of every class of disagreement."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .comparison import Answer, Comparison, Exclusions, Outcome, Subject, compare, last_stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Tally", "tally"]

EXAMPLES = 3


@dataclass(slots=True)
class Tally:
    """What a comparison of many outcomes came to.

    Attributes:
        compared: Outcomes that were compared.
        skipped: Outcomes left out, by reason.
        verdicts: Agreeing verdicts.
        places, places_of: Agreeing places of the first refusal, of how many.
        values, values_of: Agreeing effective values, of how many.
        classes: Disagreements by class, with how often and a few examples.
        unsure: Answers that were ``unknown``.
    """

    compared: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    verdicts: int = 0
    places: int = 0
    places_of: int = 0
    values: int = 0
    values_of: int = 0
    unsure: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Outcome]] = field(default_factory=dict)

    def add(self, outcome: Outcome, answer: Answer, comparison: Comparison) -> None:
        """Count one comparison."""
        self.compared += 1
        self.unsure += answer.verdict == "unknown"
        self.verdicts += comparison.verdict
        if not comparison.verdict:
            self._note(f"verdict: {_said(outcome)}, kvsolve: {_answered(answer)}", outcome)
        if comparison.place is not None:
            self.places_of += 1
            self.places += comparison.place
            if not comparison.place:
                self._note(f"place: {_said(outcome)}, kvsolve: {_answered(answer)}", outcome)
        self.values_of += comparison.values
        self.values += comparison.values - len(comparison.differing)
        for name, (real, ours) in comparison.differing.items():
            self._note(f"value: {name}", {**outcome, "real": real, "kvsolve": ours})

    def _note(self, kind: str, outcome: Outcome) -> None:
        self.classes[kind] += 1
        kept = self.examples.setdefault(kind, [])
        if len(kept) < EXAMPLES:
            wanted = ("id", "platform", "model", "argv", "env", "real", "kvsolve")
            kept.append({name: outcome[name] for name in wanted if name in outcome})

    def to_dict(self) -> Mapping[str, Any]:
        """The tally as JSON, the commonest disagreement first."""
        return {
            "compared": self.compared,
            "skipped": dict(self.skipped.most_common()),
            "verdicts": [self.verdicts, self.compared],
            "places": [self.places, self.places_of],
            "values": [self.values, self.values_of],
            "unknown": self.unsure,
            "disagreements": [
                {"class": kind, "count": count, "examples": self.examples[kind]}
                for kind, count in self.classes.most_common()
            ],
        }


def tally(
    release: str, outcomes: Iterable[Outcome], subject: Subject, exclusions: Exclusions
) -> Tally:
    """Compare every outcome of a release with the subject's answer."""
    total = Tally()
    for outcome in outcomes:
        reason = exclusions.reason_to_skip(release, outcome)
        if reason:
            total.skipped[reason] += 1
            continue
        answer = _asked(subject, release, outcome)
        total.add(outcome, answer, compare(outcome, answer, exclusions))
    return total


def _asked(subject: Subject, release: str, outcome: Outcome) -> Answer:
    """The subject's answer; that it breaks is a disagreement like any other."""
    try:
        return subject.answer(release, outcome, last_stage(outcome))
    except Exception as error:
        return Answer(f"breaks with {type(error).__name__}: {error}"[:200])


def _said(outcome: Outcome) -> str:
    if outcome["status"] != "rejected":
        return str(outcome["status"])
    where = outcome.get("where") or {"file": "?", "symbol": "?"}
    crash = "" if outcome["deliberate"] else f" ({outcome['type']})"
    return f"{where['file']}:{where['symbol']}{crash}"


def _answered(answer: Answer) -> str:
    return f"{answer.place[0]}:{answer.place[1]}" if answer.place else answer.verdict
