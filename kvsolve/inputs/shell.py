"""Split shell text into simple commands and their words, as a POSIX shell would.

Only what launch scripts use: quotes, escapes, line continuations, comments, ``;`` ``&&`` ``|`` and
the like, redirections (dropped), and variables that the same text has set. A variable that it has
not set stays as it is written.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ShellError", "Word", "shell_commands"]

_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SEPARATORS = ("&&", "||", ";;", ";", "|&", "|", "&", "(", ")", "\n")
_REDIRECTION = re.compile(r"(?:&>>?|\d*(?:>>|>&|>\||>|<<<|<&|<))[ \t]*")


class ShellError(KvsolveError):
    """The text is no complete shell command."""


class Word(NamedTuple):
    """A word and where it stands in the text: ``text[start:end]`` is how it is written."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Reader:
    """Walks through the text once."""

    text: str
    at: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    def commands(self) -> Iterator[list[Word]]:
        words: list[Word] = []
        while self.at < len(self.text):
            separator = self._separator()
            if separator:
                yield from self._finished(words)
                words = []
                self.at += len(separator)
            elif not self._skipped():
                words += self._words()
        yield from self._finished(words)

    def _finished(self, words: list[Word]) -> Iterator[list[Word]]:
        start = 1 if words and words[0].text == "export" else 0
        if all(_ASSIGNMENT.match(w.text) for w in words[start:]):
            pairs = (w.text.partition("=") for w in words[start:])
            self.variables.update((name, value) for name, _, value in pairs)
        if words:
            yield words

    def _separator(self) -> str:
        if self.text.startswith("&>", self.at):
            return ""
        return next((s for s in _SEPARATORS if self.text.startswith(s, self.at)), "")

    def _skipped(self) -> bool:
        """Pass over space, a continued line, a comment or a redirection."""
        text, start = self.text, self.at
        gap = re.compile(r"[ \t\r]+|\\\r?\n|#[^\n]*").match(text, start)
        if gap:
            self.at = gap.end()
            return True
        redirection = _REDIRECTION.match(text, start)
        if redirection:
            self.at = redirection.end()
            self._words()
            return True
        return False

    def _words(self) -> list[Word]:
        """The word at this place; an unquoted variable may make several of it, or none."""
        start, parts, quoted = self.at, [""], False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\r\n;|&<>" or (char in "()" and not parts[-1]):
                break
            if char == "\\":
                parts[-1] += self._escaped()
            elif char in "'\"":
                quoted = True
                parts[-1] += self._quoted(char)
            elif char == "$":
                is_variable = _VARIABLE.match(self.text, self.at)
                expanded = self._expanded()
                first, *rest = expanded.split() or [""] if is_variable else [expanded]
                parts[-1] += first
                parts += rest
            else:
                parts[-1] += char
                self.at += 1
        kept = [p for p in parts if p or quoted]
        return [Word(p, start, self.at) for p in kept]

    def _escaped(self) -> str:
        following = self.text[self.at + 1 : self.at + 3]
        if following == "\r\n":
            self.at += 3
            return ""
        self.at += 2
        return "" if following[:1] == "\n" else following[:1]

    def _quoted(self, mark: str) -> str:
        start, made = self.at, ""
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == mark:
                self.at += 1
                return made
            if mark == '"' and char == "\\" and self.text[self.at + 1 : self.at + 2] in '$`"\\\n':
                made += self._escaped()
            elif mark == '"' and char == "$":
                made += self._expanded()
            else:
                made += char
                self.at += 1
        line = self.text.count("\n", 0, start) + 1
        raise ShellError(f"The quote {mark} opened in line {line} of the command is never closed.")

    def _expanded(self) -> str:
        """The value of the variable here, or its text; ``$(...)`` stays as it is written."""
        match = _VARIABLE.match(self.text, self.at)
        if match:
            self.at = match.end()
            name, braced, default = match.groups()
            return self.variables.get(name or braced, match.group() if default is None else default)
        depth, start = 0, self.at
        self.at += 1
        while self.text[start + 1 : start + 2] == "(" and self.at < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
            if not depth:
                break
        return self.text[start : self.at]


def shell_commands(text: str) -> list[list[Word]]:
    """The simple commands of a shell text, each as its words.

    Raises:
        ShellError: A quote is never closed.
    """
    return list(_Reader(text).commands())
