"""What the environment says: ``KVSOLVE_GPU`` is ``--gpu``, and so on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.settings.options import SHARED

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PREFIX", "environment_values", "variables"]

PREFIX = "KVSOLVE_"
_OTHERS = ("KVSOLVE_BASELINE", "KVSOLVE_CACHE_DIR", "KVSOLVE_DEBUG", "KVSOLVE_FORMAT")
_CLOSE = 0.9


def variables() -> tuple[str, ...]:
    """Every variable that kvsolve reads."""
    return tuple(sorted((*(PREFIX + option.name.upper() for option in SHARED), *_OTHERS)))


def environment_values(environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The options that the environment gives.

    Raises:
        KvsolveError: A value cannot be read, or a name is one letter away from one that is.
    """
    env = os.environ if environ is None else environ
    own = {name: text for name, text in env.items() if name.startswith(PREFIX)}
    if not own:
        return {}
    from kvsolve.settings.values import read

    values: dict[str, Any] = {}
    for option in SHARED:
        text = own.get(PREFIX + option.name.upper())
        if text:
            values[option.name] = read(option, text, PREFIX + option.name.upper())
    if own.get("KVSOLVE_BASELINE"):
        values["baseline"] = own["KVSOLVE_BASELINE"]
    if own.get("KVSOLVE_FORMAT"):
        values["format"] = _format(own["KVSOLVE_FORMAT"])
    _must_be_known(own)
    return values


def _format(text: str) -> str:
    from kvsolve.outputs.writers import ALL_FORMATS

    if text not in ALL_FORMATS:
        raise KvsolveError(f"KVSOLVE_FORMAT is one of {', '.join(ALL_FORMATS)}, not {text!r}")
    return text


def _must_be_known(own: Mapping[str, str]) -> None:
    """Refuse a misspelt name; other names that start alike may be another program's."""
    from difflib import get_close_matches

    for name in sorted(set(own) - set(variables())):
        near = get_close_matches(name, variables(), 1, _CLOSE)
        if near and not name.startswith("KVSOLVE_COMPLETE"):
            raise KvsolveError(f"the variable {name} is not read; did you mean {near[0]}?")
