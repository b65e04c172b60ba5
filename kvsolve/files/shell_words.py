"""Words of a shell text: quotes, escapes, variables and what else a shell expands."""

from __future__ import annotations

import re

from kvsolve.errors import KvsolveError
from kvsolve.files.shell_tree import Computed, Literal, Variable, Word
from kvsolve.files.strand import Strand

__all__ = ["ShellTextError", "WordReader"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_BRACED = re.compile(r"([A-Za-z_]\w*|[0-9@*#?!$-])(?:\[([^\]]*)\])?(:?[-=+?])?")
_SPECIAL = "0123456789@*#?$!-"
_ENDS = frozenset(" \t\r\n;|&<>()")
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w .:/|'-]*>(?=[\s\"'/]|$)")
_PLAIN = re.compile(r"[\w\-./:=,@%+~^\[\]{}#!*?]+")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "e": "\x1b"}
_DEEPEST = 60


class ShellTextError(KvsolveError):
    """The text is no shell text; ``index`` is where it stops being one."""

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason)
        self.index = index


class WordReader:
    """Reads words from a place on.

    Attributes:
        strand: The text.
        at: Where the next character is read.
    """

    def __init__(self, strand: Strand, at: int = 0, depth: int = 0) -> None:
        self.strand, self.text, self.at, self.depth = strand, strand.text, at, depth

    def placeholder(self) -> bool:
        """Whether ``<something>`` stands here, as documents write what is to be filled in."""
        return _PLACEHOLDER.match(self.text, self.at) is not None

    def word(self, ends: frozenset[str] = _ENDS) -> Word:
        """The word at this place.

        Raises:
            ShellTextError: A quotation in it is never closed.
        """
        start = self.at
        parts: list[Literal | Variable | Computed] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "<" and self.placeholder():
                self._placeholder(parts)
            elif char in ends:
                break
            else:
                self._piece(char, parts)
        guess = self._guess(parts) if ends is _ENDS else ""
        return Word(tuple(parts), start, self.at, self._quote(start), guess)

    def _placeholder(self, parts: list[Literal | Variable | Computed]) -> None:
        match = _PLACEHOLDER.match(self.text, self.at)
        assert match is not None
        parts.append(Computed("placeholder", match.group(), False, self.at, match.end()))
        self.at = match.end()

    def _piece(self, char: str, parts: list[Literal | Variable | Computed]) -> None:
        if char == "'":
            parts.append(self._single())
        elif char == '"':
            self._double(parts)
        elif char == "\\":
            parts += self._escaped(False)
        elif char == "$":
            parts.append(self._dollar(False))
        elif char == "`":
            parts.append(self._backquoted(False))
        else:
            match = _PLAIN.match(self.text, self.at)
            end = match.end() if match else self.at + 1
            parts.append(Literal(self.strand.part(self.at, end), False))
            self.at = end

    def _guess(self, parts: list[Literal | Variable | Computed]) -> str:
        free = "".join(
            part.strand.text if isinstance(part, Literal) and not part.quoted else "q"
            for part in parts
        )
        if "{" in free and _BRACES.search(free):
            return "the shell expands its braces"
        if "*" in free or ("?" in free and "://" not in free):
            return "the shell looks for files that match it"
        return ""

    def _quote(self, start: int) -> str:
        raw = self.text[start : self.at]
        if not any(mark in raw for mark in "'\"\\"):
            return ""
        mark = raw[0]
        if mark in "'\"" and len(raw) > 1 and raw[-1] == mark and mark not in raw[1:-1]:
            return mark
        return "?"

    def _single(self) -> Literal:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise ShellTextError("the quote ' is never closed", self.at)
        found = Literal(self.strand.part(self.at + 1, end), True)
        self.at = end + 1
        return found

    def _double(self, parts: list[Literal | Variable | Computed]) -> None:
        start = self.at
        self.at += 1
        run = self.at
        text = self.text
        empty = True
        while self.at < len(text):
            char = text[self.at]
            if char not in '"\\$`':
                self.at += 1
                continue
            if self.at > run:
                parts.append(Literal(self.strand.part(run, self.at), True))
                empty = False
            if char == '"':
                if empty:
                    parts.append(Literal(self.strand.part(run, run), True))
                self.at += 1
                return
            empty = False
            if char == "\\":
                parts += self._escaped(True)
            elif char == "$":
                parts.append(self._dollar(True))
            else:
                parts.append(self._backquoted(True))
            run = self.at
        raise ShellTextError('the quote " is never closed', start)

    def _escaped(self, quoted: bool) -> list[Literal]:
        """The character behind a backslash; none for a continued line."""
        start, following = self.at, self.text[self.at + 1 : self.at + 3]
        if following[:1] == "\n" or following == "\r\n":
            self.at += 1 + len(following.partition("\n")[0]) + 1
            return []
        if quoted and following[:1] not in tuple('$`"\\'):
            self.at += 1
            return [Literal(self.strand.part(start, start + 1), True)]
        self.at = min(self.at + 2, len(self.text))
        if not following:
            return []
        at, to = self.strand.span(start, self.at)
        return [Literal(Strand(following[:1], [at], [to]), True)]

    def _backquoted(self, quoted: bool) -> Computed:
        start = self.at
        end = self.text.find("`", start + 1)
        if end < 0:
            raise ShellTextError("the quote ` is never closed", start)
        self.at = end + 1
        return Computed("command", self.text[start + 1 : end], quoted, start, self.at)

    def _dollar(self, quoted: bool) -> Literal | Variable | Computed:
        start, text = self.at, self.text
        following = text[start + 1 : start + 2]
        if following == "(":
            return self._substitution(quoted)
        if following == "{":
            return self._braced(quoted)
        if following == "'" and not quoted:
            return self._ansi()
        if following == '"' and not quoted:
            self.at += 1
            return Literal(self.strand.part(start, start), False)
        name = _NAME.match(text, start + 1)
        if name:
            self.at = name.end()
            return Variable(name.group(), "", None, quoted, start, self.at)
        if following and following in _SPECIAL:
            self.at = start + 2
            operation = following if following in "@*" else ""
            return Variable(following, operation, None, quoted, start, self.at)
        self.at += 1
        return Literal(self.strand.part(start, self.at), quoted)

    def _ansi(self) -> Literal:
        start = self.at
        self.at += 2
        made: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "'":
                at, to = self.strand.span(start, self.at)
                text = "".join(made)
                return Literal(Strand(text, [at] * len(text), [to] * len(text)), True)
            if char == "\\":
                made.append(_ANSI.get(self.text[self.at : self.at + 1], "\\"))
                self.at += 1
            else:
                made.append(char)
        raise ShellTextError("the quote $' is never closed", start)

    def _substitution(self, quoted: bool) -> Computed:
        """``$(command)`` or ``$((arithmetic))``."""
        start = self.at
        end = self.closing(start + 1)
        inner = self.text[start + 2 : end]
        self.at = end + 1
        if inner[:1] == "(" and inner[-1:] == ")":
            return Computed("arithmetic", inner[1:-1], quoted, start, self.at)
        return Computed("command", inner, quoted, start, self.at)

    def closing(self, opening: int) -> int:
        """Index of the parenthesis that closes the one at ``opening``."""
        depth, at, text = 0, opening, self.text
        while at < len(text):
            char = text[at]
            if char == "\\":
                at += 1
            elif char in "'\"":
                at = self._after_quote(at)
            elif char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if not depth:
                    return at
            at += 1
        raise ShellTextError("a parenthesis is never closed", opening)

    def _after_quote(self, at: int) -> int:
        mark, text = self.text[at], self.text
        end = at + 1
        while end < len(text) and text[end] != mark:
            end += 2 if text[end] == "\\" and mark == '"' else 1
        return end

    def _braced(self, quoted: bool) -> Variable | Computed:
        """``${...}``."""
        start, text = self.at, self.text
        match = _BRACED.match(text, start + 2)
        end = self._closing_brace(start + 1)
        self.at = end + 1
        if not match:
            return Variable("", "other", None, quoted, start, self.at)
        name, index, operation = match.groups()
        if match.end() == end and operation is None:
            element = {None: "", "@": "@", "*": "*"}.get(index, "[]")
            if index is None and name in "@*":
                element = name
            word = self._inner(match.start(2), match.end(2), quoted) if element == "[]" else None
            return Variable(name, element, word, quoted, start, self.at)
        if operation is None or index is not None or "?" in operation:
            kept = "" if operation and "?" in operation and index is None else "other"
            return Variable(name, kept, None, quoted, start, self.at)
        return Variable(
            name, operation, self._inner(match.end(), end, quoted), quoted, start, self.at
        )

    def _inner(self, start: int, end: int, quoted: bool) -> Word:
        """The operand of an expansion, with the places that it has in the whole text."""
        if self.depth > _DEEPEST:
            raise ShellTextError("expansions are nested too deeply", start)
        reader = WordReader(self.strand.part(0, end), start, self.depth + 1)
        if not quoted:
            return reader.word(frozenset())
        parts: list[Literal | Variable | Computed] = []
        while reader.at < end:
            char = reader.text[reader.at]
            if char in "\\$`":
                reader._piece(char, parts)
            else:
                parts.append(Literal(reader.strand.part(reader.at, reader.at + 1), True))
                reader.at += 1
        return Word(tuple(parts), start, end, "")

    def _closing_brace(self, opening: int) -> int:
        depth, at, text = 0, opening, self.text
        while at < len(text):
            char = text[at]
            if char == "\\":
                at += 1
            elif char == "'" and depth == 1 and text[opening - 2 : opening - 1] != '"':
                at = self._after_quote(at)
            elif char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if not depth:
                    return at
            at += 1
        raise ShellTextError("the braces ${ are never closed", opening)
