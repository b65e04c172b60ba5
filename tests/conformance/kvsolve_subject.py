"""kvsolve as the subject of the comparison."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from unittest import mock

from kvsolve.inputs.serving_machine import Taken
from kvsolve.session import Request, Session
from kvsolve.solve.repair import repair

from .comparison import Answer
from .oracle.infiniband import FOLDER
from .oracle.model_configs import model_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.model.finding import CheckResult, Finding
    from kvsolve.session import Question

__all__ = ["Kvsolve", "request_of"]

REPAIR_SECONDS = 5.0
ASKING = ("kvsolve.contexts", "kvsolve.session")
"""Modules that take nothing for granted where the machine that serves is this one."""
VERDICTS = {"valid": "ok", "invalid": "rejected", "unknown": "unknown"}


class Kvsolve:
    """Answers jobs of the oracle through the same path as the command line."""

    def __init__(self) -> None:
        self.session = Session()

    def ask(self, release: str, job: Mapping[str, Any], stage: str) -> Question:
        """What a job asks, on a machine with the devices that it names."""
        devices = job.get("devices")
        there = _Driver(frozenset(), frozenset(devices or ()))
        with contextlib.ExitStack() as machine:
            for module in ASKING if devices is not None else ():
                machine.enter_context(mock.patch(f"{module}.NOTHING", there))
            return self.session.ask(request_of(release, job, stage))

    def answer(self, release: str, job: Mapping[str, Any], stage: str) -> Answer:
        """Judge one job up to a stage."""
        return as_answer(self.session.judge(self.ask(release, job, stage)))

    def repairs(self, release: str, job: Mapping[str, Any], stage: str) -> list[list[str]]:
        """The repaired command lines that are offered for one job, best first."""
        question = self.ask(release, job, stage)
        found = repair(
            question.context, question.config, held=question.held, time_limit=REPAIR_SECONDS
        )
        return [_without_model(list(offer.argv)) for offer in found.repairs if offer.edits]


class _Driver(Taken):
    """A machine whose InfiniBand driver lists devices, perhaps none."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True

    @property
    def key(self) -> tuple[frozenset[str], frozenset[str]]:
        return self.files, self.devices | {FOLDER}

    def _isdir(self, path: Any) -> bool:
        return path == FOLDER or super()._isdir(path)

    def _listdir(self, path: Any) -> tuple[str, ...]:
        return tuple(sorted(self.devices)) if path == FOLDER else super()._listdir(path)


def request_of(release: str, job: Mapping[str, Any], stage: str) -> Request:
    """A job of the oracle as a request: the same command, facts from the same config.json."""
    path = model_path(f"@model:{job['model']}")
    tokens = [model_path(str(token)) for token in job["argv"]]
    return Request(
        command=["--model-path", path, *tokens],
        sglang=release,
        gpu=job["platform"],
        model_config=path,
        env=job.get("env") or {},
        stage=stage,
        here=True,
    )


def as_answer(result: CheckResult) -> Answer:
    """What the comparison needs of a result.

    Refusals that a machine without processes and weights cannot meet (``checked`` is ``source``)
    are passed over, since the oracle goes on behind them.
    """
    refusals = [f for f in result.errors if not f.not_reached and not _out_of_sight(f)]
    if any(finding.kind == "parse" for finding in refusals):
        return Answer("parse-error")
    verdict = str(result.verdict)
    if not refusals:
        accepted = "ok" if verdict == "invalid" else VERDICTS[verdict]
        return Answer(accepted, effective=result.effective)
    first = refusals[0]
    place = (first.ground.file, first.ground.symbol) if first.ground else None
    return Answer(VERDICTS[verdict], place, code=first.code)


def _out_of_sight(finding: Finding) -> bool:
    # Argument resolution runs whole: there "source" only says that no recorded run met the entry.
    if finding.stage in ("parse", "args") or finding.ground is None:
        return False
    return finding.ground.checked == "source"


def _without_model(argv: list[str]) -> list[str]:
    """The tokens without ``--model-path PATH``, which the oracle adds itself."""
    at = argv.index("--model-path")
    return argv[:at] + argv[at + 2 :]
