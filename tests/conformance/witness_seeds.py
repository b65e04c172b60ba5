"""Commands near entries that the settings do not reach: ``witness_seeds.txt``, a line each.

A line is ``CODE RELEASE GPU MODEL [NAME=VALUE ...] -- FLAGS``; the name ``devices`` gives the
InfiniBand devices of the machine, and a mark ``CODE!`` keeps all flags. From there the entry is
shown as it stands, or by going round the refusals in front of it, or by the solver with the flags
held; its twin is an edit away.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .witness_search import Explorer, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .entry_probe import Probe

__all__ = ["SEEDS", "Seed", "read_seeds", "sprout"]

Job = dict[str, Any]
SEEDS = Path(__file__).with_name("witness_seeds.txt")
MOST_TWINS = 400


@dataclass(frozen=True, slots=True)
class Seed:
    """Where to begin for one entry.

    Attributes:
        code: The entry.
        release: A release that has it.
        setting: GPU, model and environment; no tokens.
        argv: The flags.
        devices: InfiniBand devices of the machine, None for a machine without such a driver.
        whole: The command is shown as it stands, with flags that kvsolve takes for superfluous.
    """

    code: str
    release: str
    setting: Setting
    argv: tuple[str, ...]
    devices: tuple[str, ...] | None = None
    whole: bool = False

    @property
    def job(self) -> Job:
        """The seed as a job of the oracle."""
        job = self.setting.job(self.argv)
        return job if self.devices is None else {**job, "devices": list(self.devices)}


def read_seeds(path: Path = SEEDS) -> Iterator[Seed]:
    """The seeds of a file, in its order."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head, _, tail = line.partition(" -- ")
        code, release, gpu, model, *variables = shlex.split(head.removesuffix(" --"))
        named = dict(variable.split("=", 1) for variable in variables)
        listed = named.pop("devices", None)
        devices = None if listed is None else tuple(filter(None, listed.split(",")))
        setting = Setting(gpu, model, tuple(named.items()))
        argv = tuple(shlex.split(tail))
        yield Seed(code.rstrip("!"), release, setting, argv, devices, code.endswith("!"))


def sprout(probe: Probe, seed: Seed) -> tuple[Job, Job] | None:
    """The pair that grows from a seed, as kvsolve sees it; None where none does."""
    code, job = seed.code, seed.job
    seen = probe.look(job)
    if seen.leaves_open(code) and not seen.shows(code):
        keeps = _twin(probe, job, code)
        return None if keeps is None else (job, keeps)
    shown = job if seen.shows(code) else probe.uncover(job, code)
    if shown is None:
        return _searched(probe, seed)
    for breaks in [shown] if seed.whole else _shorter(probe, shown, code):
        keeps = _twin(probe, breaks, code)
        if keeps is not None:
            return breaks, keeps
    return None


def _shorter(probe: Probe, job: Job, code: str) -> Iterator[Job]:
    least = probe.shrink(job, code)
    yield least
    if least != job:
        yield job


def _twin(probe: Probe, job: Job, code: str) -> Job | None:
    """A job an edit away without the entry, accepted where there is one.

    The last resort, for a write that is always made: a job in which it writes something else.
    """
    value = probe.look(job).writes.get(code)
    second = other = None
    bare = [{**job, "env": {}}] if job["env"] else []
    for number, twin in enumerate(chain(bare, probe.twins(job, code))):
        seen = probe.look(twin)
        if seen.lacks(code):
            return twin
        if seen.first and seen.hidden(code) is None:
            second = second or twin
        if value is not None and seen.shows(code) and seen.writes[code] != value:
            other = other or twin
        if number > MOST_TWINS:
            break
    return second or Explorer(probe, {}).elsewhere(job, code) or other


def _searched(probe: Probe, seed: Seed) -> tuple[Job, Job] | None:
    """The pair that the solver finds with the seed's flags held."""
    wanted = {seed.code: [number for number, _ in probe.entries[seed.code]]}
    where = Setting(seed.setting.platform, seed.setting.model, seed.setting.env, seed.argv)
    for attempt in Explorer(probe, wanted, anywhere=True).visit(where):
        if attempt.result == "pair" and attempt.breaks and attempt.keeps:
            return attempt.breaks, attempt.keeps
    return None
