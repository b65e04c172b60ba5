"""Environment variables as a release types them.

``env.NAME`` is what the release's own declaration makes of the variable: its type's value, or the
declared default where the variable is unset or cannot be read as that type. ``environ`` keeps the
raw texts for what reads the environment without a declaration.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.packs.files import constraints_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.model.fact import Facts

__all__ = ["environment_facts", "environment_table", "normalized"]

TRUE = frozenset({"true", "1", "yes", "y"})
FALSE = frozenset({"false", "0", "no", "n"})
CACHE = "~/.cache/sglang"


@lru_cache(maxsize=16)
def environment_table(release: str) -> Mapping[str, Any]:
    """The declared variables of a release and its renamed ones.

    Raises:
        KvsolveError: There is no table for the release.
    """
    path = constraints_directory() / "sglang" / "env" / f"{release}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    except OSError as error:
        raise KvsolveError(f"there is no table of environment variables for {release}") from error


def normalized(release: str, env: Mapping[str, str]) -> dict[str, str]:
    """The environment after the release renamed what is deprecated."""
    out = {name: str(value) for name, value in env.items()}
    for older, name in environment_table(release)["renamed"].items():
        if older in out:
            out[name] = out[older]
    for name in [n for n in out if n.startswith("SGL_")]:
        out[name.replace("SGL_", "SGLANG_", 1)] = out[name]
    return out


def environment_facts(release: str, env: Mapping[str, str], is_hip: bool = False) -> Facts:
    """``env.NAME`` for every declared variable, ``env_set.NAME`` for those set, and ``environ``.

    Args:
        release: Release of SGLang.
        env: The variables that are set.
        is_hip: Whether the platform is ROCm, on which some defaults depend.
    """
    return dict(_facts_of(release, tuple(env.items()), is_hip))


@lru_cache(maxsize=64)
def _facts_of(release: str, env: tuple[tuple[str, str], ...], is_hip: bool) -> Facts:
    """The facts, which the contexts of a command have in common; they must not be changed."""
    raw = normalized(release, dict(env))
    variables = environment_table(release)["variables"]
    for name, entry in variables.items():
        if len(entry) > 2 and entry[2] in raw:
            raw.setdefault(name, raw[entry[2]])
    facts: Facts = {"environ": raw}
    for name, entry in variables.items():
        default = _default(entry[1], variables, raw, is_hip)
        facts[f"env.{name}"] = _typed(entry[0], raw[name], default) if name in raw else default
    return facts


def _default(value: Any, variables: Mapping[str, Any], raw: Mapping[str, str], is_hip: bool) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict):
        return value
    if "hip" in value:
        return is_hip
    if "home" in value:
        return os.path.expanduser(f"~/{value['home']}")
    if "variable" in value:
        kind, default = variables[value["variable"]][:2]
        found = raw.get(value["variable"])
        return default if found is None else _typed(kind, found, default)
    base = os.path.expanduser(raw.get("SGLANG_CACHE_DIR", CACHE))
    return os.path.join(base, value["cache"]) if value["cache"] else os.path.expanduser(CACHE)


def _boolean(text: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ValueError(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


READERS: dict[str, Callable[[str], Any]] = {
    "bool": _boolean,
    "int": int,
    "float": float,
    "str": str,
    "tuple": _names,
    "json": lambda text: json.loads(text) if text else None,
}


def _typed(kind: str, text: str, default: Any) -> Any:
    try:
        return READERS[kind](text)
    except (ValueError, RecursionError):
        return default
