"""The options that every verb shares: declared once, as data, whoever reads the command line."""

from __future__ import annotations

from kvsolve.model.finding import STAGES
from kvsolve.model.noun import dataclass

__all__ = ["SHARED", "Asked", "Option"]

JUDGED = "What is judged"
ANSWER = "The answer"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of kvsolve itself.

    Attributes:
        name: Attribute of :class:`Asked`; the option is its kebab spelling.
        kind: ``text``, ``texts`` (repeatable), ``path``, ``int``, ``float``, ``switch`` or
            ``choice``.
        help: What it does.
        default: Where it is not given.
        metavar: What stands for its value in the help.
        panel: Heading in the help.
        choices: For ``choice``.
        least: Smallest number.
    """

    name: str
    kind: str
    help: str
    default: object = None
    metavar: str | None = None
    panel: str = JUDGED
    choices: tuple[str, ...] = ()
    least: int | None = None

    @property
    def spelling(self) -> str:
        """As it is typed."""
        return "--" + self.name.replace("_", "-")


SHARED = (
    Option("sglang", "text", "SGLang release; the newest one known if none.", None, "RELEASE"),
    Option("gpu", "text", "GPU profile, as `kvsolve profiles` lists them.", None, "PROFILE"),
    Option("gpus", "int", "GPUs a node.", 8, "N", least=1),
    Option("model_config", "path", "The model's config.json, or its directory.", None, "PATH"),
    Option("family", "text", "Model profile, if there is no config.json.", None, "PROFILE"),
    Option("env", "texts", "Environment of the server; repeatable.", None, "NAME=VALUE"),
    Option(
        "stage",
        "choice",
        "Judge up to this stage of a start; the last one known if none.",
        choices=STAGES,
    ),
    Option("limit_s", "float", "Give up proving after so long.", None, "SECONDS", ANSWER, (), 0),
    Option(
        "fail_on",
        "choice",
        "Exit with 1 from this severity on.",
        "error",
        panel=ANSWER,
        choices=("error", "warning", "note"),
    ),
    Option("allow_unknown", "switch", "An unknown verdict exits with 0.", False, panel=ANSWER),
)
"""In the order in which the help shows them; ``--format`` differs from verb to verb."""


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
        format: Output format.
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
    format: str
