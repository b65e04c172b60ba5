"""matrix: which pairs of values go together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, hider, must_be_readable, request, session
from kvsolve.errors import KvsolveError
from kvsolve.inputs.models import MODEL_FLAGS
from kvsolve.outputs.redact import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.answers.asking import Command
    from kvsolve.model.context import Config
    from kvsolve.session import Question, Request
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.matrix import Matrix

__all__ = ["CONTEXT_FIELDS", "matrix", "matrix_of", "moved"]

CONTEXT_FIELDS = {"release": "sglang", "gpu": "gpu", "model": "family"}
"""Axis that chooses the context -> attribute of a request."""

AxisOf = tuple[str, tuple[Any, ...]]
"""Name of an axis and its values."""


def matrix(
    command: Command,
    rows: str,
    cols: str,
    *,
    row_values: Sequence[Any] = (),
    col_values: Sequence[Any] = (),
    limit_s: float | None = None,
    **context: Any,
) -> Matrix:
    """Tell which pairs of values go together.

    Args:
        command: Text or tokens to start from.
        rows: A flag, or ``gpu``, ``model`` or ``release``.
        cols: The same, across.
        row_values: Values of the rows; all where empty (a context axis needs them).
        col_values: Values of the columns.
        limit_s: Seconds for each cell.
        **context: As for :func:`check`.

    Raises:
        KvsolveError: Something in it cannot be used, or GPU or model is not known.
    """
    return matrix_of(
        request(command, **context), (rows, tuple(row_values)), (cols, tuple(col_values)), limit_s
    )


def matrix_of(base: Request, rows: AxisOf, cols: AxisOf, limit_s: float | None = None) -> Matrix:
    """The matrix around a request; see :func:`matrix`."""
    from kvsolve.solve.matrix import Axis
    from kvsolve.solve.matrix import matrix as search

    questions: list[Question] = []

    def prepare(values: Mapping[str, Any]) -> tuple[Prepared, Config]:
        question = session().ask(moved(base, values))
        must_be_readable(question)
        questions.append(question)
        return question.context, question.config

    axes = [Axis(_axis_name(base, name), values) for name, values in (rows, cols)]
    held = MODEL_FLAGS - {a.name for a in axes}
    found = search(prepare, *axes, held=held, time_limit=limit_s)
    return replace(found, context=_shared_context(questions[-1], {a.name for a in axes}))


def moved(base: Request, values: Mapping[str, Any]) -> Request:
    """A request with other values of context axes."""
    changes: dict[str, Any] = {CONTEXT_FIELDS[name]: value for name, value in values.items()}
    if "family" in changes:
        changes["model_config"] = None
    return replace(base, **changes)


def _axis_name(base: Request, name: str) -> str:
    from kvsolve.packs.pack import load_pack, newest

    if name in CONTEXT_FIELDS:
        return name
    flags = load_pack(base.sglang or newest()).flags
    dest = dest_of(flags, name)
    if is_secret_name(dest):
        raise KvsolveError(f"{flags.flag(dest).name} holds a secret, which a matrix would show")
    if dest == "model_path":
        raise KvsolveError("the axis of models is called model, with names of model profiles")
    return dest


def _shared_context(question: Question, varied: set[str]) -> dict[str, Any]:
    context = question.context.context
    told = {"release": context.sglang, "gpu": context.gpu, "model": context.model}
    kept = {name: value for name, value in told.items() if name not in varied}
    argv = list(hider(question).argv(question.argv))
    return {**kept, "gpus": context.gpus, "stage": question.context.stage, "argv": argv}
