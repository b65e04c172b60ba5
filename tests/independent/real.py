"""The contexts that are looked at, and commands drawn in them, made once for all tests."""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.peers.making import Lowering, Setting, model_of
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.peers.problem import Model, Query
    from kvsolve.model.context import Config

RELEASE = "0.5.23"
LLAMA = ("h100", "meta-llama/Llama-3.1-8B-Instruct")
DEEPSEEK = ("b200", "deepseek-v4")
CONTEXTS = (LLAMA, DEEPSEEK)
COMMANDS = int(os.environ.get("KVSOLVE_COMMANDS", "120"))
"""Commands that are looked at in each context."""


class Real:
    """A context with random commands that something refuses.

    Attributes:
        setting: The context.
        lowering: Its clauses, over every state that one of the commands needs.
        model: The same as plain data; what nothing refuses.
        clauses: The same, with the numbers of classes.
        commands: The commands, each with its costs.
    """

    def __init__(self, gpu: str, model: str) -> None:
        self.setting = setting_of(gpu, model)
        configs = list(islice(self.setting.commands(5, invalid=True), COMMANDS))
        self.lowering = Lowering(self.setting, configs)
        self.model: Model = model_of(self.lowering.refusing, to=("dimacs", "wcnf"))
        self.clauses = Clauses(self.lowering.refusing)
        queries = self.lowering.queries(configs)
        self.commands: list[tuple[Config, Query]] = list(zip(configs, queries, strict=True))
        self.switches = Switches(self.lowering.refusing)

    def objection(self, true: set[int]) -> list[int] | None:
        """A clause that entries which are in no clause add for a solution; None where none."""
        model = [n if n in true else -n for n in range(1, max(map(abs, true)) + 1)]
        lowered = self.lowering.refusing
        at = self.clauses.first_states(self.clauses.chosen(model))
        box = lowered.objection(at)
        return None if box is None else self.clauses.excluding(box)


@lru_cache(maxsize=2)
def setting_of(gpu: str, model: str) -> Setting:
    """A context alone."""
    return Setting(RELEASE, gpu, model)


@lru_cache(maxsize=1)
def real(gpu: str, model: str) -> Real:
    """A context."""
    return Real(gpu, model)


def named(contexts: Sequence[tuple[str, str]] = CONTEXTS) -> list[str]:
    """Their names, for parameters."""
    return [f"{gpu}-{model.rpartition('/')[2]}" for gpu, model in contexts]
