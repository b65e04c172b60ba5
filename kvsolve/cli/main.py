"""The ``kvsolve`` command: finds the verb, runs it, turns errors into one sentence.

Only the module of the verb asked for is imported, so that a check does not pay for the solver and
nothing pays for the other verbs.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["VERBS", "app", "main", "run"]

VERBS = {
    "check": "check",
    "fix": "fix",
    "explain": "explain",
    "why": "explain",
    "conflict": "conflict",
    "options": "options",
    "list": "enumerate",
    "count": "enumerate",
    "matrix": "matrix",
    "rules": "known",
    "flags": "known",
    "profiles": "known",
    "packs": "known",
    "batch": "batch",
    "upstream": "upstream",
}
"""Verb -> module below ``kvsolve.cli`` that defines it."""

BAD_INPUT = 2
READER_GONE = 141
_STDOUT = 1
_FAMILIES = frozenset({"upstream"})
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


class _LazyVerbs(TyperGroup):
    """A group whose verbs are imported when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        group = get_group(import_module(f"kvsolve.cli.{VERBS[cmd_name]}").app)
        if cmd_name in _FAMILIES:
            group.name = cmd_name
            return group
        return group.commands[cmd_name]

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


def run() -> NoReturn:
    """Entry point of the console script."""
    sys.exit(main(sys.argv[1:]))


def main(args: Sequence[str]) -> int:
    """Run one command line of kvsolve.

    Args:
        args: Tokens after the program's name; those behind ``--`` are the SGLang command.

    Returns:
        The exit code: 0 nothing found, 1 findings, 2 bad input, 130 interrupted, 141 where the
        reader of stdout has gone.
    """
    try:
        code = _dispatch(args)
        sys.stdout.flush()
        return code
    except KvsolveError as error:
        return _complain(str(error))
    except (BrokenPipeError, SystemExit):
        # The reader has gone, as in `kvsolve rules | head`; nobody is left to be told. Typer ends
        # the process where a verb meets that, and in no other case.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        return READER_GONE
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        return _complain(_explain_failure(error, args))


def _dispatch(args: Sequence[str]) -> int:
    own, command = _split(args)
    verb = get_command(app)
    code = verb.main(own, "kvsolve", standalone_mode=False, obj={"command": command})
    return code if isinstance(code, int) else 0


def _split(args: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Kvsolve's own tokens, and those behind ``--`` or None where it is missing."""
    tokens = list(args)
    if "--" not in tokens:
        return tokens, None
    at = tokens.index("--")
    return tokens[:at], tokens[at + 1 :]


def _complain(sentence: str) -> int:
    print(f"kvsolve: error: {sentence}", file=sys.stderr)
    return BAD_INPUT


def _explain_failure(error: Exception, args: Sequence[str]) -> str:
    if isinstance(error, _USAGE_ERROR):
        sentence = " ".join(error.format_message().split())  # type: ignore[attr-defined]
        looks_like_command = any("sglang" in token for token in args) and "--" not in args
        hint = ". Put the SGLang command behind `--`." if looks_like_command else ""
        return sentence.removesuffix(".") + hint
    if os.environ.get("KVSOLVE_DEBUG"):
        raise error
    detail = " ".join(str(error).split())
    return (
        f"internal error ({type(error).__name__}: {detail}); this is a bug of kvsolve, "
        "KVSOLVE_DEBUG=1 shows where it happened"
    )
