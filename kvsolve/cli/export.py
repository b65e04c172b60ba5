"""``kvsolve export``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question, vary_of

app = typer.Typer()


@app.command("export")
@asks("text")
def export(
    asked: Asked,
    *,
    to: Annotated[
        Literal["dimacs", "wcnf", "minizinc", "uvl", "smtlib"],
        typer.Option("--to", help="The language to write."),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="FLAG[=a,b]",
            help="Let this flag take all its values, or those named; repeatable. "
            "All flags that some entry reads if none is named.",
        ),
    ] = None,
    given: Given = None,
) -> int:
    """Write a context's constraints for other solvers, with the values in comments."""
    from kvsolve.outputs.exports import EXPORTS
    from kvsolve.solve.lowering.lower import lower
    from kvsolve.solve.varying import states_of

    question = base_question(asked, given)
    flags = vary_of(question.pack, vary or ())
    lowered = lower(
        question.context,
        question.config,
        vary=states_of(flags, question.pack.flags) if flags else None,
        held=question.held,
    )
    talk_of(question)
    for line in EXPORTS[to](lowered):
        emit(line + "\n")
    return 0
