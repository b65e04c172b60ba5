"""Draw configurations, run them through a release and join both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .kept_outcomes import kept_outcomes
from .oracle.run import check_all
from .sampling import Sampler, flag_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .comparison import Outcome

__all__ = ["Batch", "draw", "run_jobs"]


@dataclass(frozen=True, slots=True)
class Batch:
    """What to draw.

    Attributes:
        release: A release that the oracle has.
        seed: Equal seeds draw equal configurations.
        all_flags: Configurations over all flags, judged to stage args.
        first_scope: Configurations over the first scope, judged to the last stage.
        platforms: GPU profiles; empty for all.
    """

    release: str
    seed: str
    all_flags: int
    first_scope: int
    platforms: Sequence[str] = ()


def draw(batch: Batch) -> Iterator[Outcome]:
    """The jobs of a batch."""
    table = flag_table(batch.release)
    for first_scope, count in ((False, batch.all_flags), (True, batch.first_scope)):
        sampler = Sampler(table, batch.seed, first_scope=first_scope, platforms=batch.platforms)
        yield from sampler.draw(count)


def run_jobs(release: str, jobs: Sequence[Outcome], workers: int) -> list[Outcome]:
    """Ask the release about jobs, and join each with its outcome."""

    def ask(asked: Sequence[Outcome]) -> list[Outcome]:
        return check_all(release, asked, workers=workers)

    kept = kept_outcomes(release)
    outcomes = kept.answers(jobs, ask) if kept else ask(jobs)
    joined = []
    for job, outcome in zip(jobs, outcomes, strict=True):
        if outcome["status"] != "ok":
            outcome.pop("resolved", None)  # half-way values, which nothing may be held to
        joined.append({**job, **outcome})
    return joined
