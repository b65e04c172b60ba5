"""From shell text to a tree of commands and blocks.

Only what decides which commands there are and which words they have: lists, pipelines,
redirections, here-documents, conditions, loops, functions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.shell_tree import Assignment, Block, Node, Simple, Word
from kvsolve.files.shell_words import ShellTextError, WordReader
from kvsolve.files.strand import joined

if TYPE_CHECKING:
    from kvsolve.files.strand import Strand

__all__ = ["ShellTextError", "parse_shell"]

_BLANK = re.compile(r"(?:[ \t\r]+|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n]*\])?(\+?)=")
_REDIRECTION = re.compile(r"(?:&>>?|(?:\d+|\{\w+\})?(<<-|<<<|<<|>>|>&|>\||<&|<>|>|<))[ \t]*")
_RESERVED = re.compile(r"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|\{|\}|!"
                       r"|\[\[|time)(?=[\s;()]|$)")  # fmt: skip
_FUNCTION = re.compile(
    r"(?:function[ \t]+([\w:.-]+)[ \t]*(?:\([ \t]*\))?|([\w:.-]+)[ \t]*\([ \t]*\))\s*(?=[{(])"
)
_DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
_DEEPEST = 60
_NONE: frozenset[str] = frozenset()


def parse_shell(strand: Strand) -> list[Node]:
    """The commands and blocks of a shell text.

    Raises:
        ShellTextError: A quotation or a block is never closed.
    """
    return _Parser(strand).commands(_NONE)


class _Parser(WordReader):
    def __init__(self, strand: Strand) -> None:
        super().__init__(strand)
        self.nesting = 0
        self.waiting: list[tuple[Simple, str, bool, bool]] = []

    def commands(self, stops: frozenset[str], closer: str = "") -> list[Node]:
        """Commands up to a reserved word of ``stops`` or to ``closer``, which stay unread."""
        self.nesting += 1
        if self.nesting > _DEEPEST:
            raise ShellTextError("blocks are nested too deeply", self.at)
        nodes: list[Node] = []
        conditional = False
        while self._to_command():
            char = self.text[self.at]
            if char == "\n":
                self._line_end()
                conditional = False
            elif self.text.startswith(("&&", "||"), self.at):
                self.at += 2
                conditional = True
            elif self.text.startswith(";;", self.at) or (char == ")" and closer == ")"):
                if closer:
                    break
                self.at += 1
            elif char in ";|&)" and not self.text.startswith("&>", self.at):
                self.at += 1
                conditional = char == "|" and conditional
            else:
                reserved = _RESERVED.match(self.text, self.at)
                if reserved and reserved.group() in stops:
                    break
                nodes += self._command(reserved.group() if reserved else "", conditional)
        self.nesting -= 1
        return nodes

    def _to_command(self) -> bool:
        self._blank()
        return self.at < len(self.text)

    def _blank(self) -> None:
        while True:
            match = _BLANK.match(self.text, self.at) or _COMMENT.match(self.text, self.at)
            if not match:
                return
            self.at = match.end()

    def _line_end(self) -> None:
        self.at += 1
        for simple, mark, expands, tabs in self.waiting:
            simple.bodies.append((self._here_document(mark, tabs), expands))
        self.waiting.clear()

    def _here_document(self, mark: str, tabs: bool) -> Strand:
        lines: list[Strand] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end].rstrip("\r")
            start = self.at
            self.at = min(end + 1, len(self.text))
            if (line.lstrip("\t") if tabs else line) == mark:
                break
            lines.append(self.strand.part(start, self.at))
        return joined(lines) if lines else self.strand.part(self.at, self.at)

    def _command(self, reserved: str, conditional: bool) -> list[Node]:
        start = self.at
        if reserved in ("!", "time"):
            self.at += len(reserved)
            return []
        if reserved == "[[":
            self._condition()
            return []
        if self.text.startswith("((", start):
            self.at = self.closing(start) + 1
            return []
        if self.text[start] == "(":
            self.at += 1
            return [self._block("subshell", [self._until(")")], start)]
        function = _FUNCTION.match(self.text, start)
        if function and not reserved:
            return [self._function(function, start)]
        if reserved:
            return self._compound(reserved, start)
        return [self._simple(conditional)]

    def _block(
        self, kind: str, bodies: list[list[Node]], start: int, name: str = "", both: bool = False
    ) -> Block:
        return Block(kind, tuple(bodies), name, both, start)

    def _until(self, closer: str) -> list[Node]:
        stops = frozenset({closer}) if closer != ")" else _NONE
        body = self.commands(stops, closer)
        if not self.text.startswith(closer, self.at):
            raise ShellTextError(f"{closer} is missing", self.at)
        self.at += len(closer)
        return body

    def _function(self, match: re.Match[str], start: int) -> Block:
        self.at = match.end()
        closer = {"{": "}", "(": ")"}[self.text[self.at]]
        self.at += 1
        return self._block("function", [self._until(closer)], start, match[1] or match[2])

    def _condition(self) -> None:
        """Pass over ``[[ ... ]]``."""
        self.at += 2
        while self.at < len(self.text):
            self._blank()
            if re.compile(r"\]\](?=[\s;&|)]|$)").match(self.text, self.at):
                self.at += 2
                return
            before = self.at
            self.word()
            self.at += self.at == before

    def _compound(self, reserved: str, start: int) -> list[Node]:
        self.at += len(reserved)
        if reserved == "{":
            return [self._block("group", [self._until("}")], start)]
        if reserved == "if":
            return self._if(start)
        if reserved in ("while", "until"):
            return self._loop(start, "", self.commands(frozenset({"do"})))
        if reserved in ("for", "select"):
            return self._for(start)
        if reserved == "case":
            return [self._case(start)]
        return []  # a reserved word that closes nothing: text that only looks like shell

    def _skip(self, word: str) -> None:
        if not self.text.startswith(word, self.at):
            raise ShellTextError(f"{word} is missing", self.at)
        self.at += len(word)

    def _if(self, start: int) -> list[Node]:
        stops = frozenset({"elif", "else", "fi"})
        nodes = self.commands(frozenset({"then"}))
        bodies: list[list[Node]] = []
        otherwise = False
        self._skip("then")
        while True:
            bodies.append(self.commands(stops))
            if self.text.startswith("elif", self.at):
                self.at += 4
                nodes += self.commands(frozenset({"then"}))
                self._skip("then")
            elif self.text.startswith("else", self.at):
                self.at += 4
                otherwise = True
            else:
                self._skip("fi")
                return [*nodes, self._block("if", bodies, start, both=otherwise)]

    def _loop(self, start: int, name: str, before: list[Node]) -> list[Node]:
        self._skip("do")
        body = self.commands(frozenset({"done"}))
        self._skip("done")
        return [self._block("loop", [[*before, *body]], start, name)]

    def _for(self, start: int) -> list[Node]:
        self._blank()
        name = ""
        if self.text.startswith("((", self.at):
            self.at = self.closing(self.at) + 1
        else:
            name = self.word().plain or ""
            stop = re.compile(r"(?:^|[\s;])do(?=\s)").search(self.text, self.at)
            if not stop:
                raise ShellTextError("do is missing", self.at)
            self.at = stop.end() - 2
        return self._loop(start, name, self.commands(frozenset({"do"})))

    def _case(self, start: int) -> Block:
        self._blank()
        subject = self.at
        self.word()
        name = self.text[subject : self.at]
        while self.at < len(self.text) and not re.compile(r"\sin\s").match(self.text, self.at - 1):
            self.at += 1
        self.at += 2
        bodies: list[list[Node]] = []
        other = False
        while self._to_pattern():
            end = self._pattern_end()
            pattern = self.text[self.at : end].strip(" \t(")
            other |= pattern == "*"
            self.at = end + 1
            bodies.append(self.commands(frozenset({"esac"}), ";;"))
            mark = re.compile(r";;&|;;|;&").match(self.text, self.at)
            self.at = mark.end() if mark else self.at
        self._skip("esac")
        return self._block("case", bodies, start, name, both=other)

    def _to_pattern(self) -> bool:
        while self._to_command() and self.text[self.at] == "\n":
            self.at += 1
        if self.at >= len(self.text):
            raise ShellTextError("esac is missing", self.at)
        return not re.compile(r"esac(?=[\s;)&|]|$)").match(self.text, self.at)

    def _pattern_end(self) -> int:
        at = self.at + (self.text[self.at] == "(")
        while at < len(self.text) and self.text[at] != ")":
            if self.text[at] in "'\"":
                at = self._after_quote(at)
            at += 1
        if at >= len(self.text):
            raise ShellTextError("a pattern of case is never closed", self.at)
        return at

    def _simple(self, conditional: bool) -> Simple:
        start = self.at
        words: list[Word] = []
        assignments: list[Assignment] = []
        here: list[tuple[str, bool, bool]] = []
        while self.at < len(self.text):
            self._gap()
            if self.at >= len(self.text):
                break
            char = self.text[self.at]
            redirection = None if self.placeholder() else _REDIRECTION.match(self.text, self.at)
            if redirection:
                self._redirection(redirection, here)
            elif char in "\n;|&)":
                break
            elif char in "<>(" and not self.placeholder():
                self._process(words)
            elif not self._assignment(words, assignments):
                words.append(self.word())
        made = Simple(tuple(assignments), tuple(words), [], conditional, start)
        self.waiting += [(made, *document) for document in here]
        return made

    def _gap(self) -> None:
        """Space, and a comment that stands alone; inside a word ``#`` is no comment."""
        before = self.at
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        if self.at > before and self.text[self.at : self.at + 1] == "#":
            match = _COMMENT.match(self.text, self.at)
            self.at = match.end() if match else self.at

    def _redirection(self, match: re.Match[str], here: list[tuple[str, bool, bool]]) -> None:
        self.at = match.end()
        kind = match[1]
        word = self.word()
        if kind in ("<<", "<<-"):
            here.append((word.plain or "", word.quote == "", kind == "<<-"))

    def _process(self, words: list[Word]) -> None:
        """``<(...)``, or a parenthesis that no shell would take; both stand for no known word."""
        opening = self.text.find("(", self.at)
        if opening < 0 or opening > self.at + 1:
            self.at += 1
            return
        self.at = self.closing(opening) + 1

    def _assignment(self, words: list[Word], assignments: list[Assignment]) -> bool:
        declares = bool(words) and words[0].plain in _DECLARES
        match = _ASSIGNMENT.match(self.text, self.at)
        if not match or (words and not declares):
            return False
        start = self.at
        self.at = match.end()
        value: Word | tuple[Word, ...] | None
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            value = tuple(self._elements())
        else:
            value = self.word()
        if match[2]:
            value = None
        assignments.append(Assignment(match[1], bool(match[3]), value, start, self.at))
        return True

    def _elements(self) -> list[Word]:
        elements: list[Word] = []
        while True:
            self._blank()
            if self.at >= len(self.text):
                raise ShellTextError("an array is never closed", self.at)
            char = self.text[self.at]
            if char == ")":
                self.at += 1
                return elements
            if char == "\n":
                self.at += 1
                continue
            before = self.at
            word = self.word()
            if self.at == before:
                self.at += 1
            else:
                elements.append(word)
