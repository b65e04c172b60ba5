"""Hold proposed repairs to the real validator: each must be accepted where it was judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .batches import run_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .comparison import Exclusions, Outcome

__all__ = ["RepairTally", "Repairer", "check_repairs"]


class Repairer(Protocol):
    """Something that proposes repaired command lines."""

    def repairs(self, release: str, job: Mapping[str, Any], stage: str) -> Sequence[list[str]]:
        """The repaired tokens without the model's path, best first; empty when there is none."""
        ...


@dataclass(slots=True)
class RepairTally:
    """What the real validator said to repairs.

    Attributes:
        invalid: Refused configurations that were given to the repairer.
        unrepaired: Those for which it had no repair.
        proposed, accepted: Repairs, and those that the validator accepts.
        refused: Examples of the others.
    """

    invalid: int = 0
    unrepaired: int = 0
    proposed: int = 0
    accepted: int = 0
    refused: list[Outcome] = field(default_factory=list)

    def to_dict(self) -> Mapping[str, Any]:
        """The tally as JSON."""
        return {
            "invalid": self.invalid,
            "unrepaired": self.unrepaired,
            "accepted": [self.accepted, self.proposed],
            "refused": self.refused[:20],
        }


def check_repairs(
    release: str,
    outcomes: Sequence[Outcome],
    repairer: Repairer,
    exclusions: Exclusions,
    workers: int,
) -> RepairTally:
    """Repair refused configurations and run what is proposed through the validator.

    Args:
        release: The release.
        outcomes: Jobs joined with what the oracle said; only refused ones are repaired.
        repairer: Proposes the repairs.
        exclusions: Refusals that are not compared are not repaired either.
        workers: Processes of the oracle at a time.
    """
    total = RepairTally()
    jobs = list(_jobs(release, outcomes, repairer, exclusions, total))
    for outcome in run_jobs(release, jobs, workers):
        if exclusions.reason_to_skip(release, outcome) and outcome["status"] != "rejected":
            continue
        total.proposed += 1
        if outcome["status"] == "ok":
            total.accepted += 1
        else:
            wanted = ("id", "platform", "model", "argv", "was", "status", "stage", "where")
            total.refused.append({name: outcome.get(name) for name in wanted})
    return total


def _jobs(
    release: str,
    outcomes: Sequence[Outcome],
    repairer: Repairer,
    exclusions: Exclusions,
    total: RepairTally,
) -> Iterator[Outcome]:
    for outcome in outcomes:
        if outcome["status"] not in ("rejected", "parse-error"):
            continue
        if exclusions.reason_to_skip(release, outcome):
            continue
        total.invalid += 1
        proposed = repairer.repairs(release, outcome, outcome["judged_to"])
        total.unrepaired += not proposed
        kept = ("platform", "model", "env", "judged_to")
        for number, argv in enumerate(proposed):
            job = {name: outcome[name] for name in kept if name in outcome}
            ident = f"{outcome['id']}-repair{number}"
            yield {"id": ident, **job, "argv": argv, "was": outcome["argv"]}
