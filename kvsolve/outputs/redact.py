"""Keeps secrets out of every output.

A value is secret by the name it is given under: a flag such as ``--api-key``, an environment
variable such as ``HF_TOKEN``, a key of a JSON value. Wherever such a value turns up again (in a
message that quotes the command, in a rewrite's before and after), it is hidden there too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.model.edit import Conflict, Edit, Repair
    from kvsolve.model.finding import CheckResult, Finding

__all__ = ["HIDDEN", "Redactor", "is_secret_name"]

HIDDEN = "***"
"""Stands where a secret was."""

_LAST_WORDS = frozenset({
    "token", "password", "passwd", "passphrase", "secret", "credential", "credentials", "bearer",
})  # fmt: skip
_BEFORE_KEY = frozenset({"api", "access", "secret", "private", "auth", "signing", "encryption"})
_SHORTEST = 4  # shorter values would blot out ordinary words of a message
_WORDS = re.compile(r"[a-z0-9]+")
_IN_URL = re.compile(r"(?<=://)([^/\s:@'\"]*):([^/\s@'\"]+)@")


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Tell whether the value of a flag, variable or JSON key of this name must not be shown."""
    words = _WORDS.findall(name.lower())
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    # A misspelt `--api-kye` holds a key all the same.
    if before in _BEFORE_KEY and (last in ("key", "keys") or sorted(last) == sorted("key")):
        return True
    return last in _LAST_WORDS or last in ("apikey", "apikeys", "authtoken")


class Redactor:
    """Hides the secrets of one command wherever they turn up.

    Args:
        argv: The command's tokens as typed.
        env: The environment variables that were set.
    """

    __slots__ = ("_places", "_secrets", "_urls")

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._places = dict(_secret_places(argv))
        found = {value for value in self._places.values() if value}
        found |= {value for name, value in (env or {}).items() if value and is_secret_name(name)}
        found |= set(_json_secrets(argv))
        self._urls = any("://" in token and _IN_URL.search(token) for token in argv)
        self._secrets = tuple(sorted((s for s in found if len(s) >= _SHORTEST), key=len)[::-1])

    def text(self, text: str) -> str:
        """A text without the secrets and without passwords in addresses."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return _IN_URL.sub(rf"\1:{HIDDEN}@", text) if "://" in text else text

    def value(self, value: Any, name: str = "") -> Any:
        """A flag's value without secrets; the whole of it where its name is secret."""
        if name and value is not None and is_secret_name(name):
            return HIDDEN
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(item, str(key)) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """A command's tokens, secrets hidden by the flag before them and by value."""
        places = _secret_places(argv)
        tokens = [self.text(token) for token in argv]
        for at, secret in places:
            tokens[at] = argv[at].replace(secret, HIDDEN) if secret else tokens[at]
        return tuple(tokens)

    def finding(self, finding: Finding) -> Finding:
        """A finding whose words and values hold no secret."""
        return replace(
            finding,
            message=self.text(finding.message),
            remedy=None if finding.remedy is None else self.text(finding.remedy),
            flags=tuple(self.text(flag) for flag in finding.flags),
            before=self.value(finding.before, finding.dest or ""),
            after=self.value(finding.after, finding.dest or ""),
        )

    @property
    def idle(self) -> bool:
        """Whether there is nothing to hide in what follows from the command."""
        return not (self._places or self._secrets or self._urls)

    def result(self, result: CheckResult) -> CheckResult:
        """A check's answer that holds no secret."""
        if self.idle:
            return result
        return replace(
            result,
            argv=self.argv(result.argv),
            findings=tuple(self.finding(finding) for finding in result.findings),
            effective={name: self.value(value, name) for name, value in result.effective.items()},
            facts=self.value(dict(result.facts)),
        )

    def edit(self, edit: Edit) -> Edit:
        """An edit that shows no secret."""
        return replace(
            edit,
            before=self.value(edit.before, edit.dest),
            value=self.value(edit.value, edit.dest),
            also=tuple(self.value(other, edit.dest) for other in edit.also),
        )

    def repair(self, repair: Repair) -> Repair:
        """A repair that shows no secret."""
        edits = tuple(self.edit(edit) for edit in repair.edits)
        return replace(repair, edits=edits, argv=self.argv(repair.argv))

    def conflict(self, conflict: Conflict) -> Conflict:
        """A conflict that shows no secret."""
        chain = tuple(
            replace(step, follows=self.text(step.follows), case=step.case and self.text(step.case))
            for step in conflict.chain
        )
        return replace(conflict, pins=self.pins(conflict.pins), chain=chain)

    def pins(self, pins: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
        """Flags with values that show no secret."""
        return tuple((flag, self.value(value, flag)) for flag, value in pins)


def _secret_places(argv: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Position of each token that holds a secret, with the secret."""
    for at, token in enumerate(argv):
        if not token.startswith("-"):
            continue
        name, equals, value = token.partition("=")
        if not is_secret_name(name):
            continue
        if equals:
            yield at, value
        elif at + 1 < len(argv) and not argv[at + 1].startswith("--"):
            yield at + 1, argv[at + 1]


def _json_secrets(argv: Iterable[str]) -> Iterator[str]:
    for token in argv:
        start = token.find("{")
        if start < 0 or not token.rstrip().endswith("}"):
            continue
        import json

        try:
            yield from _secrets_in(json.loads(token[start:]))
        except ValueError:
            continue


def _secrets_in(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _secrets_in(item, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _secrets_in(item, name)
    elif isinstance(value, str) and name and is_secret_name(name):
        yield value
