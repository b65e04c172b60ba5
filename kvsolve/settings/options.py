"""Kvsolve's own options: declared once, as data, whoever reads them.

The command line, the environment and the configuration file take the same ones.
"""

from __future__ import annotations

from kvsolve.model.finding import STAGES
from kvsolve.model.noun import dataclass

__all__ = ["ANSWER", "JUDGED", "SHARED", "Option"]

JUDGED = "What is judged"
ANSWER = "The answer"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of kvsolve itself.

    Attributes:
        name: Attribute of what is asked; the option is its kebab spelling.
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
    Option("exit_zero", "switch", "Findings exit with 0; bad input does not.", False, panel=ANSWER),
    Option(
        "settings",
        "path",
        "Read this file of settings; `none` for no file. "
        "The nearest kvsolve.toml or pyproject.toml upwards if not given.",
        None,
        "PATH",
        ANSWER,
    ),
)
"""In the order in which the help shows them; ``--format`` differs from verb to verb."""
