"""Breaking and keeping configurations of entries, found by the solver from the entries' guards.

In a *setting* (GPU, model, environment and what the command holds anyway) the program becomes
constraints over the flags; :class:`kvsolve.solve.witness.Stage` then finds the cheapest command
that shows an entry, or proves that there is none. The twin that just misses the entry is one edit
away; where no such command is accepted, it is a repair, or is refused for another reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from kvsolve.inputs.argv import parse_argv
from kvsolve.model.expression import Expr
from kvsolve.solve.judge import broken_steps
from kvsolve.solve.repair import command_tokens
from kvsolve.solve.witness import Stage

from .kvsolve_subject import request_of
from .oracle.model_configs import MODELS_DIRECTORY, model_path
from .witness_values import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.witness import Witness

    from .entry_probe import Probe

__all__ = ["Attempt", "Explorer", "Setting"]

Job = dict[str, Any]
OTHER_PLATFORMS = ("h100", "b200", "a100", "mi300x-aiter", "rtx5090", "cpu", "npu", "xpu")
OTHER_MODELS = ("llama-mha", "qwen3-moe", "deepseek-v3", "qwen3-next", "qwen2.5-vl")
HELD = frozenset(
    {
        "device",
        "json_model_override_args",
        "model_config_parser",
        "model_path",
        "speculative_draft_model_path",
    }
)
"""Flags that make another machine or another model of the same setting."""
SECONDS = 8.0
"""Of one search."""
MOST_NEAR = 60
"""Twins looked at for one entry."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where entries are to be shown.

    Attributes:
        platform: GPU profile.
        model: Model profile of the oracle.
        env: Environment variables.
        argv: Tokens that every command has.
    """

    platform: str
    model: str
    env: tuple[tuple[str, str], ...] = ()
    argv: tuple[str, ...] = ()

    def job(self, argv: Sequence[str] = ()) -> Job:
        """A job of the oracle in this setting."""
        tokens = [*self.argv, *argv]
        named = {"platform": self.platform, "model": self.model, "argv": tokens}
        return {**named, "env": dict(self.env)}


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a setting gave for one entry.

    Attributes:
        code: The entry.
        result: ``pair``, ``impossible`` (proven), ``absent`` (facts alone rule it out), ``alone``
            (no twin was found) or ``open``.
        breaks: The breaking job.
        keeps: Its twin.
        behind: Codes of the refusals that come first instead.
    """

    code: str
    result: str
    breaks: Job | None = None
    keeps: Job | None = None
    behind: tuple[str, ...] = ()


