"""Codes of refusals, rewrites and crashes that stay the same from release to release.

The registry is append-only: a code is never renumbered, reused or dropped. How codes are given is
told in :mod:`kvsolve.packs.code_assignment`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "Code",
    "Registry",
    "RegistryError",
    "dump_registry",
    "function_name",
    "load_registry",
]

_HEAD = """\
# Written by `kvsolve upstream codes`; append-only: a code is never renumbered, reused or dropped.
# One table a code. `keys`: fingerprint -> releases that have it; a changed guard adds another.
"""


class RegistryError(KvsolveError):
    """The registry of codes is malformed or out of numbers."""


@dataclass(frozen=True, slots=True)
class Code:
    """One registered code.

    Attributes:
        code: As in ``KV1042``.
        kind: ``refuse``, ``set`` or ``crash``.
        symbol: Function of the newest release that has it, the bare function name for a crash.
        about: The exception of a refusal, the field of a rewrite, empty for a crash.
        keys: Fingerprint -> releases; empty for a crash.
        lines: Release -> line of the statement, by which a release read again is recognised.
        asks: Short hashes of what its guard asks in the newest reading, to tell apart what stands
            on one line.
    """

    code: str
    kind: str
    symbol: str
    about: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    asks: frozenset[str] = frozenset()

    def releases(self, order: Sequence[str]) -> tuple[str, ...]:
        """Releases that have the entry, in order."""
        have = {release for releases in self.keys.values() for release in releases}
        return tuple(release for release in order if release in have)


@dataclass(frozen=True, slots=True)
class Registry:
    """All codes, in order, and the releases they were assigned over."""

    releases: tuple[str, ...] = ()
    codes: Mapping[str, Code] = field(default_factory=dict)

    def index(self, release: str) -> dict[tuple[str, str], str]:
        """(kind, fingerprint) -> code, for the entries of one release."""
        return {
            (code.kind, key): code.code
            for code in self.codes.values()
            for key, releases in code.keys.items()
            if release in releases
        }

    def crashes(self) -> dict[str, str]:
        """Bare function name -> code of a break in it."""
        return {c.symbol: c.code for c in self.codes.values() if c.kind == "crash"}


def function_name(symbol: str) -> str:
    """The function that a symbol ends in, without class and leading underscores.

    >>> function_name("ServerArgs._handle_page_size")
    'handle_page_size'
    """
    return symbol.rpartition(".")[2].lstrip("_") or symbol


def _spans(releases: Sequence[str], order: Sequence[str]) -> str:
    """Releases as runs, ``0.5.16..0.5.18 0.5.21``."""
    places = sorted(order.index(release) for release in releases)
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return " ".join(order[a] if a == b else f"{order[a]}..{order[b]}" for a, b in runs)


def _unspanned(text: str, order: Sequence[str]) -> Iterator[str]:
    for part in text.split():
        first, _, last = part.partition("..")
        yield from order[order.index(first) : order.index(last or first) + 1]


def dump_registry(registry: Registry) -> str:
    """The text of ``codes.toml``; the same bytes every time."""
    return "\n".join(_dump(registry)) + "\n"


def _dump(registry: Registry) -> Iterator[str]:
    yield _HEAD
    yield f"releases = [{', '.join(map(_quoted, registry.releases))}]"
    yield "\n[crashes]"
    for code in registry.codes.values():
        if code.kind == "crash":
            yield f"{code.code} = {_quoted(code.symbol)}"
    for code in registry.codes.values():
        if code.kind != "crash":
            yield f"\n[{code.code}]"
            yield f"symbol = {_quoted(code.symbol)}"
            yield f"{'raises' if code.kind == 'refuse' else 'sets'} = {_quoted(code.about)}"
            spans = {key: _spans(have, registry.releases) for key, have in _by_age(code, registry)}
            inner = ", ".join(f"{_bare(key)} = {_quoted(span)}" for key, span in spans.items())
            yield f"keys = {{ {inner} }}"
            lines = (code.lines[r] for r in registry.releases if r in code.lines)
            yield f"lines = [{', '.join(map(str, lines))}]"
            yield f"asks = {_quoted(' '.join(sorted(code.asks)))}"


def _by_age(code: Code, registry: Registry) -> list[tuple[str, tuple[str, ...]]]:
    """Fingerprints with their releases, the oldest first."""
    order = registry.releases
    return sorted(
        code.keys.items(), key=lambda item: (min(order.index(r) for r in item[1]), item[0])
    )


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def load_registry(data: Mapping[str, Any]) -> Registry:
    """The registry from the parsed ``codes.toml``.

    Raises:
        RegistryError: It is malformed; names the table.
    """
    releases = data.get("releases")
    crashes = data.get("crashes", {})
    if not isinstance(releases, list) or not isinstance(crashes, dict):
        raise RegistryError("codes.toml needs `releases` and the table `crashes`")
    codes = {code: Code(code, "crash", str(symbol), "") for code, symbol in crashes.items()}
    for code, table in data.items():
        if code not in ("releases", "crashes"):
            codes[code] = _load_code(code, table, releases)
    ordered = sorted(codes.items(), key=lambda item: int(item[0][2:]))
    return Registry(tuple(releases), dict(ordered))


def _load_code(code: str, table: Any, releases: Sequence[str]) -> Code:
    try:
        kind = "refuse" if "raises" in table else "set"
        about = table["raises"] if kind == "refuse" else table["sets"]
        keys = {key: tuple(_unspanned(text, releases)) for key, text in table["keys"].items()}
        if not re.fullmatch(r"KV\d{4}", code):
            raise ValueError("a code is KV and four digits")
        have = {release for span in keys.values() for release in span}
        lines = dict(zip((r for r in releases if r in have), table.get("lines", ()), strict=False))
        asks = frozenset(table.get("asks", "").split())
        return Code(code, kind, table["symbol"], about, keys, lines, asks)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RegistryError(f"codes.toml, table {code}: {error}") from None
