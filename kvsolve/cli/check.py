"""``kvsolve check``."""

from __future__ import annotations

from typing import Annotated

import typer

from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.quick import FORMATS

app = typer.Typer()
FILES = typer.Argument(
    metavar="[FILE]... [-- COMMAND]",
    help="Shell files with a launch command, `-` for stdin; or the command behind `--`.",
)


@app.command("check")
@asks(*FORMATS)
def check(
    asked: Asked,
    files: Annotated[list[str] | None, FILES] = None,
    *,
    effective: Annotated[
        bool, typer.Option("--effective", help="Print what will really run, ready to paste.")
    ] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Show every default that SGLang replaces.")
    ] = False,
) -> int:
    """Say everything that SGLang would refuse or silently rewrite about a launch command."""
    from kvsolve.cli.checking import run_check

    return run_check(asked, files or (), effective=effective, notes=notes)
