"""``kvsolve check``."""

from __future__ import annotations

from typing import Annotated

import typer

from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.completing import command_words
from kvsolve.cli.quick import FORMATS

app = typer.Typer()
FILES = typer.Argument(
    metavar="[FILE]... [-- COMMAND]",
    help="Files or folders with launch commands, `-` for stdin; or the command behind `--`.",
    autocompletion=command_words,
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
    skip_others: Annotated[
        bool, typer.Option("--skip-others", help="Pass over files without a launch command.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="PATH", help="Findings in this file of known ones do not count."
        ),
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(
            "--write-baseline", metavar="PATH", help="Write what is found as known findings."
        ),
    ] = None,
) -> int:
    """Say everything that SGLang would refuse or silently rewrite about a launch command."""
    from kvsolve.cli.checking import run_check

    return run_check(
        asked,
        files or (),
        effective=effective,
        notes=notes,
        skip_others=skip_others,
        baseline=baseline,
        write_baseline=write_baseline,
    )
