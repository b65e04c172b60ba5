"""``kvsolve matrix``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.api import hider, reasons_of, session
from kvsolve.cli.answering import emit
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.scope import Given, base_request, values_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.session import Question, Request
    from kvsolve.solve.check import Prepared

app = typer.Typer()
_FIELDS = {"release": "sglang", "gpu": "gpu", "model": "family"}


@app.command("matrix")
@asks("text", "json", "jsonl", "markdown", "csv", "html")
def matrix(
    asked: Asked,
    *,
    rows: Annotated[
        str,
        typer.Option(
            "--rows", metavar="AXIS", help="FLAG or FLAG=a,b; or gpu, model, release with values."
        ),
    ],
    cols: Annotated[str, typer.Option("--cols", metavar="AXIS", help="The same, across.")],
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="AXIS", help="One matrix for each gpu, model or release."),
    ] = None,
    given: Given = None,
) -> int:
    """Tell which pairs of values go together, each cell with its reason."""
    base = base_request(asked, given)
    chosen = _context_axis(by) if by else [None]
    answers = []
    reasons: dict[str, str] = {}
    for value in chosen:
        fixed = {} if value is None or by is None else {by.partition("=")[0]: value}
        maker = _Maker(_with(base, fixed))
        answers.append(maker.matrix(rows, cols, asked.limit_s))
        reasons |= maker.reasons(answers[-1])
    emit(_render(asked.format, answers, reasons))
    unknown = any(c["state"] == "unknown" for answer in answers for c in answer["cells"])
    return 2 if unknown and not asked.allow_unknown else 0


class _Maker:
    """Makes one matrix; keeps the questions that its context axes lead to."""

    def __init__(self, base: Request) -> None:
        self._base = base
        self._questions: list[Question] = []

    def matrix(self, rows: str, cols: str, limit_s: float | None) -> dict[str, Any]:
        """The JSON of the matrix."""
        from kvsolve.solve.matrix import matrix as search

        axes = [self._axis(rows), self._axis(cols)]
        found = search(self._prepare, *axes, time_limit=limit_s)
        question = self._questions[-1]
        varied = {axis.name for axis in axes}
        context = self._context(question, varied)
        return dict(hider(question).value(replace(found, context=context).to_dict()))

    def reasons(self, answer: Mapping[str, Any]) -> dict[str, str]:
        """Message by code, for the codes of its cells."""
        codes = {code for cell in answer["cells"] for code in cell["codes"]}
        found: dict[str, str] = {}
        for question in self._questions:
            found |= reasons_of(question, codes - set(found))
        return found

    def _axis(self, text: str) -> Any:
        from kvsolve.solve.matrix import Axis

        name, equals, values = text.partition("=")
        if name in _FIELDS:
            return Axis(name, tuple(_context_axis(text)))
        pack = _pack(self._base)
        from kvsolve.api import dest_of

        dest = dest_of(pack.flags, name)
        return Axis(dest, tuple(values_of(pack.flags, dest, values)) if equals else ())

    def _prepare(self, values: Mapping[str, Any]) -> tuple[Prepared, Any]:
        question = session().ask(_with(self._base, values))
        if question.problems:
            raise KvsolveError(question.problems[0].message.rstrip("."))
        self._questions.append(question)
        return question.context, question.config

    def _context(self, question: Question, varied: set[str]) -> dict[str, Any]:
        context = question.context.context
        told = {"release": context.sglang, "gpu": context.gpu, "model": context.model}
        kept = {name: value for name, value in told.items() if name not in varied}
        command = list(question.argv)
        return {**kept, "gpus": context.gpus, "stage": question.context.stage, "argv": command}


def _with(base: Request, values: Mapping[str, Any]) -> Request:
    changes: dict[str, Any] = {_FIELDS[name]: value for name, value in values.items()}
    if "family" in changes:
        changes["model_config"] = None
    return replace(base, **changes)


def _pack(base: Request) -> Any:
    from kvsolve.packs.pack import load_pack, newest

    return load_pack(base.sglang or newest())


def _context_axis(text: str) -> list[Any]:
    """Values of an axis that chooses the context; all that are known where none are named.

    Raises:
        KvsolveError: It is none of them.
    """
    name, equals, values = text.partition("=")
    if name not in _FIELDS:
        raise KvsolveError(f"--by takes gpu, model or release, not {name}")
    if equals:
        return values.split(",")
    if name == "release":
        from kvsolve.packs.pack import releases

        return list(releases())
    if name == "gpu":
        from kvsolve.inputs.gpu import gpu_profiles

        return list(gpu_profiles())
    from kvsolve.inputs.models import model_profiles

    return [profile.name for profile in model_profiles().values() if profile.family != "draft"]


def _render(style: str, answers: list[dict[str, Any]], reasons: dict[str, str]) -> str:
    if style in ("json", "jsonl"):
        from kvsolve.outputs.envelope import head, json_line, json_text

        whole = [{**head(), **answer, "reasons": reasons} for answer in answers]
        if style == "jsonl":
            return "".join(json_line(answer) for answer in whole)
        return json_text(whole[0] if len(whole) == 1 else {**head(), "matrices": answers})
    from kvsolve.outputs import matrix as output

    if style == "html":
        return output.matrices_html(answers, reasons)
    renderers = {
        "text": output.matrix_text,
        "markdown": output.matrix_markdown,
        "csv": output.matrix_csv,
    }
    return "\n".join(renderers[style](answer, reasons) for answer in answers)
