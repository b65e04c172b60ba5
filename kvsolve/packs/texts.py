"""Curated texts: slugs, reasons and remedies in our own words, attached to entries by code."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.packs.late import confirmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Text", "TextError", "read_texts", "text_for"]

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KNOWN = frozenset({"code", "slug", "reason", "remedy", "sglang", "weight", "checked"})
_WRITTEN_FROM = ">=0.5.16"
_NEEDED = ("code", "slug", "reason")


class TextError(KvsolveError):
    """A curated text is malformed; names file, line and code."""


@dataclass(frozen=True, slots=True)
class Text:
    """A curated text.

    Attributes:
        code: Entry it belongs to.
        slug: Stable short name.
        reason: Why upstream does it, one or two sentences.
        remedy: The way out, None where there is none.
        sglang: Releases it is written for, such as ``>=0.5.19``; None for all
            from 0.5.16 on.
        weight: How much the entry counts where entries are ranked, 1 unless told.
        where: File and line, for errors.
    """

    code: str
    slug: str
    reason: str
    remedy: str | None = None
    sglang: str | None = None
    weight: int = 1
    where: str = ""


def read_texts(paths: Iterable[Path]) -> dict[str, list[Text]]:
    """Texts by code, over all files.

    Raises:
        TextError: A file is malformed, a slug stands for two codes or a code has two texts.
    """
    found: dict[str, list[Text]] = {}
    slugs: dict[str, str] = {}
    for path in paths:
        for text in _read_file(path):
            _check(text, found.get(text.code, []), slugs)
            found.setdefault(text.code, []).append(text)
    return found


def text_for(texts: Mapping[str, list[Text]], code: str, release: str) -> Text | None:
    """The text of a code in a release: one written for it before one for all.

    Those for all were written from 0.5.16 on; nobody read them against older releases.
    """
    own = texts.get(code, [])
    narrow = (t for t in own if t.sglang is not None and confirmed(release, t.sglang))
    found = next(narrow, None)
    if found is None and confirmed(release, _WRITTEN_FROM):
        found = next((t for t in own if t.sglang is None), None)
    return found


def _read_file(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    try:
        data = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise TextError(f"{path.name}: {error}") from None
    lines = [n for n, line in enumerate(source.splitlines(), 1) if line.strip() == "[[text]]"]
    for item, line in zip(data.get("text", []), lines, strict=True):
        yield _text(item, f"{path.name}, line {line}")


def _text(item: Mapping[str, Any], where: str) -> Text:
    for name in _NEEDED:
        if not isinstance(item.get(name), str):
            raise TextError(f"{where}: a text needs `{name}`")
    if unknown := sorted(set(item) - _KNOWN):
        raise TextError(f"{where}, {item['code']}: unknown field `{unknown[0]}`")
    return Text(
        item["code"],
        item["slug"],
        item["reason"],
        item.get("remedy"),
        item.get("sglang"),
        item.get("weight", 1),
        where,
    )


def _check(text: Text, others: list[Text], slugs: dict[str, str]) -> None:
    label = f"{text.where}, {text.code}"
    if not _SLUG.fullmatch(text.slug):
        raise TextError(f"{label}: `{text.slug}` is no slug; use lower-case words and dashes")
    if slugs.setdefault(text.slug, text.code) != text.code:
        raise TextError(f"{label}: the slug `{text.slug}` belongs to {slugs[text.slug]}")
    for name, sentence in (("reason", text.reason), ("remedy", text.remedy)):
        if sentence is not None and not sentence.endswith("."):
            raise TextError(f"{label}: the {name} ends in a full stop")
    if any(o.sglang == text.sglang for o in others):
        raise TextError(f"{label}: the code has a text already ({others[0].where})")
