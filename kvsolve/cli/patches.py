"""The cheapest repair of a command as changes of its file, for formats that carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.answers.patch import patch_of
from kvsolve.answers.repair import fix_of
from kvsolve.errors import KvsolveError
from kvsolve.outputs.report import Patch, Replacement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.cli.sources import Source
    from kvsolve.files.editing import TextEdit
    from kvsolve.files.found import Document
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Question

__all__ = ["patches_of"]

_LIMIT_S = 5.0
_STDIN = "stdin"


def patches_of(
    source: Source,
    question: Question,
    result: CheckResult,
    told: Mapping[str, str],
    limit_s: float | None,
) -> tuple[Patch, ...]:
    """The cheapest repair, where there is one and the file can be edited safely.

    Args:
        source: The command and its file.
        question: The command.
        result: What the check says of it.
        told: Values for variables, as the file was read with.
        limit_s: Seconds for the proof.
    """
    found, document = source.found, source.document
    if found is None or document is None or document.path == _STDIN or not result.errors:
        return ()
    try:
        answer = fix_of(question, result, top=1, limit_s=limit_s or _LIMIT_S)
        if not answer.repairs:
            return ()
        repair = answer.repairs[0]
        patch = patch_of(question, repair, found, document, told=told)
    except KvsolveError:
        return ()
    title = ", ".join(
        dict.fromkeys(f"{edit.op} {edit.becomes or edit.flag}" for edit in repair.edits)
    )
    replacements = tuple(_replacement(document, edit) for edit in patch.edits)
    return (Patch(title, document.path, replacements, repair.removes),)


def _replacement(document: Document, edit: TextEdit) -> Replacement:
    start, end = document.location(edit.start), document.location(edit.end)
    return Replacement(start.line, start.column, end.line, end.column, edit.text)
