"""What the options that every verb shares say, once all that can say it was heard."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass
from kvsolve.settings.options import ANSWER, JUDGED, SHARED, Option
from kvsolve.settings.settle import settled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.settings.file import Settings

__all__ = ["ANSWER", "JUDGED", "SHARED", "Asked", "Option", "asked_for"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the shared options say.

    Attributes:
        command: Tokens behind ``--``, None where there is none.
        sglang: Release as typed.
        gpu: GPU profile.
        gpus: GPUs a node.
        model_config: A config.json or its directory.
        family: Model profile.
        env: ``NAME=VALUE`` each.
        stage: Last stage to judge.
        limit_s: Seconds for a proof.
        fail_on: Lowest severity that exits with 1.
        allow_unknown: An unknown verdict is no failure.
        exit_zero: Findings are no failure.
        format: Output format.
        typed: Those that the command line or the environment says.
        settings: The file that says the rest, None where there is none.
    """

    command: tuple[str, ...] | None
    sglang: str | None
    gpu: str | None
    gpus: int
    model_config: str | None
    family: str | None
    env: tuple[str, ...]
    stage: str | None
    limit_s: float | None
    fail_on: str
    allow_unknown: bool
    exit_zero: bool
    format: str
    typed: Mapping[str, Any] = field(default_factory=dict)
    settings: Settings | None = None

    def setting(self, name: str) -> Any:
        """What a variable or the settings say that is no shared option; None where they do not."""
        if name in self.typed:
            return self.typed[name]
        return self.settings.values.get(name) if self.settings else None

    def near(self, file: str) -> Asked:
        """What is asked of a command in a file: the settings nearest to that file hold for it.

        Raises:
            KvsolveError: They cannot be used.
        """
        from kvsolve.settings.file import nearest_settings

        if self.typed.get("settings") is not None:
            return self
        found = nearest_settings(file)
        if found is None or found == self.settings:
            return self
        return _asked(self.command, self.typed, found, self.format)


def asked_for(
    command: tuple[str, ...] | None, typed: Mapping[str, Any], formats: tuple[str, ...]
) -> Asked:
    """What the options say, with what the environment and the settings say where they do not.

    Args:
        command: Tokens behind ``--``, None where there is none.
        typed: The options that were typed.
        formats: Output formats of the verb, the usual one first.

    Raises:
        KvsolveError: A variable or the settings cannot be used.
    """
    from kvsolve.settings.environment import environment_values
    from kvsolve.settings.file import settings_for

    known = {**environment_values(), **typed}
    settings = settings_for(known.get("settings"))
    return _asked(command, known, settings, *formats)


def _asked(
    command: tuple[str, ...] | None,
    typed: Mapping[str, Any],
    settings: Settings | None,
    *formats: str,
) -> Asked:
    values = settled(typed, settings.values if settings else {}, formats)
    values.pop("settings")
    if (limit := values["limit_s"]) is not None and not limit >= 0:
        raise KvsolveError(f"--limit-s is a number of seconds from 0 on, not {limit}")
    return Asked(command, **values, typed=typed, settings=settings)
