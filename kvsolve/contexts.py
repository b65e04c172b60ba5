"""The contexts that a command is judged in: one for each GPU and model that it may run with.

What a command does not say of its machine and its model leaves many contexts. They are prepared
once and kept together, since the commands of a tree mostly leave the same things open.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import GpuProfile, gpu_profile, gpu_profiles
from kvsolve.inputs.model_config import unread_types
from kvsolve.inputs.models import ResolvedModel, find_model, model_profiles, resolve_model
from kvsolve.inputs.serving_machine import NOTHING, taken_for_granted
from kvsolve.model.context import Context
from kvsolve.solve.check import Prepared
from kvsolve.solve.together import Together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.model.context import Config
    from kvsolve.packs.pack import Pack
    from kvsolve.session import Request

__all__ = ["Contexts", "Spread"]

_KEPT = 1600
"""Contexts kept: those of two commands of which neither GPU nor model is known."""
_SEARCHED = 24
"""Contexts kept in which repairs were looked for: these take ten megabytes."""


class Spread(NamedTuple):
    """The contexts of a command.

    Attributes:
        key: Two commands with the same key have the same contexts.
        prepared: One for each GPU and model that the command may run with.
        together: These, to run a command in all of them.
    """

    key: tuple[Any, ...]
    prepared: tuple[Prepared, ...]
    together: Together


class Contexts:
    """Prepares contexts, and keeps those that were asked for last."""

    def __init__(self) -> None:
        self._spreads: OrderedDict[tuple[Any, ...], Spread] = OrderedDict()

    def of(self, request: Request, pack: Pack, config: Config, env: Mapping[str, str]) -> Spread:
        """The contexts of a command.

        Args:
            request: What is known of GPU and model.
            pack: The release.
            config: The command's flags.
            env: Its environment.

        Raises:
            KvsolveError: A profile is not known, or a model's file cannot be used.
        """
        named = config.values.get("model_path") if "model_path" in config.given else None
        model = resolve_model(
            named,
            config=Path(request.model_config) if request.model_config else None,
            family=request.family,
        )
        maker = _Maker(request, pack, config, env, model)
        found = self._spreads.get(maker.key)
        if found is None:
            prepared = tuple(maker.contexts())
            found = Spread(maker.key, prepared, Together(prepared))
            self._spreads[maker.key] = found
            self._forget()
        else:
            self._spreads.move_to_end(maker.key)
        return found

    def _forget(self) -> None:
        """Drop the contexts that were not asked for the longest, never those asked for last."""
        kept = searched = 0
        for key, spread in reversed([*self._spreads.items()]):
            dear = sum(prepared.is_searched for prepared in spread.prepared)
            size = len(spread.prepared)
            if kept and (kept + size > _KEPT or (dear and searched + dear > _SEARCHED)):
                del self._spreads[key]
            else:
                kept, searched = kept + size, searched + dear


class _Maker:
    """Makes the contexts of one command."""

    def __init__(
        self,
        request: Request,
        pack: Pack,
        config: Config,
        env: Mapping[str, str],
        model: ResolvedModel,
    ) -> None:
        self.request, self.pack, self.env, self.model = request, pack, env, model
        self.taken = NOTHING if request.here else taken_for_granted(config)
        self.overrides = _text(config, "json_model_override_args")
        self.named = _text(config, "model_path")
        self.draft = _text(config, "speculative_draft_model_path")
        self.remote = config.values.get("trust_remote_code") is True
        # Profiles stand for any model of which nothing is known; so may a draft model be, though.
        self.stands_in = model.files is None and self.draft is None
        if self.stands_in:
            self.named = None
        self.key = (
            pack.release,
            request.gpu,
            request.gpus,
            "" if self.stands_in else model.name,
            model.origin,
            tuple(sorted(env.items())),
            self.overrides,
            self.named,
            self.draft,
            self.remote,
            request.stage,
            self.taken.key,
        )

    def contexts(self) -> Iterator[Prepared]:
        wanted = self.request.gpu
        for gpu in [gpu_profile(wanted)] if wanted else gpu_profiles().values():
            for model in [self.model] if self.model.files else _profiles_of(self.model):
                yield Prepared(self.pack, self._context(gpu, model), self.request.stage)

    def _context(self, gpu: GpuProfile, model: ResolvedModel) -> Context:
        release = self.pack.release
        facts = context_facts(
            release,
            gpu,
            model.files,
            gpus=self.request.gpus,
            env=self.env,
            overrides=_overrides(self.overrides),
            draft=find_model(self.draft) if self.draft else None,
            model_path=self.named,
            stands_in=self.stands_in,
        )
        facts |= self.taken.facts()
        return Context(
            release,
            gpu.name,
            self.request.gpus,
            model.name,
            model.origin,
            facts,
            dict(self.env),
            unread_types(release, model.files, remote=self.remote),
        )


def _profiles_of(model: ResolvedModel) -> Iterator[ResolvedModel]:
    """The profiles that a model of which nothing is known may be like."""
    for profile in model_profiles().values():
        if profile.family != "draft":
            yield ResolvedModel(profile.name, profile.files, model.origin)


def _text(config: Config, dest: str) -> str | None:
    """The value of a flag where it is a text, and not one that nobody knows."""
    value = config.values.get(dest)
    return value if isinstance(value, str) else None


def _overrides(text: Any) -> Mapping[str, Any] | None:
    """``--json-model-override-args``; what is no JSON object is told as a problem."""
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None
