"""``kvsolve batch``: many configurations, JSON lines in and out."""

from __future__ import annotations

import io
import json
import sys
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.answers.asking import hider, session
from kvsolve.answers.repair import fix_of
from kvsolve.cli.asking import Asked, asks
from kvsolve.cli.sources import environment
from kvsolve.errors import KvsolveError
from kvsolve.model.finding import STAGES
from kvsolve.outputs.result_line import compact, result_line
from kvsolve.session import Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

app = typer.Typer()

_TYPES: dict[str, tuple[type, ...]] = {
    "sglang": (str,),
    "gpu": (str,),
    "gpus": (int,),
    "model_config": (str,),
    "family": (str,),
    "env": (dict,),
    "stage": (str,),
}
_NAMES = {str: "a text", int: "an integer", dict: "an object", list: "a list"}


class LineError(KvsolveError):
    """A line of a batch cannot be used."""


@app.command("batch")
@asks("jsonl")
def batch(
    asked: Asked,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines; `-` for stdin.")] = "-",
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Also repair what is refused.")] = False,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Repairs a line.")] = 3,
) -> int:
    """Judge one configuration a line: {"id", "argv": [...], "sglang"?, "gpu"?, ...}.

    The options are defaults for what a line does not say. A line that cannot be used gives
    {"id", "error"}, and the run goes on; the exit code is then 2.
    """
    defaults = {
        "sglang": asked.sglang,
        "gpu": asked.gpu,
        "gpus": asked.gpus,
        "model_config": str(asked.model_config) if asked.model_config else None,
        "family": asked.family,
        "env": environment(asked.env),
        "stage": asked.stage,
    }
    bad = 0
    write = sys.stdout.write
    for number, text in _lines(file):
        answer, good = _answer(number, text, defaults, asked, top if fix else 0)
        bad += not good
        write(answer + "\n")
    return 2 if bad else 0


def _lines(file: str) -> Iterator[tuple[int, str]]:
    # What is no UTF-8 is kept until its line is read, so that it costs that line alone.
    if file == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        yield from _full(sys.stdin)
        return
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as handle:
            yield from _full(handle)
    except OSError as error:
        raise KvsolveError(f"{file}: cannot be read: {error.strerror}") from None


def _full(handle: IO[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(handle, 1) if line.strip())


def _answer(
    number: int, text: str, defaults: Mapping[str, Any], asked: Asked, top: int
) -> tuple[str, bool]:
    """The answer to a line, as a line, and whether there is one."""
    ident = None
    try:
        line = _object(text)
        ident = line.get("id")
        question = session().ask(_request(line, defaults))
        result = session().judge(question)
        if top:
            answer = fix_of(question, result, top=top, limit_s=asked.limit_s).to_dict()
            return compact({"id": ident, **answer}), True
        return result_line(hider(question).result(result), ident), True
    except KvsolveError as error:
        problem = str(error)
    except RecursionError:
        problem = "a value is nested too deeply"
    return compact({"id": ident, "error": problem, "line": number}), False


def _object(text: str) -> dict[str, Any]:
    try:
        text.encode()
        line = json.loads(text)
    except UnicodeEncodeError:
        raise LineError("the line is not UTF-8 text") from None
    except ValueError as error:
        raise LineError(f"the line is no JSON: {error}") from None
    if not isinstance(line, dict):
        raise LineError("the line is no JSON object")
    if "\\u" in text:
        try:
            compact(line).encode()
        except UnicodeEncodeError:
            raise LineError("the line holds an escape that is half a character") from None
    return line


def _request(line: Mapping[str, Any], defaults: Mapping[str, Any]) -> Request:
    argv = line.get("argv")
    if not isinstance(argv, list) or not all(isinstance(token, str) for token in argv):
        raise LineError("argv is a list of texts" if "argv" in line else "argv is missing")
    unknown = sorted(set(line) - {"id", "argv", *_TYPES})
    if unknown:
        raise LineError(f"there is no key {unknown[0]}; known are id, argv, {', '.join(_TYPES)}")
    values = dict(defaults)
    for name, types in _TYPES.items():
        value = line.get(name)
        if value is None:
            continue
        if not isinstance(value, types) or isinstance(value, bool):
            raise LineError(f"{name} is {_NAMES[types[0]]}")
        values[name] = value
    if line.get("env") is not None:
        values["env"] = {**defaults["env"], **_texts(line["env"])}
    if line.get("model_config") and not line.get("family"):
        values["family"] = None
    if line.get("family") and not line.get("model_config"):
        values["model_config"] = None
    if values["model_config"] and values["family"]:
        raise LineError("model_config and family both say what the model is; give one")
    if values["stage"] not in (None, *STAGES):
        raise LineError(f"stage is one of {', '.join(STAGES)}")
    if values["gpus"] < 1:
        raise LineError("gpus is at least 1")
    return Request(argv, ident=line.get("id"), names_model=False, **values)


def _texts(env: Mapping[Any, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in env.values()):
        raise LineError("the values of env are texts")
    return dict(env)