@dataclass(slots=True)
class Explorer:
    """Tries entries of one release in setting after setting.

    Attributes:
        probe: What kvsolve says of a job.
        wanted: Entry -> its steps.
        tried: Guards that were searched in vain, by step: the same guard is not searched twice.
        again: Search them twice all the same.
        anywhere: Look for every entry in every setting, also where its variables or drafts could
            make no difference to it.
    """

    probe: Probe
    wanted: dict[str, list[int]]
    tried: dict[int, set[Any]] = field(default_factory=dict)
    again: bool = False
    anywhere: bool = False

    def visit(self, setting: Setting) -> Iterator[Attempt]:
        """Try every entry still wanted in a setting; what has a pair is wanted no more."""
        question = self.probe.subject.session.ask(
            request_of(self.probe.release, setting.job(), self.probe.stage)
        )
        if question.problems:
            return
        held = HELD | set(question.config.given)
        also = self._also(held)
        stage = Stage(question.context, question.config, held=held, also=also, seconds=SECONDS)
        for code, steps in list(self.wanted.items()):
            if not (self.anywhere or self._concerns(code, setting)):
                continue
            attempt = self._try(stage, setting, code, steps)
            if attempt.result == "pair":
                del self.wanted[code]
            yield attempt

    def _concerns(self, code: str, setting: Setting) -> bool:
        """Whether a setting's variables or drafts could make a difference to an entry."""
        if setting.env:
            _, variables = self.probe.surroundings(code)
            return any(name in variables for name, _ in setting.env)
        if setting.argv:
            told = (flag for _, entry in self.probe.entries[code] for flag in entry.flags)
            return "--speculative-draft-model-path" not in setting.argv or any(
                flag.startswith("speculative_") for flag in told
            )
        return True

    def _also(self, held: frozenset[str]) -> Mapping[str, Iterable[Any]]:
        """Values that the sampler draws, for flags of which entries do not say enough."""
        found: dict[str, list[Any]] = {}
        flags = self.probe.pack.flags
        texts = {name: list(values) for name, values in self.probe.pool.values.items()}
        for name, more in VALUES.items():
            texts.setdefault(name, []).extend(more)
        for name, values in texts.items():
            flag = flags.by_spelling(name) if name in flags else None
            if flag is None or flag.dest in held or flag.choices:
                continue
            for text in values:
                told = text.split(" ") if flag.nargs in ("*", "+") else [text]
                tokens = [model_path(token) for token in told]
                parsed = parse_argv(("--model-path", "m", name, *tokens), flags, {})
                if not parsed.problems and flag.dest in parsed.given:
                    found.setdefault(flag.dest, []).append(parsed.values[flag.dest])
        return found

    def _try(self, stage: Stage, setting: Setting, code: str, steps: list[int]) -> Attempt:
        possible = [step for step in steps if stage.can_show(step)]
        fresh = [step for step in possible if self._is_fresh(stage, step)]
        if not possible:
            return Attempt(code, "absent")
        result, behind = "impossible" if fresh == possible else "open", set()
        for step in fresh:
            witness = stage.breaking(step)
            if witness.config is not None:
                return self._pair(stage, setting, code, step, witness)
            behind |= {self.probe.pack.catalog.entry(s).code for s in self._refusing(witness)}
            result = result if witness.proven else "open"
        return Attempt(code, result, behind=tuple(sorted(behind)))

    def _refusing(self, witness: Witness) -> Iterator[int]:
        kinds = self.probe.pack.steps
        return (s for s in witness.behind if s < len(kinds) and kinds[s].kind == "refuse")

    def _is_fresh(self, stage: Stage, step: int) -> bool:
        if self.again:
            return True
        guard = stage.network.constraints[stage.markers.get(step, step)].broken
        key = guard.uid if isinstance(guard, Expr) else guard
        known = self.tried.setdefault(step, set())
        return key not in known and not known.add(key)  # type: ignore[func-returns-value]

    def _pair(
        self, stage: Stage, setting: Setting, code: str, step: int, witness: Witness
    ) -> Attempt:
        assert witness.config is not None
        breaks = self._job(stage, setting, witness.config)
        if not self.probe.look(breaks).shows(code):
            return Attempt(code, "open", breaks)
        keeps = self._twin(stage, setting, code, step, witness.config)
        return Attempt(code, "pair" if keeps else "alone", breaks, keeps)

    def _twin(
        self, stage: Stage, setting: Setting, code: str, step: int, config: Config
    ) -> Job | None:
        second = None
        for near in islice(stage.near(config, [step]), MOST_NEAR):
            trace = stage.prepared.trace(near)
            refused = broken_steps(stage.prepared, trace)
            if step in refused or (refused and second is not None):
                continue
            job = self._job(stage, setting, near)
            seen = self.probe.look(job)
            if seen.lacks(code):
                return job
            if seen.first and seen.hidden(code) is None:
                second = second or job
        breaks = self._job(stage, setting, config)
        return (
            self._repaired(stage, setting, code, config) or second or self.elsewhere(breaks, code)
        )

    def _repaired(self, stage: Stage, setting: Setting, code: str, config: Config) -> Job | None:
        mended = stage.mended(config)
        if mended is None:
            return None
        job = self._job(stage, setting, mended)
        return job if self.probe.look(job).lacks(code) else None

    def elsewhere(self, job: Job, code: str) -> Job | None:
        """The same command in another environment, on another machine, for another model."""
        if job["env"] and self.probe.look({**job, "env": {}}).lacks(code):
            return {**job, "env": {}}
        for name, others in (("platform", OTHER_PLATFORMS), ("model", OTHER_MODELS)):
            for other in others:
                if self.probe.look({**job, name: other}).lacks(code):
                    return {**job, name: other}
        return None

    def _job(self, stage: Stage, setting: Setting, config: Config) -> Job:
        return self._clean(setting, command_tokens(config, stage.prepared.pack.flags))

    def _clean(self, setting: Setting, argv: Sequence[str]) -> Job:
        """A command as the oracle takes it: without the model's path, drafts by name."""
        tokens = list(argv)
        at = tokens.index("--model-path")
        del tokens[at : at + 2]
        folder = f"{MODELS_DIRECTORY}/"
        named = [t.replace(folder, "@model:") if t.startswith(folder) else t for t in tokens]
        return {**setting.job(), "argv": named}
