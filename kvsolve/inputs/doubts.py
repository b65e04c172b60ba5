"""Options of which a file does not tell the value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.packs.compile import Unknowable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kvsolve.inputs.tokens import Occurrence
    from kvsolve.model.context import Config
    from kvsolve.model.finding import CheckResult
    from kvsolve.model.flag import FlagTable

__all__ = ["doubted", "doubts_of", "known_part", "roomy", "without_doubted"]

_MODEL = "model_path"


def doubted(config: Config, options: Sequence[Occurrence], reasons: Mapping[int, str]) -> Config:
    """A configuration in which these options are given, with values that nobody knows.

    Whatever does not depend on such a value is judged as ever.

    Args:
        config: The configuration without them.
        options: The options.
        reasons: Why a token is not known, by its position.
    """
    values, given = dict(config.values), dict(config.given)
    for option in options:
        dest = option.flag.dest
        if dest not in values:
            continue
        given[dest] = option.spelling
        if dest != _MODEL:  # an unknown model is what the profiles of models stand for
            values[dest] = Unknowable(_label(option, reasons))
    return replace(config, values=values, given=given)


def _label(option: Occurrence, reasons: Mapping[int, str]) -> str:
    places = range(option.place, option.end)
    told = dict.fromkeys(reasons[place] for place in places if place in reasons)
    return f"{option.typed} ({'; '.join(told)})"


def roomy(
    options: Sequence[Occurrence], places: Sequence[int], loose: Collection[int]
) -> Iterator[int]:
    """Loose tokens that were taken for values, where further options could as well stand.

    Args:
        options: The options with unknown tokens.
        places: Position of each token in the command; -1 for one that is not in it.
        loose: Positions of tokens that may be several words or none.
    """
    for option in options:
        # `sglang serve $ARGS` reads as a model, and many values take whatever comes.
        if option.flag.nargs in ("*", "+") or places[option.place] < 0:
            yield from (at for at in range(option.place, option.end) if at in loose)


def known_part(config: Config, flags: FlagTable) -> Config:
    """A configuration without the options of which nobody knows the value."""
    doubtful = {dest for dest, value in config.values.items() if type(value) is Unknowable}
    if not doubtful:
        return config
    values = {**config.values, **{dest: flags.fields.get(dest) for dest in doubtful}}
    given = {dest: spelling for dest, spelling in config.given.items() if dest not in doubtful}
    return replace(config, values=values, given=given)


def without_doubted(result: CheckResult) -> CheckResult:
    """An answer without the values that follow from what nobody knows."""
    effective = {n: v for n, v in result.effective.items() if type(v) is not Unknowable}
    told = (f for f in result.findings if Unknowable not in (type(f.before), type(f.after)))
    provenance = {n: p for n, p in result.provenance.items() if n in effective}
    return replace(result, findings=tuple(told), effective=effective, provenance=provenance)


def doubts_of(
    strays: Sequence[int],
    reasons: Mapping[int, str],
    env: Mapping[str, str],
    flags: FlagTable,
) -> Iterator[str]:
    """Parts of a command that may hold any option, and variables that SGLang reads."""
    yield from dict.fromkeys(reasons[place] for place in strays)
    for name, reason in env.items():
        if name.startswith(("SGLANG_", "SGL_")) or name in flags.choice_variables:
            yield f"{name} ({reason})"
