"""Compare what the real validator said with what a static check says."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .oracle.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Answer",
    "Comparison",
    "Exclusions",
    "Subject",
    "compare",
    "equal_values",
    "last_stage",
    "load_exclusions",
    "plain_value",
]

Outcome = dict[str, Any]
"""A job joined with what the oracle said to it."""

UNSTABLE_FIELDS = frozenset(
    [
        "model_path",
        "tokenizer_path",
        "served_model_name",
        "random_seed",
        "nccl_port",
        "port",
        "dist_init_addr",
        "speculative_draft_model_path",
    ]
)
"""Drawn at random at each start, or a path on the machine that checks."""

LATE = ("pool", "attention")
ORDER = ("args", "load", "pool", "attention")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a static check says to one job.

    Attributes:
        verdict: ``ok``, ``rejected``, ``parse-error`` or ``unknown``.
        place: File below ``sglang/srt`` and innermost function of the first refusal.
        effective: Resolved fields by name.
        code: The entry behind the first refusal, for reports.
    """

    verdict: str
    place: tuple[str, str] | None = None
    effective: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""


class Subject(Protocol):
    """Something that judges configurations without running the release."""

    def answer(self, release: str, job: Mapping[str, Any], stage: str) -> Answer:
        """Judge one job of the oracle up to a stage."""
        ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one answer and one outcome relate.

    Attributes:
        verdict: Whether both accept or both refuse, and at the parser both or neither.
        place: Whether both name the same function; None when not both refuse.
        values: How many effective values were compared.
        differing: The fields whose values differ: what the release says, what the answer says.
    """

    verdict: bool
    place: bool | None = None
    values: int = 0
    differing: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What is left out of the comparison, each with a committed reason.

    Attributes:
        places: (release, file, function) of refusals that are not judged; release may be ``*``.
        fields: Effective values that are not judged.
    """

    places: frozenset[tuple[str, str, str]]
    fields: frozenset[str]

    def reason_to_skip(self, release: str, outcome: Outcome) -> str | None:
        """Why an outcome is not compared, None when it is."""
        if outcome["status"] == "harness-error":
            return "harness error"
        if outcome.get("missing_package"):
            return "missing package"
        if outcome["status"] != "rejected":
            return None
        if not outcome["deliberate"] and outcome["stage"] in LATE:
            return "unguarded crash at a late stage"
        where = outcome.get("where") or {}
        for known in (release, "*"):
            if (known, where.get("file"), where.get("symbol")) in self.places:
                return "listed place"
        return None


def last_stage(outcome: Outcome) -> str:
    """The last stage that the release was really run through.

    Where a stand-in failed in a step, being accepted says nothing of that step's stage.
    """
    asked = str(outcome["judged_to"])
    if outcome["status"] != "ok":
        return asked
    failed = [
        ORDER.index(STAGES.get(step, "pool"))
        for step, told in outcome.get("outcomes", {}).items()
        if str(told).startswith("artefact")
    ]
    return ORDER[min(failed) - 1] if failed else asked


def compare(outcome: Outcome, answer: Answer, exclusions: Exclusions) -> Comparison:
    """Hold one answer to one outcome."""
    same = outcome["status"] == answer.verdict
    if not same:
        return Comparison(verdict=False)
    if outcome["status"] == "rejected":
        return Comparison(verdict=True, place=_same_place(outcome, answer))
    if outcome["status"] != "ok":
        return Comparison(verdict=True)
    skipped = UNSTABLE_FIELDS | exclusions.fields
    compared = [
        name
        for name in outcome.get("resolved", {})
        if name in answer.effective and name not in skipped
    ]
    differing = {}
    for name in compared:
        real, ours = outcome["resolved"][name], answer.effective[name]
        if not equal_values(real, ours):
            differing[name] = (real, plain_value(ours))
    return Comparison(verdict=True, values=len(compared), differing=differing)


def _same_place(outcome: Outcome, answer: Answer) -> bool:
    """Whether the innermost functions agree.

    A refusal by the interpreter itself inside another package has no place in the release; then
    the outermost frame that both know is the release's innermost one, which ``where`` already is.
    """
    where = outcome.get("where")
    if where is None or answer.place is None:
        return where is None and answer.place is None
    file, symbol = answer.place
    same_function = _function(symbol) == _function(where["symbol"])
    return same_function and file == where["file"]


def _function(symbol: str) -> str:
    """The last named function of a qualified name: comprehensions belong to their function."""
    parts = [part for part in symbol.split(".") if not part.startswith("<")]
    return parts[-1] if parts else symbol


def plain_value(value: Any) -> Any:
    """An object as the mapping of its attributes, a set as a sorted list."""
    if isinstance(value, dict):
        if set(value) == {"__object__", "attributes"}:
            return plain_value(value["attributes"])
        if set(value) == {"__set__"}:
            return plain_value(value["__set__"])
        return {name: plain_value(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain_value(item) for item in value), key=repr)
    return [plain_value(item) for item in value] if isinstance(value, list | tuple) else value


def equal_values(real: Any, ours: Any) -> bool:
    """Whether an effective value of the release and one of kvsolve are the same."""
    return _equal(plain_value(real), plain_value(ours))


def _equal(real: Any, ours: Any) -> bool:
    if isinstance(real, float) and isinstance(ours, int | float):
        return abs(real - ours) <= 1e-9 * max(1.0, abs(real))
    return bool(real == ours) and isinstance(real, bool) == isinstance(ours, bool)


LISTED = Path(__file__).with_name("exclusions.toml")


def load_exclusions(path: Path = LISTED) -> Exclusions:
    """Read the committed list.

    Raises:
        ValueError: An entry has no reason.
    """
    with path.open("rb") as file:
        data = tomllib.load(file)
    entries = [*data.get("place", []), *data.get("field", [])]
    for entry in entries:
        if not entry.get("reason", "").strip():
            raise ValueError(f"{path.name}: {entry} has no reason")
    places = {
        (release, entry["file"], entry["symbol"])
        for entry in data.get("place", [])
        for release in entry.get("releases", ["*"])
    }
    return Exclusions(
        frozenset(places), frozenset(entry["name"] for entry in data.get("field", []))
    )
