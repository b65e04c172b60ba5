"""``kvsolve cover``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kvsolve.answers.asking import facts_of
from kvsolve.answers.enumerate import Covering, cover_of
from kvsolve.cli.answering import emit, talk_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question, vary_of

app = typer.Typer()


@app.command("cover")
@asks("text", "json", "jsonl", "csv", "shell")
def cover(
    asked: Asked,
    *,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="FLAG[=a,b]",
            help="Let this flag take all its values, or those named; repeatable. "
            "All flags that some entry reads if none is named.",
        ),
    ] = None,
    strength: Annotated[
        int,
        typer.Option("--strength", metavar="T", min=2, max=3, help="Flags in a combination."),
    ] = 2,
    given: Given = None,
) -> int:
    """Make few valid configurations in which every feasible combination of values occurs."""
    question = base_question(asked, given)
    flags = vary_of(question.pack, vary or ())
    found = cover_of(question, flags, strength, asked.limit_s)
    talk_of(question)
    if asked.format == "json":
        from kvsolve.outputs.envelope import head, json_text

        emit(json_text({**head(), **facts_of(question), **found.to_dict()}))
        return 0
    from kvsolve.outputs.configurations import Configurations

    writer = Configurations(asked.format)
    for row in found.rows:
        emit(writer.line(row.argv, row.assignment, question.pack.flags, {}))
    sys.stdout.flush()
    print(_told(found), file=sys.stderr)
    return 0


def _told(found: Covering) -> str:
    """What the rows do not show."""
    text = f"{len(found.rows)} configurations; {len(found.infeasible)} combinations of "
    text += f"{found.strength} values are infeasible (--format json lists them)"
    return text if found.complete else text + f"; {found.left} were not reached in time"
