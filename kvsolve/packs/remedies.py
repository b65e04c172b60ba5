"""Reading remedies: the edits that a sentence proposes.

Remedies are written for people, in a small set of phrases: "Set --x to a or b, or drop --y." What
is read here is held to the program by :mod:`kvsolve.solve.lint_remedies`; what is not understood is
left alone and counted, never guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["Change", "Proposal", "proposals"]

_VERBS = "drop|remove|set|add|use|leave|give|write|choose|pick|lower|raise|serve|install|start|name"
_BETWEEN = re.compile(rf",? or (?=(?:{_VERBS})\b)|, (?=(?:{_VERBS})\b)|; ", re.IGNORECASE)
_PARTS = re.compile(rf",? and (?=(?:{_VERBS})\b|--[a-z0-9-]+ to )", re.IGNORECASE)
_FLAG = re.compile(r"--[a-z0-9][a-z0-9-]*")
_ASIDE = re.compile(
    r" ?\([^)]*\)|:.*$|, (?:so|where|which|because|as) .*$|(?<=\w) (?:for|on|with(?!.*--)) .*$"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_REMOVES = frozenset({"drop", "remove", "leave"})
_GIVES = frozenset({"set", "add", "use", "give", "write", "pick", "serve", "name"})
_LIMITS = (
    (re.compile(r"^at most (-?\d+)$"), 0),
    (re.compile(r"^(-?\d+) or less$"), 0),
    (re.compile(r"^at least (-?\d+)$"), 0),
    (re.compile(r"^(-?\d+) or more$"), 0),
    (re.compile(r"^above (-?\d+)$"), 1),
    (re.compile(r"^below (-?\d+)$"), -1),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One edit.

    Attributes:
        dest: The flag.
        value: The value to give it; None to leave it out.
    """

    dest: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One way out that a remedy names.

    Attributes:
        text: Its words.
        changes: All of them are to be made; empty where the words are not understood.
    """

    text: str
    changes: tuple[Change, ...] = ()


def proposals(remedy: str, flags: FlagTable) -> tuple[Proposal, ...]:
    """The ways out of a remedy, one for each value that it names.

    Args:
        remedy: One sentence.
        flags: The release's options.
    """
    found: list[Proposal] = []
    last: Flag | None = None
    for text in _BETWEEN.split(remedy.rstrip(". ")):
        read = [_part(part, flags, last) for part in _PARTS.split(text)]
        found += _combined(text, [choices for choices, _ in read])
        last = next((flag for _, flag in reversed(read) if flag is not None), last)
    return tuple(found)


def _combined(text: str, parts: list[list[tuple[Change, ...]]]) -> Iterator[Proposal]:
    """Every combination of what the parts of a way out allow; one alone where a part is unclear."""
    if not all(parts):
        yield Proposal(text)
        return
    made: list[tuple[Change, ...]] = [()]
    for choices in parts:
        made = [(*before, *choice) for before in made for choice in choices]
    yield from (Proposal(text, changes) for changes in made)


def _part(
    text: str, flags: FlagTable, last: Flag | None
) -> tuple[list[tuple[Change, ...]], Flag | None]:
    """The choices of "set --x to a or b" or "drop --x and --y", and the flag spoken of."""
    plain = re.sub("^serve with ", "add ", text.strip(), flags=re.IGNORECASE)
    plain = _ASIDE.sub("", plain).strip().rstrip(",.")
    if plain.startswith("--"):  # the other half of "set --x to a and --y to b"
        plain = f"set {plain}"
    verb = plain.split(" ", 1)[0].lower()
    named = [f for s in _FLAG.findall(plain) if s in flags for f in [flags.by_spelling(s)]]
    spoken = named[-1] if named else last
    if len(named) < len(_FLAG.findall(plain)):
        return [], spoken
    if verb == "leave" and len(named) == 1 and " at " in plain:
        return _given(plain.replace(" at ", " to "), named[0]), spoken
    if verb in _REMOVES:
        return _removed(plain, verb, named, last), spoken
    if verb in _GIVES and len(named) == 1:
        return _given(plain, named[0]), spoken
    if verb in _GIVES and not named and last is not None:
        rest = re.sub(r"^(?:set it to|use) ", "", plain, flags=re.IGNORECASE)
        return [(Change(last.dest, value),) for value in _values(rest, last)], last
    return [], spoken


def _removed(
    plain: str, verb: str, named: list[Flag], last: Flag | None
) -> list[tuple[Change, ...]]:
    rest = _FLAG.sub("", plain[len(verb) :]).replace(",", " ").split()
    allowed = {"and", "or", "unset", "out", "it"}
    if set(rest) - allowed or (verb == "leave" and not {"unset", "out"} & set(rest)):
        return []
    if "it" in rest:
        return [(Change(last.dest),)] if last is not None and not named else []
    changes = [Change(flag.dest) for flag in named]
    if "or" in rest:
        return [(change,) for change in changes]
    return [tuple(changes)] if changes else []


def _given(plain: str, flag: Flag) -> list[tuple[Change, ...]]:
    _, _, rest = plain.partition(_FLAG.findall(plain)[0])
    rest = rest.strip().removeprefix("to ").strip()
    if not flag.takes_value:
        return [(Change(flag.dest, flag.action != "store_false"),)] if not rest else []
    return [(Change(flag.dest, value),) for value in _values(rest, flag)]


def _values(text: str, flag: Flag) -> list[Any]:
    """The values that a text lists; none where one of them is no value of the flag."""
    found = []
    for word in re.split(r", or | or |, ", text.strip()):
        value = _value(word.strip(), flag)
        if value is None:
            return []
        found.append(value)
    return found


def _value(word: str, flag: Flag) -> Any:
    if flag.choices is not None:
        word = word.split(" for ")[0].strip()
        return next((choice for choice in flag.choices if str(choice) == word), None)
    if flag.type in ("int", "human_int"):
        for pattern, step in _LIMITS:
            if (limit := pattern.match(word)) is not None:
                return int(limit[1]) + step
        return int(word) if re.fullmatch(r"-?\d+", word) else None
    if flag.type == "float":
        return float(word) if _NUMBER.fullmatch(word) else None
    return word if re.fullmatch(r"[a-z][a-z0-9_]*", word) and "_" in word else None
