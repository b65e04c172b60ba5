"""The options that every verb shares, declared once."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Asked", "asks"]

_JUDGED = "What is judged"
_ANSWER = "The answer"

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "sglang": (
        Annotated[
            str | None,
            typer.Option(
                "--sglang",
                metavar="RELEASE",
                help="SGLang release; the newest one known where not given.",
                rich_help_panel=_JUDGED,
            ),
        ],
        None,
    ),
    "gpu": (
        Annotated[
            str | None,
            typer.Option(
                "--gpu",
                metavar="PROFILE",
                help="GPU profile, as `kvsolve profiles` lists them.",
                rich_help_panel=_JUDGED,
            ),
        ],
        None,
    ),
    "gpus": (
        Annotated[
            int,
            typer.Option(
                "--gpus", metavar="N", min=1, help="GPUs a node.", rich_help_panel=_JUDGED
            ),
        ],
        8,
    ),
    "model_config": (
        Annotated[
            Path | None,
            typer.Option(
                "--model-config",
                metavar="PATH",
                help="The model's config.json, or its directory.",
                rich_help_panel=_JUDGED,
            ),
        ],
        None,
    ),
    "family": (
        Annotated[
            str | None,
            typer.Option(
                "--family",
                metavar="PROFILE",
                help="Model profile, where there is no config.json at hand.",
                rich_help_panel=_JUDGED,
            ),
        ],
        None,
    ),
    "env": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--env",
                metavar="NAME=VALUE",
                help="Environment variable of the server; repeatable.",
                rich_help_panel=_JUDGED,
            ),
        ],
        None,
    ),
    "stage": (
        Annotated[
            Literal["parse", "args", "load", "pool", "attention", "request"] | None,
            typer.Option(
                "--stage",
                help="Judge up to this stage of a start; the last one known where not given.",
                rich_help_panel=_JUDGED,
            ),
        ],
        None,
    ),
    "limit_s": (
        Annotated[
            float | None,
            typer.Option(
                "--limit-s",
                metavar="SECONDS",
                min=0.0,
                help="Give up proving after so many seconds.",
                rich_help_panel=_ANSWER,
            ),
        ],
        None,
    ),
    "fail_on": (
        Annotated[
            Literal["error", "warning", "note"],
            typer.Option(
                "--fail-on", help="Exit with 1 from this severity on.", rich_help_panel=_ANSWER
            ),
        ],
        "error",
    ),
    "allow_unknown": (
        Annotated[
            bool,
            typer.Option(
                "--allow-unknown", help="An unknown verdict exits with 0.", rich_help_panel=_ANSWER
            ),
        ],
        False,
    ),
}


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
    model_config: Path | None
    family: str | None
    env: tuple[str, ...]
    stage: str | None
    limit_s: float | None
    fail_on: str
    allow_unknown: bool
    format: str


_SHARED = tuple(f.name for f in fields(Asked) if f.name not in ("command", "format"))


def asks(*formats: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a verb the shared options; it takes them as one :class:`Asked`, its first argument.

    Args:
        formats: Output formats of the verb, the usual one first.
    """

    def decorate(verb: Callable[..., int]) -> Callable[..., int]:
        def command(ctx: typer.Context, **values: Any) -> int:
            shared = {name: values.pop(name) for name in _SHARED}
            shared["env"] = tuple(shared["env"] or ())
            tokens = ctx.obj["command"]
            behind = None if tokens is None else tuple(tokens)
            return verb(Asked(behind, format=values.pop("format"), **shared), **values)

        own = list(inspect.signature(verb, eval_str=True).parameters.values())[1:]
        parameters = [_context(), *own, *_shared_parameters(), _format(formats)]
        command.__name__, command.__doc__ = verb.__name__, verb.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def _context() -> inspect.Parameter:
    return _parameter("ctx", typer.Context)


def _shared_parameters() -> Sequence[inspect.Parameter]:
    return [_parameter(name, *_OPTIONS[name]) for name in _SHARED]


def _format(formats: tuple[str, ...]) -> inspect.Parameter:
    option = typer.Option("--format", help="How to print the answer.", rich_help_panel=_ANSWER)
    return _parameter("format", Annotated[Literal[formats], option], formats[0])


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if default is inspect.Parameter.empty:
        return inspect.Parameter(name, kind, annotation=annotation)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )
