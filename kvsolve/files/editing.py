"""Edits of a command as edits of the file that it stands in.

A word is replaced within its own quotes, an option goes with the space or the line that is its own,
and a new one stands behind the last one, set out as that is. Whatever else is in the file stays.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.writing_words import CannotEditError, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.files.found import Document, FoundCommand, Token

__all__ = [
    "CannotEditError",
    "Delete",
    "Insert",
    "Operation",
    "Replace",
    "TextEdit",
    "carried_out",
    "text_edits",
]

_CONTINUED = re.compile(r"[ \t]*\\\r?\n[ \t]*")
_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r"(?:[ \t]*\\\r?\n[ \t]*|\s+)\Z")
_COMMA = re.compile(r"[\s\\]*,[\s\\]*")


class TextEdit(NamedTuple):
    """What takes the place of ``text[start:end]``."""

    start: int
    end: int
    text: str


class Replace(NamedTuple):
    """Another text for the word at this position of the command."""

    at: int
    text: str


class Delete(NamedTuple):
    """An option goes: so many words from this position on."""

    at: int
    width: int


class Insert(NamedTuple):
    """A new option behind the word at this position."""

    after: int
    words: tuple[str, ...]


Operation = Replace | Delete | Insert


def carried_out(words: Sequence[str], operations: Sequence[Operation]) -> list[str]:
    """The words of a command after some operations."""
    slots: list[list[str]] = [[word] for word in words]
    for operation in operations:
        if isinstance(operation, Replace):
            slots[operation.at][0] = operation.text
        elif isinstance(operation, Delete):
            for at in range(operation.at, operation.at + operation.width):
                slots[at] = slots[at][1:]
        else:
            slots[operation.after] += operation.words
    return [word for slot in slots for word in slot]


def text_edits(
    document: Document, found: FoundCommand, operations: Sequence[Operation]
) -> tuple[TextEdit, ...]:
    """The edits of the file, from first to last, none overlapping another.

    Raises:
        CannotEditError: One of them is not safe.
    """
    editor = _Editor(document, found)
    edits = [edit for operation in operations for edit in editor.edits(operation)]
    return tuple(_merged(sorted(edits)))


def _merged(edits: list[TextEdit]) -> Iterator[TextEdit]:
    """The edits with those that touch each other made one."""
    last: TextEdit | None = None
    for edit in edits:
        if last is not None and edit.start < last.end and last.text == edit.text == "":
            last = TextEdit(last.start, max(last.end, edit.end), "")
            continue
        if last is not None and edit.end == last.start == last.end:
            last = TextEdit(last.start, last.end, last.text + edit.text)
            continue
        if last is not None and edit.start < last.end:
            raise CannotEditError("two of its edits overlap")
        if last is not None:
            yield last
        last = edit
    if last is not None:
        yield last


class _Editor:
    def __init__(self, document: Document, found: FoundCommand) -> None:
        self.text, self.tokens = document.text, found.tokens
        self.newline = "\r\n" if "\r\n" in document.text else "\n"

    def edits(self, operation: Operation) -> Iterator[TextEdit]:
        if isinstance(operation, Replace):
            yield self._replace(operation)
        elif isinstance(operation, Delete):
            yield from self._delete(operation)
        else:
            yield self._insert(operation)

    def _editable(self, at: int) -> Token:
        token = self.tokens[at]
        if token.locked or token.end <= token.start:
            reason = token.locked or "it is written nowhere"
            raise CannotEditError(f"{token.text} is left alone: {reason}")
        return token

    def _replace(self, operation: Replace) -> TextEdit:
        token = self._editable(operation.at)
        if token.layout.kind == "map" and operation.text.startswith("--"):
            return self._key(token, operation.text)
        return TextEdit(token.start, token.end, written(operation.text, token))

    def _key(self, token: Token, option: str) -> TextEdit:
        """Another key of a mapping, with the dashes or underscores that the old one has."""
        old = self.text[token.start : token.end]
        bare = old.strip("'\"").lstrip("-")
        if not bare or bare.replace("_", "-") != token.text.lstrip("-").replace("_", "-"):
            raise CannotEditError(f"{token.text} is left alone: it is a key of a mapping")
        new = option.lstrip("-")
        new = new.replace("-", "_") if "_" in bare else new
        return TextEdit(token.start, token.end, old.replace(bare, new))

    def _delete(self, operation: Delete) -> Iterator[TextEdit]:
        at, end = operation.at, operation.at + operation.width
        if self.tokens[at].layout.kind == "map":
            yield self._pair(at, end)
            return
        while at < end:
            token = self._editable(at)
            if token.layout.kind == "block":
                yield self._line(token.start, token.end)
            else:
                yield self._word(at)
            at += 1

    def _pair(self, at: int, end: int) -> TextEdit:
        key = self.tokens[at]
        if key.locked:
            raise CannotEditError(f"{key.text} is left alone: {key.locked}")
        return self._line(key.start, max(token.end for token in self.tokens[at:end]))

    def _line(self, start: int, end: int) -> TextEdit:
        """The lines that an item or a pair has for itself."""
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end)
        if self.text[first:start].strip(" \t>-"):
            raise CannotEditError("what is to go shares its line with something else")
        if last < 0:  # the last line goes with the line end before it
            return TextEdit(max(first - len(self.newline), 0), len(self.text), "")
        return TextEdit(first, last + 1, "")

    def _word(self, at: int) -> TextEdit:
        """A word with the gap before it, or behind it where it is the first of its group."""
        token = self.tokens[at]
        before = self._neighbour(at, -1)
        if before is not None and self._is_gap(before.end, token.start, token):
            return TextEdit(before.end, token.end, "")
        after = self._neighbour(at, 1)
        if after is not None and self._is_gap(token.end, after.start, token):
            return TextEdit(token.start, after.start, "")
        return TextEdit(token.start, token.end, "")

    def _neighbour(self, at: int, step: int) -> Token | None:
        """The next word in this direction that stands beside it in the file."""
        token = self.tokens[at]
        other = at + step
        while 0 <= other < len(self.tokens):
            found = self.tokens[other]
            if found.layout.group == token.layout.group and found.end > found.start:
                ordered = (found.end <= token.start) if step < 0 else (found.start >= token.end)
                return found if ordered else None
            other += step
        return None

    def _is_gap(self, start: int, end: int, token: Token) -> bool:
        gap = self.text[start:end]
        if token.layout.kind == "flow":
            return _COMMA.fullmatch(gap) is not None
        return (_SPACE.fullmatch(gap) or _CONTINUED.fullmatch(gap)) is not None

    def _insert(self, operation: Insert) -> TextEdit:
        anchor = self.tokens[operation.after]
        words = self._joined(operation.words)
        kind = anchor.layout.kind
        if kind == "shell":
            if self.text[anchor.end : anchor.end + 1].strip("'\"`)\\;|&<>\n\t\r "):
                raise CannotEditError("there is no place for an option behind the last one")
            return TextEdit(anchor.end, anchor.end, self._shell(operation.after, words))
        if kind == "flow":
            return TextEdit(anchor.end, anchor.end, self._flow(operation.after, words))
        stop = self.text.find("\n", anchor.end)
        stop = len(self.text) if stop < 0 else stop
        stop -= self.text[stop - 1 : stop] == "\r"
        rows = self._items(operation.after, words) if kind == "block" else self._row(anchor, words)
        return TextEdit(stop, stop, "".join(self.newline + row for row in rows))

    def _joined(self, words: Sequence[str]) -> tuple[str, ...]:
        """An option and its value as one word, where the command writes them so."""
        options = [token.text for token in self.tokens if token.text.startswith("--")]
        attached = sum("=" in text for text in options)
        if len(words) == 2 and attached * 2 > len(options):
            return (f"{words[0]}={words[1]}",)
        return tuple(words)

    def _like(self, at: int, *, option: bool) -> Token:
        """The nearest word before that is an option, or none, of the same group."""
        anchor = self.tokens[at]
        for token in reversed(self.tokens[: at + 1]):
            same = token.layout.group == anchor.layout.group and token.layout.kind != "map"
            if same and token.text.startswith("-") is option and not token.unknown:
                return token
        return anchor._replace(quote="")

    def _gap(self, at: int, pattern: re.Pattern[str], usual: str, *, option: bool) -> str:
        """What stands before the last option, or before the last value, of the group."""
        anchor = self.tokens[at]
        for place in range(at, 0, -1):
            token, before = self.tokens[place], self.tokens[place - 1]
            beside = before.layout.group == token.layout.group == anchor.layout.group
            if beside and token.text.startswith("-") is option and before.end <= token.start:
                gap = self.text[before.end : token.start]
                if pattern.fullmatch(gap):
                    return gap
        return usual

    def _shell(self, at: int, words: Sequence[str]) -> str:
        option = self._like(at, option=True)
        before = _BEFORE.search(self.text, max(option.start - 200, 0), option.start)
        gap = before.group() if before and option.text.startswith("-") else " "
        value = self._like(at, option=False)
        texts = [written(words[0], option)] + [written(w, value) for w in words[1:]]
        return gap + " ".join(texts)

    def _flow(self, at: int, words: Sequence[str]) -> str:
        made = []
        for number, word in enumerate(words):
            gap = self._gap(at, _COMMA, ", ", option=number == 0)
            made.append(gap + written(word, self._like(at, option=number == 0)))
        return "".join(made)

    def _items(self, at: int, words: Sequence[str]) -> Iterator[str]:
        anchor = self.tokens[at]
        first = self.text.rfind("\n", 0, anchor.start) + 1
        indent = self.text[first : first + anchor.layout.column]
        if indent.strip(" \t>"):
            indent = " " * anchor.layout.column
        for number, word in enumerate(words):
            yield f"{indent}- {written(word, self._like(at, option=number == 0))}"

    def _row(self, anchor: Token, words: Sequence[str]) -> Iterator[str]:
        key = words[0].removeprefix("--")
        key, equals, attached = key.partition("=")
        key = key.replace("-", "_") if anchor.layout.keys == "_" else key
        values = [attached] if equals else list(words[1:])
        plain = anchor._replace(quote="")
        texts = [written(value, plain) for value in values]
        value = "true" if not texts else texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        yield f"{' ' * anchor.layout.column}{key}: {value}"
