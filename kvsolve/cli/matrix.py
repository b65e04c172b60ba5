"""``kvsolve matrix``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.answers.asking import dest_of
from kvsolve.answers.matrix import CONTEXT_FIELDS, matrix_of, moved
from kvsolve.cli.answering import emit, width
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_request, context_values, names_of, values_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kvsolve.packs.pack import Pack
    from kvsolve.session import Request

app = typer.Typer()


@app.command("matrix")
@asks("text", "json", "jsonl", "markdown", "csv", "html", "latex")
def matrix(
    asked: Asked,
    *,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows", metavar="AXIS", help="FLAG or FLAG=a,b; or gpu, model, release with values."
        ),
    ] = None,
    cols: Annotated[
        str | None, typer.Option("--cols", metavar="AXIS", help="The same, across.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="AXIS", help="One matrix for each gpu, model or release."),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Every pair of values of every modelled flag: what clashes."),
    ] = False,
    flag: Annotated[
        list[str] | None,
        typer.Option("--flag", metavar="FLAG,...", help="With --full: only these; repeatable."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="With --full and CSV: also the pairs that work.")
    ] = False,
    given: Given = None,
) -> int:
    """Tell which pairs of values go together, each cell with its reason."""
    base = base_request(asked, given)
    if full:
        if rows or cols or by:
            raise KvsolveError(
                "--full takes all flags, or those of --flag; not --rows, --cols or --by"
            )
        return _full(asked, base, flag or (), every=every)
    if flag or every:
        raise KvsolveError(f"{'--flag' if flag else '--every'} goes with --full")
    if rows is None or cols is None:
        raise KvsolveError("name two axes with --rows and --cols, or ask for --full")
    name = by.partition("=")[0] if by else ""
    bases = [moved(base, {name: value}) for value in context_values(by)] if by else [base]
    answers: list[dict[str, Any]] = []
    reasons: dict[str, str] = {}
    for request in bases:
        found = matrix_of(request, _axis(request, rows), _axis(request, cols), asked.limit_s)
        answers.append(found.to_dict())
        reasons |= _reasons(found.to_dict(), request)
    emit(_render(asked.format, answers, reasons))
    unknown = any(c["state"] == "unknown" for answer in answers for c in answer["cells"])
    return 2 if unknown and not asked.allow_unknown else 0


def _full(asked: Asked, base: Request, flags: Sequence[str], *, every: bool) -> int:
    from kvsolve.answers.full import full_of

    table = _pack(base.sglang).flags
    names = [dest for text in flags for dest in names_of(table, text)]
    found = full_of(base, names, asked.limit_s)
    emit(_full_rendered(asked.format, found, every))
    return 0 if found["complete"] or asked.allow_unknown else 2


def _full_rendered(style: str, found: dict[str, Any], every: bool) -> str:
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        return (json_line if style == "jsonl" else json_text)({**head(), **found})
    if style == "html":
        from kvsolve.outputs.full_html import full_html

        return full_html(found)
    from kvsolve.outputs import full as output

    if style == "text":
        return output.full_text(found, width())
    if style == "csv":
        return output.full_csv(found, every=every)
    if style == "latex":
        raise KvsolveError(
            "the full matrix comes as text, markdown, csv, json or html, not as latex"
        )
    return output.full_markdown(found)


def _axis(base: Request, text: str) -> tuple[str, tuple[Any, ...]]:
    name, equals, values = text.partition("=")
    if name in CONTEXT_FIELDS:
        return name, tuple(context_values(text))
    flags = _pack(base.sglang).flags
    dest = dest_of(flags, name)
    return dest, tuple(values_of(flags, dest, values)) if equals else ()


def _reasons(answer: Mapping[str, Any], base: Request) -> dict[str, str]:
    """Message by code, for the codes of its cells, from the releases that it covers."""
    codes = {code for cell in answer["cells"] for code in cell["codes"]}
    axes = (answer["rows"], answer["cols"])
    releases = [axis["values"] for axis in axes if axis["name"] == "release"]
    found: dict[str, str] = {}
    for release in releases[0] if releases else [base.sglang]:
        for code in codes - set(found):
            entry = _pack(release).catalog.by_code(code)
            if entry is not None:
                found[code] = entry.message
    return found


def _pack(wanted: str | None) -> Pack:
    from kvsolve.packs.pack import load_pack, newest

    return load_pack(wanted or newest())


def _render(style: str, answers: list[dict[str, Any]], reasons: dict[str, str]) -> str:
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        whole = [{**head(), **answer, "reasons": reasons} for answer in answers]
        if style == "jsonl":
            return "".join(json_line(answer) for answer in whole)
        return json_text(whole[0] if len(whole) == 1 else {**head(), "matrices": answers})
    if style == "html":
        from kvsolve.outputs.matrix_html import matrices_html

        return matrices_html(answers, reasons)
    return "\n".join(_renderer(style)(answer, reasons) for answer in answers)


def _renderer(style: str) -> Callable[[Mapping[str, Any], Mapping[str, str]], str]:
    if style == "latex":
        from kvsolve.outputs.matrix_latex import matrix_latex

        return matrix_latex
    from kvsolve.outputs import matrix as output

    if style == "text":
        return lambda answer, reasons: output.matrix_text(answer, reasons, width())
    return output.matrix_markdown if style == "markdown" else output.matrix_csv
