"""Edits of a command as edits of the file that it stands in.

A word is replaced within its own quotes, an option goes with the space or the line that is its own,
and a new one stands behind the last one, set out as that is. Whatever else is in the file stays.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.found import COMPOSED
from kvsolve.files.pairs import beside_pair, pair_at, pair_text, without_pair
from kvsolve.files.writing_words import CannotEditError, mapped, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.files.found import Document, FoundCommand, Token

__all__ = [
    "CannotEditError",
    "Delete",
    "Insert",
    "Operation",
    "Replace",
    "Rewrite",
    "TextEdit",
    "carried_out",
    "moved",
    "text_edits",
]

_CONTINUED = re.compile(r"[ \t]*\\\r?\n[ \t]*")
_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r"(?:[ \t]*\\\r?\n[ \t]*|\s+)\Z")
_KEY = re.compile(r"(['\"]?)[\w-]+\1")
_COLON = re.compile(r"[ \t]*:[ \t]+")
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


class Rewrite(NamedTuple):
    """Another option, its values included, for the one of a mapping that these words are."""

    at: int
    width: int
    words: tuple[str, ...]


Operation = Replace | Delete | Insert | Rewrite


def carried_out(words: Sequence[str], operations: Sequence[Operation]) -> list[str]:
    """The words of a command after some operations."""
    return [word for word, _ in moved(words, operations)]


def moved(words: Sequence[str], operations: Sequence[Operation]) -> list[tuple[str, int]]:
    """The same, each with its position before; -1 where it was not there."""
    slots: list[list[tuple[str, int]]] = [[(word, at)] for at, word in enumerate(words)]
    for operation in operations:
        if isinstance(operation, Replace):
            was = slots[operation.at][0]
            slots[operation.at][0] = was if was[0] == operation.text else (operation.text, -1)
        elif isinstance(operation, Insert):
            slots[operation.after] += [(word, -1) for word in operation.words]
        else:
            for at in range(operation.at, operation.at + operation.width):
                slots[at] = slots[at][1:]
            if isinstance(operation, Rewrite):
                slots[operation.at][:0] = [(word, -1) for word in operation.words]
    return [pair for slot in slots for pair in slot]


def text_edits(
    document: Document, found: FoundCommand, operations: Sequence[Operation]
) -> tuple[TextEdit, ...]:
    """The edits of the file, from first to last, none overlapping another.

    Raises:
        CannotEditError: One of them is not safe.
    """
    editor = _Editor(document, found)
    edits = [
        edit
        for operation in _side_by_side(operations, found.tokens)
        for edit in editor.edits(operation)
    ]
    return tuple(_merged(sorted(edits)))


def _side_by_side(operations: Sequence[Operation], tokens: Sequence[Token]) -> Iterator[Operation]:
    """The operations, options that go side by side as one."""
    deletions = sorted(o for o in operations if isinstance(o, Delete))
    last: Delete | None = None
    for deletion in deletions:
        listed = tokens[deletion.at].layout.kind not in ("map", "pairs")
        if last is not None and listed and last.at + last.width == deletion.at:
            last = Delete(last.at, last.width + deletion.width)
            continue
        if last is not None:
            yield last
        last = deletion
    if last is not None:
        yield last
    yield from (o for o in operations if not isinstance(o, Delete))


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
        if isinstance(operation, Delete):
            yield from self._delete(operation)
        elif isinstance(operation, Insert):
            yield self._insert(operation)
        elif isinstance(operation, Rewrite):
            yield self._rewrite(operation)
        elif operation.text != self.tokens[operation.at].text:
            yield self._replace(operation)

    def _editable(self, at: int, *, goes: bool = False) -> Token:
        """The word, if it may be edited, or if it may go as a whole."""
        token = self.tokens[at]
        may_go = goes and token.locked in (token.unknown, COMPOSED)
        if (token.locked and not may_go) or token.end <= token.start:
            reason = token.locked or "it is written nowhere"
            raise CannotEditError(f"{token.text} is left alone: {reason}")
        return token

    def _replace(self, operation: Replace) -> TextEdit:
        part = self._part(self.tokens[operation.at], operation.text)
        if part is not None:
            return part
        token = self._editable(operation.at)
        if token.layout.kind in ("map", "pairs") and operation.text.startswith("--"):
            return self._rename(token, operation.text)
        return TextEdit(token.start, token.end, written(operation.text, token))

    def _part(self, token: Token, text: str) -> TextEdit | None:
        """The name alone, or the value within its own quotes, of an option written with ``=``."""
        name, equals, value = text.partition("=")
        old, _, before = token.text.partition("=")
        if not equals or not name.startswith("--") or token.end <= token.start:
            return None
        start = token.start + (self.text[token.start] in "'\"")
        head = f"{old}="
        if not self.text.startswith(head, start) or token.locked not in ("", token.unknown):
            return None
        if value == before:
            return TextEdit(start, start + len(old), name)
        quote = self.text[start + len(head) : start + len(head) + 1]
        quoted = start == token.start and not token.locked and quote in ("'", '"')
        if name != old or not quoted or token.end != start + len(head) + len(before) + 2:
            return None
        inside = token._replace(quote="in")
        return TextEdit(token.end - len(before) - 1, token.end - 1, written(value, inside))

    def _rewrite(self, operation: Rewrite) -> TextEdit:
        """Another option in the place of one of a mapping or a program, in its own quotes."""
        token = self._editable(operation.at)
        words = operation.words
        if token.layout.kind == "pairs":
            return TextEdit(token.start, token.reach, pair_text(token, words))
        key = self._rename(token, words[0])
        rest = self.tokens[operation.at : operation.at + operation.width]
        colon = _COLON.match(self.text, key.end)
        if colon is None or any(other.locked for other in rest):
            raise CannotEditError(f"{token.text} is left alone: it is a key of a mapping")
        text = key.text + colon.group() + mapped(words[1:], token)
        return TextEdit(token.start, max(other.end for other in rest), text)

    def _rename(self, token: Token, option: str) -> TextEdit:
        """Another name for an option of a mapping, in its own quotes."""
        found = _KEY.match(self.text, token.start)
        name = option.removeprefix("--")
        if found is None or "=" in name:
            raise CannotEditError(f"{token.text} is left alone: it is a key of a mapping")
        name = name if "-" in token.layout.keys else name.replace("-", "_")
        return TextEdit(token.start, found.end(), found[1] + name + found[1])

    def _delete(self, operation: Delete) -> Iterator[TextEdit]:
        at, end = operation.at, operation.at + operation.width
        kind = self.tokens[at].layout.kind
        if kind in ("map", "pairs"):
            key = self._editable(at)
            if kind == "map":
                yield self._line(key.start, max(token.end for token in self.tokens[at:end]))
            else:
                yield TextEdit(*without_pair(self.text, key), "")
            return
        if kind in ("shell", "flow"):
            edit = self._first_of_line(at, end - 1)
            if edit is not None:
                yield edit
                return
        while at < end:
            token = self._editable(at, goes=True)
            if token.layout.kind == "block":
                yield self._line(token.start, token.end)
            else:
                yield self._word(at)
            at += 1

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
        if token.layout.kind == "shell":  # what stands beside it comes from somewhere else
            gap = _BEFORE.search(self.text, max(token.start - 200, 0), token.start)
            if gap and self.text[token.end : token.end + 1].strip() == "":
                return TextEdit(gap.start(), token.end, "")
        return TextEdit(token.start, token.end, "")

    def _first_of_line(self, at: int, last: int) -> TextEdit | None:
        """Words that begin a line which others end: these take their place."""
        words = [self._editable(place, goes=True) for place in range(at, last + 1)]
        before, after = self._neighbour(at, -1), self._neighbour(last, 1)
        if before is None or after is None:
            return None
        around = [before, *words, after]
        gaps = [(a.end, b.start) for a, b in pairwise(around)]
        sound = all(a <= b and self._is_gap(a, b, words[0]) for a, b in gaps)
        broken = ["\n" in self.text[a:b] for a, b in gaps]
        if not sound or not broken[0] or broken[-1]:
            return None
        return TextEdit(words[0].start, after.start, "")

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
        if kind == "pairs":
            pair = pair_at(self.tokens, operation.after)
            return TextEdit(*beside_pair(self.text, pair, operation.words, self.newline))
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
        yield f"{' ' * anchor.layout.column}{key}: {mapped(values, anchor)}"
