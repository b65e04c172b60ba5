"""``kvsolve graph``: how flags and entries hang together."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kvsolve.answers.graph import graph_of
from kvsolve.cli.answering import emit, talk_of, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_question, names_of

app = typer.Typer()


@app.command("graph")
@asks("text", "json", "jsonl", "dot", "graphml")
def graph(
    asked: Asked,
    *,
    flag: Annotated[
        list[str] | None,
        typer.Option("--flag", metavar="FLAG,...", help="Look around these flags; repeatable."),
    ] = None,
    hubs: Annotated[int, typer.Option("--hubs", metavar="N", min=0, help="Name N hubs.")] = 20,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Tie refusals to all that decides them, through rewrites too."),
    ] = False,
    given: Given = None,
) -> int:
    """Show which flags the entries of a context tie together: hubs, groups, the whole graph."""
    question = base_question(asked, given)
    around = [dest for text in flag or () for dest in names_of(question.pack.flags, text)]
    found = graph_of(question, around, hubs, deep=deep)
    talk_of(question)
    emit(_render(asked.format, found))
    return 0


def _render(style: str, found: dict[str, Any]) -> str:
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        return (json_line if style == "jsonl" else json_text)({**head(), **found})
    from kvsolve.outputs import graph as output

    if style == "text":
        return output.graph_text(found, width())
    return output.graph_dot(found) if style == "dot" else output.graph_graphml(found)
