"""Outcomes kept from run to run: what a release says to a job does not depend on kvsolve.

With ``$KVSOLVE_KEPT_OUTCOMES`` naming a directory, each job is asked of a release once; a run that
is repeated after kvsolve changed compares only. A file belongs to one release and to one state of
the oracle's own source and models.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["KeptOutcomes", "kept_outcomes"]

Job = dict[str, Any]
HERE = Path(__file__).resolve().parent
ASKED = ("argv", "platform", "model", "env", "devices", "judged_to")
"""What of a job decides its outcome."""


def kept_outcomes(release: str) -> KeptOutcomes | None:
    """Where outcomes of a release are kept, None where they are not."""
    named = os.environ.get("KVSOLVE_KEPT_OUTCOMES")
    return _opened(Path(named) / f"{release}-{_oracle_digest()}.jsonl.gz") if named else None


@cache
def _opened(path: Path) -> KeptOutcomes:
    return KeptOutcomes(path)


@cache
def _oracle_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted([*HERE.glob("oracle/*.py"), *HERE.glob("models/**/*.json")]):
        digest.update(f"{path.relative_to(HERE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


class KeptOutcomes:
    """Outcomes by job, in one compressed file that only grows.

    Args:
        path: The file; made when the first outcome is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, str] = {}
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as handle:
                for line in handle:
                    key, _, outcome = line.partition("\t")
                    self.lines[key] = outcome

    def answers(
        self, jobs: Sequence[Job], ask: Callable[[Sequence[Job]], Sequence[Job]]
    ) -> list[Job]:
        """The outcome of each job; only those not kept yet are asked."""
        keys = [_key(job) for job in jobs]
        fresh = {key: job for key, job in zip(keys, jobs, strict=True) if key not in self.lines}
        if fresh:
            self._keep(dict(zip(fresh, ask(list(fresh.values())), strict=True)))
        return [json.loads(self.lines[key]) for key in keys]

    def _keep(self, outcomes: dict[str, Job]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(self.path, "at", encoding="utf-8", compresslevel=3) as handle:
            for key, outcome in outcomes.items():
                line = json.dumps({k: v for k, v in outcome.items() if k != "id"})
                self.lines[key] = line
                handle.write(f"{key}\t{line}\n")


def _key(job: Job) -> str:
    asked = json.dumps([job.get(name) for name in ASKED], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:24]
