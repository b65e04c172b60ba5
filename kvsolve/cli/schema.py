"""``kvsolve schema``: JSON Schemas, for editors and for programs that read the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.cli.answering import emit
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer()
_FILES: Mapping[str, str] = {
    "config": "SGLang's own --config YAML",
    "settings": "kvsolve.toml",
}
"""Schemas that are made from the declarations, with what they describe."""


@app.command("schema")
def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Which one; lists the names where none is given."),
    ] = None,
    sglang: Annotated[
        str | None,
        typer.Option(
            "--sglang",
            metavar="RELEASE",
            help="SGLang release, for `config`; the newest one known if none.",
        ),
    ] = None,
) -> int:
    """Print a JSON Schema: of SGLang's --config YAML, of kvsolve.toml, or of a verb's JSON."""
    from kvsolve.outputs.envelope import json_text
    from kvsolve.outputs.schemas import answers

    if name is None:
        emit("".join(f"{known}\n" for known in (*_FILES, *answers())))
        return 0
    emit(json_text(_schema(name, sglang)))
    return 0


def _schema(name: str, sglang: str | None) -> dict[str, Any]:
    from kvsolve.outputs.schemas import answer_schema, answers

    if name == "config":
        return _config(sglang)
    if name == "settings":
        from kvsolve.settings.schema import settings_schema

        return settings_schema()
    if name in answers():
        return answer_schema(name)
    from kvsolve.inputs.spelling import nearest

    known = (*_FILES, *answers())
    near = nearest(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise KvsolveError(f"there is no schema {name or '(nothing)'}; {hint}")


def _config(sglang: str | None) -> dict[str, Any]:
    from kvsolve.inputs.config_schema import config_schema
    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.files import constraints_directory
    from kvsolve.packs.pack import newest, resolve_release

    release = resolve_release(sglang or newest())
    # The options alone: a pack's program is not needed for this.
    return config_schema(
        FlagTable.load(constraints_directory() / "sglang" / "flags" / f"{release}.json")
    )
