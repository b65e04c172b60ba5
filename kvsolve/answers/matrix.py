"""matrix: which pairs of values go together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, hider, must_be_readable, request, session
from kvsolve.answers.spreading import cores, spread
from kvsolve.errors import KvsolveError
from kvsolve.inputs.models import MODEL_FLAGS
from kvsolve.outputs.redact import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kvsolve.answers.asking import Command
    from kvsolve.model.context import Config
    from kvsolve.session import Question, Request
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.matrix import Cell, Matrix, Part

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

    axes = [Axis(_axis_name(base, name), values) for name, values in (rows, cols)]
    held = MODEL_FLAGS - {a.name for a in axes}
    first = _readable(base, {a.name: a.values[0] for a in axes if a.is_context and a.values})

    def judge(parts: Sequence[Part]) -> Iterable[Sequence[Cell]]:
        return spread(judged, base, parts, cores() if _is_long(parts) else 1)

    found = search(
        lambda wanted: _situation(base, wanted),
        *axes,
        held=sorted(held),
        time_limit=limit_s,
        judge=judge,
    )
    return replace(found, context=_shared_context(first, {a.name for a in axes}))


def judged(base: Request, part: Part) -> Sequence[Cell]:
    """The cells of a part of the matrix around a request; what worker processes do."""
    from kvsolve.solve.matrix import judged_part

    return judged_part(lambda wanted: _situation(base, wanted), part)


def _is_long(parts: Sequence[Part]) -> bool:
    """Whether starting processes pays: each needs about as long as the cells of two contexts."""
    return len(parts) > 4 or sum(len(part.cells) for part in parts) > 800


def _situation(base: Request, wanted: Mapping[str, Any]) -> tuple[Prepared, Config]:
    question = _readable(base, wanted)
    return question.context, question.config


def _readable(base: Request, wanted: Mapping[str, Any]) -> Question:
    question = session().ask(moved(base, wanted))
    must_be_readable(question)
    return question


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
