"""What will really run: the command with every value as upstream's resolution leaves it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from kvsolve.outputs.words import command_lines, short_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.finding import CheckResult
    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["effective_argv", "effective_text", "tokens_of"]

Span = tuple[str, tuple[str, ...]]
"""An option of the command: the dest that it sets and its tokens."""


Reads = Callable[[Sequence[str]], bool]
"""Tells whether the release's parser takes some tokens."""


def _anything(tokens: Sequence[str]) -> bool:
    return True


def effective_argv(
    spans: Sequence[Span],
    result: CheckResult,
    flags: FlagTable,
    reads: Reads = _anything,
    as_typed: Collection[str] = (),
) -> tuple[str, ...]:
    """The options that say what will really run.

    Args:
        spans: The options of the command in order, secrets already hidden.
        result: The answer, secrets already hidden.
        flags: The release's options.
        reads: Tells whether the release's parser takes some tokens: not all that its resolution
            makes of a flag could be typed.
        as_typed: Dests to leave as they were typed, since resolution would change what it made of
            them once more.
    """
    found = _changed(result, flags, reads)
    changed = {dest: tokens for dest, tokens in found if dest not in as_typed}
    kept = [token for dest, tokens in spans if dest not in changed for token in tokens]
    added = [token for tokens in changed.values() for token in tokens or ()]
    return (*kept, *added)


def _changed(
    result: CheckResult, flags: FlagTable, reads: Reads
) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Dests that upstream sets, with the tokens that say it, None where no option can."""
    for dest, origin in result.provenance.items():
        if origin not in ("user", "default") and flags.by_dest(dest):
            tokens = tokens_of(flags, dest, result.effective.get(dest))
            yield dest, tokens if not tokens or reads(tokens) else None


def tokens_of(flags: FlagTable, dest: str, value: Any) -> tuple[str, ...] | None:
    """The tokens that give a flag a value: empty where it is the default, None where none can."""
    for flag in flags.by_dest(dest):
        tokens = _tokens(flag, value)
        if tokens is not None:
            return tokens
    default = flags.fields.get(dest)
    same = value == default and isinstance(value, bool) == isinstance(default, bool)
    return () if same else None


def _tokens(flag: Flag, value: Any) -> tuple[str, ...] | None:
    if flag.action == "store_true":
        return (flag.name,) if value is True else None
    if flag.action == "boolean" and isinstance(value, bool):
        fits = [s for s in flag.spellings if s.startswith("--no-") is not value]
        return (fits[0],) if fits else None
    if flag.action == "const":
        word = [str(choice) for choice in (flag.choices or ())[:1]] if flag.takes_value else []
        return (flag.name, *word) if value == flag.const else None
    if flag.action not in ("store", "lora_paths") or value is None or isinstance(value, bool):
        return None
    if flag.choices and not isinstance(value, (list, tuple)) and value not in flag.choices:
        return None
    many = flag.nargs in ("*", "+") or isinstance(flag.nargs, int)
    if many and isinstance(value, (list, tuple)):
        return (flag.name, *(_word(item) for item in value))
    return (flag.name, _word(value))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def effective_text(
    spans: Sequence[Span],
    result: CheckResult,
    flags: FlagTable,
    program: Sequence[str] = (),
    reads: Reads = _anything,
    as_typed: Collection[str] = (),
) -> str:
    """Comments that say where each changed value comes from, then the command, ready to paste."""
    lines = [f"# What SGLang {result.sglang} would run:"]
    lines += [f"#   {line}" for line in _origins(result, flags, reads, as_typed)]
    words = list(program) or ["python", "-m", "sglang.launch_server"]
    command = command_lines([*words, *effective_argv(spans, result, flags, reads, as_typed)])
    return "\n".join([*lines, " \\\n  ".join(command)]) + "\n"


def _origins(
    result: CheckResult, flags: FlagTable, reads: Reads, as_typed: Collection[str]
) -> Iterator[str]:
    for dest, tokens in _changed(result, flags, reads):
        name = flags.flag(dest).name
        value = short_value(result.effective.get(dest))
        silent = "" if tokens is not None else "; no option says that"
        if dest in as_typed:
            silent = "; left as it was, for SGLang would change it again"
        yield f"{name} is {value} [{result.provenance[dest]}]{silent}"
