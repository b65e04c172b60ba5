"""The cheapest repair of a command as changes of its file, for formats that carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.answers.asking import hider
from kvsolve.answers.filing import Place, Search, filed
from kvsolve.cli.sources import environment
from kvsolve.errors import KvsolveError
from kvsolve.outputs.report import Patch, Replacement

if TYPE_CHECKING:
    from kvsolve.answers.patch import FilePatch
    from kvsolve.cli.asked import Asked
    from kvsolve.cli.sources import Source
    from kvsolve.files.editing import TextEdit
    from kvsolve.files.found import Document
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question

__all__ = ["patches_of"]

_LIMIT_S = 5.0
_STDIN = "stdin"


def patches_of(
    source: Source, question: Question, result: CheckResult, asked: Asked
) -> tuple[Patch, ...]:
    """The cheapest repair of which the edits can be written in the file, where there is one.

    Args:
        source: The command and its file.
        question: The command.
        result: What the check says of it, suppressed findings marked.
        asked: The options of the run.
    """
    found, document = source.found, source.document
    if found is None or document is None or document.path == _STDIN:
        return ()
    here = asked.near(document.path)
    keep, costs = here.setting("keep") or (), here.setting("cost")
    search = Search(keep, costs, 1, asked.limit_s or _LIMIT_S)
    place = Place(found, document, environment(asked.env))
    try:
        told = filed(question, result, place, search)
    except KvsolveError:
        return ()
    if told.patch is None or told.written is None or _shows_secret(question, told.patch):
        return ()
    repair = told.answer.repairs[told.written]
    title = ", ".join(
        dict.fromkeys(f"{edit.op} {edit.becomes or edit.flag}" for edit in repair.edits)
    )
    replacements = tuple(_replacement(document, edit) for edit in told.patch.edits)
    return (Patch(title, document.path, replacements, repair.removes),)


def _shows_secret(question: Question, patch: FilePatch) -> bool:
    hide = hider(question)
    return any(hide.text(edit.text) != edit.text for edit in patch.edits)


def _replacement(document: Document, edit: TextEdit) -> Replacement:
    start, end = document.location(edit.start), document.location(edit.end)
    return Replacement(start.line, start.column, end.line, end.column, edit.text)
