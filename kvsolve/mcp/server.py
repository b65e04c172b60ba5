"""The MCP server: five tools that read and never write."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from kvsolve import __version__
from kvsolve.errors import KvsolveError
from kvsolve.mcp import answers
from kvsolve.model.finding import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["server"]

_LONGEST = 60.0
_INSTRUCTIONS = """\
kvsolve judges SGLang launch commands without SGLang, a GPU or the network. Call check with the
whole command; say the GPU and, for a model that is not well known, the family or a config.json, or
the verdict may be unknown. A refusal comes with a remedy; fix gives the cheapest edits that leave
nothing to refuse. `valid` means that nothing known refuses the command, not that it will run well.
"""

Answer = dict[str, Any]
Command = Annotated[
    str, Field(description="The launch command as shell text, with or without the program.")
]
Sglang = Annotated[
    str | None, Field(description="SGLang release, such as 0.5.23; the newest known if left out.")
]
Gpu = Annotated[
    str | None, Field(description="GPU profile, such as h100, b200 or mi300x; unknown if left out.")
]
Gpus = Annotated[int, Field(description="GPUs a node.", ge=1)]
ConfigJson = Annotated[
    str | None, Field(description="Path of the model's config.json, or of its directory.")
]
Family = Annotated[
    str | None,
    Field(description="Model profile, such as llama-mha, where there is no config.json."),
]
Env = Annotated[dict[str, str] | None, Field(description="Environment variables of the server.")]
Stage = Annotated[
    Literal[STAGES] | None,  # type: ignore[valid-type]
    Field(description="Judge up to this stage of a start; the last one known if left out."),
]
Limit = Annotated[
    float,
    Field(description="Seconds to search before answering with what is known.", gt=0, le=_LONGEST),
]
Values = Annotated[
    list[Any] | None,
    Field(description="Values of the axis, null for unset; all of them if left out."),
]


def check(
    command: Command,
    sglang: Sglang = None,
    gpu: Gpu = None,
    gpus: Gpus = 8,
    config_json: ConfigJson = None,
    family: Family = None,
    env: Env = None,
    stage: Stage = None,
    file_name: Annotated[
        str | None,
        Field(
            description="Where `command` is the whole text of a manifest, compose file or script: "
            "its name, such as deploy.yaml. The text is judged, no file is read."
        ),
    ] = None,
    full: Annotated[
        bool, Field(description="Also the value that every flag will have, and notes.")
    ] = False,
) -> Answer:
    """Say everything that SGLang would refuse or silently rewrite about a launch command.

    With `file_name`, every command in a file's text is judged: `results` has one answer for each.
    """
    context = _context(sglang, gpu, gpus, config_json, family, env, stage)
    if file_name:
        return answers.check_file_answer(command, file_name, context, full)
    return answers.check_answer(command, context, full)


def fix(
    command: Command,
    sglang: Sglang = None,
    gpu: Gpu = None,
    gpus: Gpus = 8,
    config_json: ConfigJson = None,
    family: Family = None,
    env: Env = None,
    stage: Stage = None,
    keep: Annotated[
        list[str] | None, Field(description="Flags to leave as they are, such as page-size.")
    ] = None,
    cost: Annotated[
        dict[str, int] | None, Field(description="Make edits of a flag so many times as dear.")
    ] = None,
    top: Annotated[int, Field(description="How many repairs.", ge=1, le=10)] = 3,
    limit_s: Limit = 20.0,
) -> Answer:
    """Find the cheapest edits of a launch command that leave nothing to refuse, best first.

    Each repair has the command to run instead. Where there is none, `conflict` says what cannot
    hold together.
    """
    context = _context(sglang, gpu, gpus, config_json, family, env, stage)
    return answers.fix_answer(command, context, keep or (), cost or {}, top, limit_s)


def options(
    command: Command,
    flags: Annotated[list[str], Field(description="Flags to ask about, such as kv-cache-dtype.")],
    sglang: Sglang = None,
    gpu: Gpu = None,
    gpus: Gpus = 8,
    config_json: ConfigJson = None,
    family: Family = None,
    env: Env = None,
    stage: Stage = None,
    limit_s: Limit = 20.0,
) -> Answer:
    """Tell what flags may still be beside a command, what a value needs, what excludes it."""
    context = _context(sglang, gpu, gpus, config_json, family, env, stage)
    return answers.options_answer(command, context, flags, limit_s)


def explain(
    about: Annotated[
        str, Field(description="A code such as KV1042, a slug, or a pasted error or traceback.")
    ],
    sglang: Sglang = None,
) -> Answer:
    """Tell all about an entry: its reason, the way out, where SGLang does it, in which releases."""
    return answers.explain_answer(about, sglang)


def matrix(
    command: Command,
    rows: Annotated[str, Field(description="A flag, or gpu, model or release.")],
    cols: Annotated[str, Field(description="The same, across.")],
    row_values: Values = None,
    col_values: Values = None,
    sglang: Sglang = None,
    gpu: Gpu = None,
    gpus: Gpus = 8,
    config_json: ConfigJson = None,
    family: Family = None,
    env: Env = None,
    stage: Stage = None,
    limit_s: Limit = 5.0,
) -> Answer:
    """Tell which values of two axes go together: yes, with edits, no, reported to fail, unknown."""
    context = _context(sglang, gpu, gpus, config_json, family, env, stage)
    axes = (rows, row_values or ()), (cols, col_values or ())
    return answers.matrix_answer(command, context, *axes, limit_s)


def _context(
    sglang: str | None,
    gpu: str | None,
    gpus: int,
    config_json: str | None,
    family: str | None,
    env: dict[str, str] | None,
    stage: str | None,
) -> dict[str, Any]:
    if config_json is not None and family is not None:
        raise KvsolveError("config_json and family both say what the model is; give one")
    return {
        "sglang": sglang,
        "gpu": gpu,
        "gpus": gpus,
        "model_config": config_json,
        "family": family,
        "env": env or {},
        "stage": stage,
    }


def server() -> MCPServer:
    """The server with its tools; ``run()`` serves stdin and stdout."""
    made = MCPServer("kvsolve", instructions=_INSTRUCTIONS, version=__version__)
    hints = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for tool in (check, fix, options, explain, matrix):
        made.tool(annotations=hints)(_telling(tool))
    return made


def _telling(tool: Callable[..., Answer]) -> Callable[..., Answer]:
    """A tool whose bad input is told as the sentence that the command line would print."""

    @functools.wraps(tool)
    def told(*args: Any, **values: Any) -> Answer:
        try:
            return tool(*args, **values)
        except KvsolveError as error:
            raise ToolError(str(error)) from None

    return told
