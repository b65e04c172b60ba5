"""Which of several places has the say: what was typed, then the environment, then the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.settings.options import SHARED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["settled"]

_EITHER = ("model_config", "family")
"""Two ways to say what the model is: whoever says one is not given the other."""


def settled(
    typed: Mapping[str, Any], filed: Mapping[str, Any], formats: Sequence[str]
) -> dict[str, Any]:
    """The value of every shared option.

    Args:
        typed: What the command line or the environment says.
        filed: What the file says.
        formats: Output formats of the verb, the usual one first. One that the file or the
            environment names and the verb has not is left out of account.
    """
    names = {*(option.name for option in SHARED), "format"}
    below = {name: value for name, value in filed.items() if name in names}
    above = {name: value for name, value in typed.items() if name in names}
    if any(typed.get(name) is not None for name in _EITHER):
        below = {name: value for name, value in below.items() if name not in _EITHER}
    values = {option.name: option.default for option in SHARED} | {"env": ()}
    values |= {**below, **above}
    # Variables of the server add up; the nearer one comes later and wins.
    values["env"] = (*filed.get("env", ()), *typed.get("env", ()))
    if values.get("format") not in formats:
        values["format"] = formats[0]
    return values
