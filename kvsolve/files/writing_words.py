"""How a word is written where it stands: quotes as around its neighbours, only where needed."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.files.found import Token

__all__ = ["CannotEditError", "mapped", "python_literal", "written"]

_SAFE = re.compile(r"[\w./:,@%+=-]+", re.ASCII)
_PLAIN = re.compile(r"(?:--?[A-Za-z]|[A-Za-z_./])[\w./@%+,=-]*(?::[\w./@%+,=-]+)*", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+)")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "none", "y", "n", "~"})


class CannotEditError(KvsolveError):
    """A file cannot be edited without risk; the text says why."""


def written(text: str, like: Token, *, value: bool = True) -> str:
    """A word as it is to be written.

    Args:
        text: The word.
        like: A word beside it, or the one that it replaces.
        value: In a mapping, a value and not a key.

    Raises:
        CannotEditError: It cannot stand there.
    """
    kind, quote = like.layout.kind, like.quote
    if kind == "pairs":
        return python_literal(text, quote)
    if quote == "in":
        if not _SAFE.fullmatch(text):
            raise CannotEditError(f"{text!r} cannot be written inside another quotation")
        return text
    if kind == "shell":
        return _shell(text, quote, like.layout.nested)
    if like.layout.python:
        return _python(text, quote)
    if kind == "flow":
        return _yaml(text, quote or '"')
    if kind == "map":
        return _value(text, quote) if value else text
    return _yaml(text, quote)


def mapped(values: Sequence[str], like: Token) -> str:
    """The values of an option in a mapping: ``true`` for none, a list for several."""
    plain = like._replace(quote="")
    texts = [written(value, plain) for value in values]
    return "true" if not texts else texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _shell(text: str, quote: str, nested: bool) -> str:
    if _SAFE.fullmatch(text):
        return quote + text + quote if quote in ("'", '"') else text
    if nested:
        raise CannotEditError(f"{text!r} cannot be written inside another quotation")
    return shlex.quote(text)


def python_literal(text: str, quote: str = "") -> str:
    """A value of an option in a Python program: a number, or a text in quotes.

    Args:
        text: The value as a word.
        quote: The quotation mark of the value that it replaces, "" where that is none.
    """
    if quote not in ("'", '"') and _NUMBER.fullmatch(text):
        return text
    return _python(text, quote)


def _python(text: str, quote: str) -> str:
    mark = quote if quote in ("'", '"') else '"'
    if not text.isprintable():
        raise CannotEditError(f"{text!r} cannot be written as one text")
    return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


def _yaml(text: str, quote: str) -> str:
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if quote == "" and _is_plain(text):
        return text
    return json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether YAML reads a text without quotes as that text."""
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS


def _value(text: str, quote: str) -> str:
    """A value of an option in a mapping: numbers and texts both become words there."""
    if quote in ("'", '"'):
        return _yaml(text, quote)
    if _NUMBER.fullmatch(text) or _is_plain(text):
        return text
    return json.dumps(text, ensure_ascii=False)
