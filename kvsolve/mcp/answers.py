"""What the tools answer: the JSON of the verbs, without what an agent would wade through."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import kvsolve
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "check_answer",
    "check_file_answer",
    "explain_answer",
    "fix_answer",
    "matrix_answer",
    "options_answer",
]

Answer = dict[str, Any]
_ONE_AT_A_TIME = Lock()
"""Tools are called from several threads, and the session keeps what it has prepared."""
_LONG = ("effective", "provenance")


def check_answer(command: str, context: Mapping[str, Any], full: bool) -> Answer:
    """A check; the values of all flags, and what SGLang does by itself, only where asked for."""
    with _ONE_AT_A_TIME:
        return _short(kvsolve.check(command, **context).to_dict(), full)


def check_file_answer(text: str, name: str, context: Mapping[str, Any], full: bool) -> Answer:
    """A check of every command in a file's text, with the place of each finding.

    Args:
        text: What is in the file.
        name: What it is called; its ending says how to read it.
        context: What holds where the file does not say it.
        full: As for :func:`check_answer`.

    Raises:
        KvsolveError: There is no command in it, or none that can be read.
    """
    from kvsolve.answers.asking import hider, session
    from kvsolve.answers.places import placed
    from kvsolve.cli.answering import question_in
    from kvsolve.cli.asked import asked_for
    from kvsolve.cli.sources import SourceError, sources_in
    from kvsolve.files.found import Document

    env = dict(context["env"])
    typed = {key: value for key, value in context.items() if value is not None}
    typed |= {"env": tuple(f"{k}={v}" for k, v in env.items()), "settings": "none"}
    asked, document = asked_for(None, typed, ("text",)), Document(name, text)
    results, errors = [], []
    with _ONE_AT_A_TIME:
        for source in sources_in(document, env):
            if isinstance(source, SourceError):
                errors.append({"line": source.line, "message": str(source)})
                continue
            question = question_in(asked, source)
            assert source.found is not None
            judged = placed(session().judge(question), source.found, document)
            results.append(_short(hider(question).result(judged).to_dict(), full))
    return {"results": results, "errors": errors}


def fix_answer(
    command: str,
    context: Mapping[str, Any],
    keep: Sequence[str],
    costs: Mapping[str, int],
    top: int,
    limit_s: float,
) -> Answer:
    """The repairs of a command, each with the command that it makes."""
    from kvsolve.outputs.repair_text import paste

    with _ONE_AT_A_TIME:
        answer = kvsolve.repair(
            command, keep=keep, costs=costs, top=top, limit_s=limit_s, **context
        ).to_dict()
    for repair in answer["repairs"]:
        repair["command"] = paste(repair["argv"], ("python", "-m", "sglang.launch_server"))
    return _short(answer, full=False)


def _short(answer: Answer, full: bool) -> Answer:
    if full:
        return answer
    kept = {key: value for key, value in answer.items() if key not in _LONG}
    kept["findings"] = [f for f in answer["findings"] if f["severity"] != "note"]
    return kept


def options_answer(
    command: str, context: Mapping[str, Any], flags: Sequence[str], limit_s: float
) -> Answer:
    """What flags may still be, with the reasons of what excludes a value."""
    with _ONE_AT_A_TIME:
        answer = kvsolve.options(command, *flags, limit_s=limit_s, **context).to_dict()
        codes = {c for flag in answer["flags"] for v in flag["values"] for c in v["codes"]}
        return {**answer, "reasons": _reasons(codes, answer["sglang"])}


def explain_answer(about: str, sglang: str | None) -> Answer:
    """One entry by its code or slug, or the entries that a pasted error may come from.

    Raises:
        KvsolveError: There is none.
    """
    with _ONE_AT_A_TIME:
        if " " not in about.strip():
            found: Sequence[Any] = [kvsolve.explain(about.strip(), sglang=sglang)]
        else:
            found = kvsolve.why(about, sglang=sglang, top=3)
        if not found:
            raise KvsolveError("no entry known fits this text")
        return {"entries": [entry.to_dict() for entry in found]}


def matrix_answer(
    command: str,
    context: Mapping[str, Any],
    rows: tuple[str, Sequence[Any]],
    cols: tuple[str, Sequence[Any]],
    limit_s: float,
) -> Answer:
    """Which pairs of values go together, with the reasons of those that do not.

    Args:
        command: The command to start from.
        context: Release, GPU, model.
        rows: A flag, or ``gpu``, ``model`` or ``release``, with values; all where there are none.
        cols: The same, across.
        limit_s: Seconds for each cell.
    """
    with _ONE_AT_A_TIME:
        release = context.get("sglang")
        answer = kvsolve.matrix(
            command,
            rows[0],
            cols[0],
            row_values=_axis_values(release, *rows),
            col_values=_axis_values(release, *cols),
            limit_s=limit_s,
            **context,
        ).to_dict()
        codes = {code for cell in answer["cells"] for code in cell["codes"]}
        return {**answer, "reasons": _reasons(codes, answer["context"].get("release"))}


def _axis_values(release: str | None, name: str, values: Sequence[Any]) -> list[Any]:
    """The values of an axis as the release's parser reads them."""
    from kvsolve.answers.matrix import CONTEXT_FIELDS

    if name in CONTEXT_FIELDS:
        return list(values) or _known(name)
    from kvsolve.answers.asking import dest_of
    from kvsolve.cli.scope import values_of
    from kvsolve.outputs.words import spoken_value
    from kvsolve.packs.pack import load_pack, newest

    flags = load_pack(release or newest()).flags
    dest = dest_of(flags, name)
    return [read for value in values for read in values_of(flags, dest, spoken_value(value))]


def _known(name: str) -> list[Any]:
    from kvsolve.inputs.gpu import gpu_profiles
    from kvsolve.inputs.models import model_profiles
    from kvsolve.packs.pack import releases

    if name == "gpu":
        return list(gpu_profiles())
    if name == "release":
        return list(releases())
    return [p.name for p in model_profiles().values() if p.family != "draft"]


def _reasons(codes: set[str], release: str | None) -> dict[str, str]:
    from kvsolve.packs.pack import load_pack, newest

    catalog = load_pack(release or newest()).catalog
    entries = ((code, catalog.by_code(code)) for code in sorted(codes))
    return {code: entry.message for code, entry in entries if entry is not None}
