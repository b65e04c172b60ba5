"""The Typer application: finds the verb and imports only its module.

So a fix does not pay for the matrix, and nothing pays for the maintainers' verbs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["USAGE_ERROR", "VERBS", "app", "dispatch"]

VERBS = {
    "check": "check",
    "fix": "fix",
    "explain": "explain",
    "why": "explain",
    "conflict": "conflict",
    "options": "options",
    "list": "enumerate",
    "count": "enumerate",
    "sample": "sample",
    "cover": "cover",
    "export": "export",
    "matrix": "matrix",
    "graph": "graph",
    "rules": "known",
    "flags": "known",
    "profiles": "known",
    "packs": "packs",
    "batch": "batch",
    "schema": "schema",
    "mcp": "mcp",
    "upstream": "upstream",
}
"""Verb -> module below ``kvsolve.cli`` that defines it."""

_FAMILIES = frozenset({"packs", "upstream"})
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
"""What Typer raises for a command line that it cannot read."""


class _LazyVerbs(TyperGroup):
    """A group whose verbs are imported when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        group = get_group(import_module(f"kvsolve.cli.{VERBS[cmd_name]}").app)
        group.name = cmd_name
        verb = group if cmd_name in _FAMILIES else group.commands[cmd_name]
        from kvsolve.cli.examples import epilog

        verb.epilog = verb.epilog or epilog(cmd_name)
        return verb

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            raise KvsolveError(_unknown_verb(args[0]))
        return super().resolve_command(ctx, args)


def _unknown_verb(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, VERBS, 1)
    hint = f"did you mean {near[0]}?" if near else "`kvsolve --help` lists the verbs."
    return f"there is no verb {name}; {hint}"


app = typer.Typer(
    cls=_LazyVerbs,
    name="kvsolve",
    no_args_is_help=True,
    add_completion=True,
    help="Check, repair and map SGLang launch commands offline, before a GPU is touched.",
    epilog="Exit codes: 0 nothing found, 1 findings, 2 bad input or an unknown verdict.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from kvsolve import __version__

        print(f"kvsolve {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def dispatch(own: Sequence[str], command: Sequence[str] | None) -> int:
    """Run a verb.

    Args:
        own: Kvsolve's own tokens.
        command: Those behind ``--``, None where it is missing.

    Raises:
        USAGE_ERROR: Kvsolve's own tokens make no sense.
        KeyboardInterrupt: The user has enough.
    """
    verb = get_command(app)
    try:
        code = verb.main(list(own), "kvsolve", standalone_mode=False, obj={"command": command})
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0
