"""Many configurations of one command, told without its secrets.

They hold the same values over and over, so what is told of one is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.solve.repair import flag_tokens

if TYPE_CHECKING:
    from kvsolve.model.context import Config
    from kvsolve.model.flag import FlagTable
    from kvsolve.outputs.redact import Redactor

__all__ = ["Telling"]

_KEPT = 10_000
"""Values of which it is kept what is told."""


class Telling:
    """Tells configurations.

    Args:
        hide: Hides the secrets of the command.
        flags: The release's options.
    """

    def __init__(self, hide: Redactor, flags: FlagTable) -> None:
        self._hide, self._flags = hide, flags
        # By identity, with the value itself, so that no other one can come to have it: True and 1
        # are equal, and lists cannot be keys.
        self._tokens: dict[tuple[str, str, int], tuple[Any, tuple[str, ...]]] = {}
        self._values: dict[tuple[str, int], tuple[Any, Any]] = {}

    def argv(self, config: Config) -> tuple[str, ...]:
        """The tokens of its command line, as :func:`command_tokens` gives them."""
        out: list[str] = []
        values, kept = config.values, self._tokens
        for dest, spelled in config.given.items():
            value = values.get(dest)
            found = kept.get((dest, spelled, id(value)))
            if found is None:
                told = self._hide.argv(flag_tokens(dest, spelled, value, self._flags))
                found = _keep(kept, (dest, spelled, id(value)), (value, told))
            out += found[1]
        return tuple(out)

    def value(self, dest: str, value: Any) -> Any:
        """What a flag holds."""
        found = self._values.get((dest, id(value)))
        if found is None:
            told = self._hide.value(value, dest)
            found = _keep(self._values, (dest, id(value)), (value, told))
        return found[1]


def _keep(kept: dict[Any, Any], key: Any, told: Any) -> Any:
    if len(kept) >= _KEPT:
        kept.clear()
    kept[key] = told
    return told
