"""What upstream's own value types accept and what they make of it, by the names of flag tables.

A value type turns one token into a value, or raises ``ValueError`` where upstream's parser would
refuse the token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["Convert", "converter", "lora_paths"]

Convert = Callable[[str], Any]

_SI = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_WITH_SUFFIX = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)")


def converter(name: str, facts: Any = None) -> Convert | None:
    """The function behind a value type's name, or None for text kept as it is.

    Args:
        name: The ``type`` of a flag.
        facts: The ``type_facts`` of the flag.

    Raises:
        KeyError: No value type has this name.
    """
    if name in ("", "str"):
        return None
    if name in _PLAIN:
        return _PLAIN[name]
    return partial(_WITH_FACTS[name], facts)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _strict_json(text: str) -> Any:
    """JSON as a strict reader takes it: no NaN, no infinities, no lone surrogates."""
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_int=_int, parse_float=_float
        )
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON value")


def _int(digits: str) -> int | float:
    """Integers beyond 64 bits become floats, as upstream's reader has it."""
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else _float(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("number out of range")
    return value


def _human_int(text: str) -> int:
    """An integer that may end in ``k``, ``M`` ... (1000) or ``Ki``, ``Mi`` ... (1024)."""
    text = text.strip()
    match = _WITH_SUFFIX.fullmatch(text)
    if match is None:
        return int(text)
    number, suffix = match.groups()
    if suffix in _IEC:
        if "." in number:
            raise ValueError(f"a fraction cannot end in {suffix}")
        return int(number) * _IEC[suffix]
    from decimal import Decimal

    return int(Decimal(number) * _SI[suffix])


def _nullable_str(text: str) -> str | None:
    return None if text in ("", "None") else text


def _living_word(facts: Any, text: Any) -> Any:
    """Any word but those that the release has retired."""
    if text in facts["retired"]:
        raise ValueError(f"{text} was removed in this release")
    return text


def _phase_settings(facts: Any, text: str) -> dict[str, dict[str, Any]]:
    """A JSON object phase -> settings with known phases and known keys."""
    parsed = _json(text)
    if not isinstance(parsed, dict):
        raise ValueError("not a JSON object")
    for phase, settings in parsed.items():
        allowed = facts["phases"].get(phase)
        if allowed is None:
            raise ValueError(f"unknown phase {phase}, known are {', '.join(facts['phases'])}")
        if not isinstance(settings, dict):
            raise ValueError(f"the settings of {phase} are not a JSON object")
        for key, words in facts.get("retired", {}).items():
            if settings.get(key) in words:
                raise ValueError(f"{key} {settings[key]} was removed in this release")
        unknown = [key for key in settings if key not in allowed]
        if unknown:
            raise ValueError(f"unknown key {unknown[0]} of {phase}, known are {', '.join(allowed)}")
    return parsed


def lora_paths(values: list[str]) -> list[Any]:
    """The adapters of one ``--lora-paths``: paths and NAME=PATH as text, JSON objects as dicts.

    Raises:
        ValueError: Text in braces is no JSON object with a name and a path.
    """
    made: list[Any] = []
    for value in values:
        text = value.strip()
        if not (text.startswith("{") and text.endswith("}")):
            made.append(text)
            continue
        entry = _json(text)
        if "lora_path" not in entry or "lora_name" not in entry:
            raise ValueError(f"{text} lacks lora_name or lora_path")
        made.append(entry)
    return made


_PLAIN: dict[str, Convert] = {
    "int": int,
    "float": float,
    "json": _json,
    "strict_json": _strict_json,
    "human_int": _human_int,
    "nullable_str": _nullable_str,
}
_WITH_FACTS: dict[str, Callable[[Any, str], Any]] = {
    "living_word": _living_word,
    "phase_settings": _phase_settings,
    "phase_settings_living": _phase_settings,
}
