"""``kvsolve check``."""

from __future__ import annotations

from typing import Annotated

import typer

from kvsolve.cli.asking import Asked, asks

app = typer.Typer()


@app.command("check")
@asks("text", "json", "jsonl", "markdown")
def check(
    asked: Asked,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]... [-- COMMAND]", help="Files with a command, `-` for stdin."
        ),
    ] = None,
    *,
    effective: Annotated[
        bool, typer.Option("--effective", help="Show what will really run.")
    ] = False,
    notes: Annotated[bool, typer.Option("--notes", help="Show every default replaced.")] = False,
) -> int:
    """Say everything that SGLang would refuse or silently rewrite about a launch command."""
    print(asked, files)
    return 0
