"""Commands to start from and flags to vary, for the verbs that look around a command."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvsolve.answers.asking import dest_of, must_be_readable, session
from kvsolve.answers.matrix import CONTEXT_FIELDS, moved
from kvsolve.cli.answering import request_for
from kvsolve.cli.sources import environment
from kvsolve.errors import KvsolveError
from kvsolve.inputs.argv import parse_argv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.pack import Pack
    from kvsolve.session import Question, Request

__all__ = [
    "Given",
    "base_question",
    "base_request",
    "context_values",
    "freed",
    "names_of",
    "values_of",
    "vary_of",
]

Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        metavar="FLAG=VALUE",
        help="A flag of the command, instead of writing it behind `--`; repeatable.",
    ),
]


def base_request(asked: Asked, given: Sequence[str] | None) -> Request:
    """The command to start from: behind ``--``, from ``--given``, or none but a model.

    Raises:
        KvsolveError: An option cannot be used.
    """
    tokens = [*(asked.command or ()), *_tokens(given or (), asked.sglang)]
    request = request_for(asked, tokens, environment(asked.env))
    if tokens and not _lacks_model(request):
        return request
    # A verb that maps what is possible needs no command; the model then has a profile's name.
    name = asked.family or (asked.model_config and str(asked.model_config)) or "model"
    return replace(request, command=(*tokens, "--model-path", str(name)))


def base_question(asked: Asked, given: Sequence[str] | None) -> Question:
    """The same, read.

    Raises:
        KvsolveError: The parser refuses something in it; the rest would answer another question.
    """
    question = session().ask(base_request(asked, given))
    must_be_readable(question)
    return question


def _lacks_model(request: Request) -> bool:
    question = session().ask(request)
    return "model_path" in question.pack.flags.fields and "model_path" not in question.config.given


def _tokens(given: Sequence[str], release: str | None) -> Iterator[str]:
    """The tokens that say the same; a switch that is false is left out, or said to be off."""
    if not given:
        return
    from kvsolve.packs.pack import load_pack, newest

    flags = load_pack(release or newest()).flags
    for pair in given:
        name, equals, value = pair.partition("=")
        if not name:
            raise KvsolveError(f"--given takes FLAG=VALUE, not {pair!r}")
        spelled = name if name.startswith("-") else "--" + name.replace("_", "-")
        if not equals or (spelled in flags and flags.by_spelling(spelled).takes_value):
            yield from (spelled, value) if equals else (spelled,)
        elif value.lower() != "false":
            yield from (spelled,) if value.lower() == "true" else (spelled, value)
        elif (off := spelled.replace("--", "--no-", 1)) in flags:
            yield off


def names_of(flags: FlagTable, text: str) -> list[str]:
    """Dests of flags named with commas between."""
    return [dest_of(flags, name) for name in text.split(",") if name]


def vary_of(pack: Pack, texts: Iterable[str]) -> dict[str, Sequence[Any] | None]:
    """Flags to vary with their values: ``FLAG``, ``FLAG=a,b`` or ``FLAG,FLAG``.

    Raises:
        KvsolveError: A flag or a value is not known.
    """
    vary: dict[str, Sequence[Any] | None] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if equals:
            dest = dest_of(pack.flags, name)
            vary[dest] = values_of(pack.flags, dest, values)
        else:
            vary |= dict.fromkeys(names_of(pack.flags, text))
    return vary


def values_of(flags: FlagTable, dest: str, text: str) -> list[Any]:
    """Values of a flag, with commas between, read as the release's parser reads them.

    ``unset`` is the default of a flag that is not given; switches take ``true`` and ``false``.
    """
    return [_value(flags, dest, word) for word in dict.fromkeys(text.split(","))]


def _value(flags: FlagTable, dest: str, word: str) -> Any:
    default, lower = flags.fields.get(dest), word.lower()
    if lower == "unset":
        return default
    if isinstance(default, bool) or lower in ("true", "false"):
        if lower not in ("true", "false"):
            raise KvsolveError(f"{flags.flag(dest).name} is a switch: true or false, not {word}")
        return lower == "true"
    parsed = parse_argv(["--model-path", "m", flags.flag(dest).name, word], flags)
    if parsed.problems:
        problem = parsed.problems[0]
        allowed = f"; it takes {', '.join(problem.suggestions)}" if problem.suggestions else ""
        raise KvsolveError(f"{flags.flag(dest).name} does not take {word or '(nothing)'}{allowed}")
    return parsed.values[dest]


def freed(
    asked: Asked, given: Sequence[str] | None, vary: Sequence[str] | None
) -> tuple[list[tuple[dict[str, Any], Question]], list[str]]:
    """The contexts that ``--vary gpu,model,release`` makes, and what else is to vary.

    Returns:
        For each context the values that make it and the command read for it (one context without
        values where none is freed); the texts of ``--vary`` that name flags.

    Raises:
        KvsolveError: The command cannot be read, or a value is no profile or release.
    """
    axes: dict[str, list[Any]] = {}
    flags: list[str] = []
    for text in vary or ():
        for part in [text] if "=" in text else text.split(","):
            name = part.partition("=")[0]
            if name in CONTEXT_FIELDS:
                axes[name] = context_values(part)
            else:
                flags.append(part)
    base = base_request(asked, given)
    contexts = []
    for values in product(*axes.values()):
        wanted = dict(zip(axes, values, strict=True))
        question = session().ask(moved(base, wanted))
        must_be_readable(question)
        contexts.append((wanted, question))
    return contexts, flags


def context_values(text: str) -> list[Any]:
    """Values of an axis that chooses the context; all that are known where none are named.

    Raises:
        KvsolveError: It is none of them.
    """
    name, equals, values = text.partition("=")
    if name not in CONTEXT_FIELDS:
        raise KvsolveError(f"--by takes gpu, model or release, not {name}")
    if equals:
        return list(dict.fromkeys(values.split(",")))
    if name == "release":
        from kvsolve.packs.pack import releases

        return list(releases())
    if name == "gpu":
        from kvsolve.inputs.gpu import gpu_profiles

        return list(gpu_profiles())
    from kvsolve.inputs.models import model_profiles

    return [profile.name for profile in model_profiles().values() if profile.family != "draft"]
