"""What an edit costs more than its kind says, by flag."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.packs.files import constraints_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["load_weights", "unasked_weights"]


@lru_cache(maxsize=1)
def unasked_weights() -> Mapping[str, int]:
    """Dest -> factor of the cost of an edit, where the command does not give the flag itself."""
    path = constraints_directory() / "sglang" / "weights.toml"
    return load_weights(path.read_text(encoding="utf-8"), path.name)


def load_weights(text: str, where: str = "weights.toml") -> dict[str, int]:
    """Read the table of weights.

    Raises:
        KvsolveError: The text is no such table.
    """
    try:
        groups = tomllib.loads(text)["unasked"]
        found = {flag: group["weight"] for group in groups for flag in group["flags"]}
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise KvsolveError(f"{where} is no table of weights: {error}.") from error
    for flag, weight in found.items():
        if not isinstance(weight, int) or isinstance(weight, bool) or weight < 1:
            raise KvsolveError(f"{where}: the weight of {flag} is a positive integer.")
    return found
