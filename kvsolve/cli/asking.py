"""The shared options as Typer wants them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kvsolve.cli.asked import ANSWER, SHARED, Asked, Option, asked_for
from kvsolve.cli.completing import COMPLETERS
from kvsolve.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Asked", "asks"]

_TYPES: dict[str, Any] = {
    "text": str | None,
    "texts": list[str] | None,
    "path": Path | None,
    "int": int,
    "float": float | None,
    "switch": bool,
}
_NAMES = (*(option.name for option in SHARED), "format")


def asks(*formats: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a verb the shared options; it takes them as one :class:`Asked`, its first argument.

    Args:
        formats: Output formats of the verb, the usual one first.
    """

    def decorate(verb: Callable[..., int]) -> Callable[..., int]:
        def command(ctx: typer.Context, **values: Any) -> int:
            shared = {name: values.pop(name) for name in _NAMES}
            typed = {name: _plain(value) for name, value in shared.items() if _was_typed(ctx, name)}
            tokens = ctx.obj["command"]
            behind = None if tokens is None else tuple(tokens)
            asked = asked_for(behind, typed, formats)
            with Progress():
                return verb(asked, **values)

        own = list(inspect.signature(verb, eval_str=True).parameters.values())[1:]
        context = _parameter("ctx", typer.Context)
        parameters = [context, *own, *map(_shared, SHARED), _format(formats)]
        command.__name__, command.__doc__ = verb.__name__, verb.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def _was_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return str(value) if isinstance(value, Path) else value


def _shared(option: Option) -> inspect.Parameter:
    kind: Any = _TYPES.get(option.kind)
    if option.kind == "choice":
        kind = Literal[option.choices]
        kind = kind if option.default is not None else kind | None
    declared = typer.Option(
        option.spelling,
        help=option.help,
        metavar=option.metavar,
        min=option.least,
        autocompletion=COMPLETERS.get(option.name),
        rich_help_panel=option.panel,
    )
    return _parameter(option.name, Annotated[kind, declared], option.default)


def _format(formats: tuple[str, ...]) -> inspect.Parameter:
    option = typer.Option("--format", help="How to print the answer.", rich_help_panel=ANSWER)
    return _parameter("format", Annotated[Literal[formats], option], formats[0])


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    kinds = inspect.Parameter
    kind = kinds.POSITIONAL_OR_KEYWORD if default is kinds.empty else kinds.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)
