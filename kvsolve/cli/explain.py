"""``kvsolve explain`` and ``kvsolve why``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kvsolve.cli.answering import emit, stdout_paint, width
from kvsolve.cli.completing import codes as complete_codes
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.answers.explain import Explanation

app = typer.Typer()
Release = Annotated[
    str | None,
    typer.Option(
        "--sglang", metavar="RELEASE", help="SGLang release; the newest that has it if none."
    ),
]
Format = Annotated[
    Literal["text", "json", "jsonl", "markdown"],
    typer.Option("--format", help="How to print the answer."),
]


@app.command("explain")
def explain(
    codes: Annotated[
        list[str],
        typer.Argument(metavar="CODE...", help="Codes or slugs.", autocompletion=complete_codes),
    ],
    sglang: Release = None,
    conditions: Annotated[
        bool, typer.Option("--conditions", help="Show when it happens, as read from the source.")
    ] = False,
    format: Format = "text",
) -> int:
    """Tell all about entries: reason, way out, where SGLang does it, in which releases."""
    from kvsolve.answers.explain import explain as find

    emit(_render([find(code, sglang=sglang) for code in codes], format, conditions))
    return 0


@app.command("why")
def why(
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help="Error text, log line or traceback; `-` for stdin."),
    ],
    sglang: Release = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many to tell.")] = 1,
    format: Format = "text",
) -> int:
    """Find the entry behind a pasted error, and tell all about it."""
    from kvsolve.answers.explain import why as find

    pasted = sys.stdin.read() if text == ["-"] else " ".join(text)
    found = find(pasted, sglang=sglang, top=top)
    if not found:
        raise KvsolveError("no entry known fits this text")
    emit(_render(found, format, False))
    return 0


def _render(found: Sequence[Explanation], style: str, conditions: bool) -> str:
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        rows: list[dict[str, Any]] = [explanation.to_dict() for explanation in found]
        if style == "jsonl":
            return "".join(json_line(row) for row in rows)
        return json_text({**head(), "entries": rows})
    from kvsolve.outputs.entry_text import entry_markdown, entry_text

    rows = [explanation.to_dict() for explanation in found]
    if style == "markdown":
        return "\n".join(entry_markdown(row, conditions) for row in rows)
    paint, columns = stdout_paint(), width()
    return "\n".join(entry_text(row, paint, columns, conditions) for row in rows)
