"""What the shell may offer for a word of kvsolve's command line.

That reaches past ``--``: the options of SGLang and their values are offered there.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kvsolve.model.flag import FlagTable

__all__ = ["COMPLETERS", "codes", "command_words", "flag_names"]


def _starting(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _releases(incomplete: str) -> list[str]:
    from kvsolve.packs.pack import releases

    return _starting(reversed(releases()), incomplete)


def _gpus(incomplete: str) -> list[str]:
    from kvsolve.inputs.gpu import gpu_profiles

    return _starting(gpu_profiles(), incomplete)


def _families(incomplete: str) -> list[str]:
    from kvsolve.inputs.models import model_profiles

    return _starting(model_profiles(), incomplete)


COMPLETERS: dict[str, Callable[[str], list[str]]] = {
    "sglang": _releases,
    "gpu": _gpus,
    "family": _families,
}
"""Shared option -> what it may be."""


def command_words(incomplete: str) -> list[str]:
    """Words of an SGLang command behind ``--``; nothing before it, where files stand."""
    words = os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()
    if "--" not in words:
        return []
    table = _table(words)
    typed = words[words.index("--") + 1 :]
    before = typed[:-1] if incomplete and typed and typed[-1] == incomplete else typed
    flag = before[-1] if before else ""
    if flag in table and not incomplete.startswith("-"):
        return _starting(map(str, table.by_spelling(flag).choices or ()), incomplete)
    return _starting(table.spellings, incomplete) if incomplete.startswith("-") else []


def flag_names(incomplete: str) -> list[str]:
    """Flags of SGLang by name, as ``--keep`` and its like take them; behind ``--`` the command."""
    if "--" in os.environ.get("COMP_WORDS", "").split():
        return command_words(incomplete)
    names = sorted({flag.name[2:] for flag in _table([])})
    return _starting(names, incomplete)


def codes(incomplete: str) -> list[str]:
    """Codes of entries."""
    from kvsolve.packs.files import constraints_directory, read_toml

    data = read_toml(constraints_directory() / "sglang" / "codes.toml")
    known = sorted({*data, *data.get("crashes", ())})
    return _starting((code for code in known if code.startswith("KV")), incomplete.upper())


def _table(words: Sequence[str]) -> FlagTable:
    """The flags of the release that the line names, else of the newest one known."""
    from kvsolve.errors import KvsolveError
    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.files import constraints_directory
    from kvsolve.packs.pack import newest, resolve_release

    wanted = next((value for name, value in pairwise(words) if name == "--sglang"), None)
    try:
        release = resolve_release(wanted or newest())
    except KvsolveError:
        release = newest()
    return FlagTable.load(constraints_directory() / "sglang" / "flags" / f"{release}.json")
