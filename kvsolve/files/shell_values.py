"""What the variables of a shell text hold, each value with the place where it is written."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.files.arithmetic import evaluated
from kvsolve.files.shell_tree import Computed, Literal, Variable
from kvsolve.files.strand import Strand, joined
from kvsolve.files.unknown import has_unknown
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.files.shell_tree import Word
    from kvsolve.files.unknown import Unknowns

__all__ = ["Field", "Held", "Values"]

_SPLIT = re.compile(r"[^ \t\n]+")


@dataclass(frozen=True, slots=True)
class Field:
    """A word after expansion.

    Attributes:
        strand: Its characters.
        start: Offset in the file of the writing that an edit would replace.
        end: Offset after it.
        quote: The mark around that writing, ``"?"`` for a mixture, ``in`` for a part of a value
            that has marks of its own.
        group: Offset of what holds the words around that writing.
        via: Variables that it came through.
        locked: Why the writing must not be edited, "" where it may be.
        splits: It may be several words or none.
        alone: It is the whole value of a variable.
    """

    strand: Strand
    start: int
    end: int
    quote: str
    group: int
    via: frozenset[str] = frozenset()
    locked: str = ""
    splits: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """What a variable holds: one field, or the elements of an array."""

    fields: tuple[Field, ...]
    array: bool = False

    @property
    def text(self) -> str:
        """Its value as one text."""
        return " ".join(field.strand.text for field in self.fields)


class Values:
    """The variables at one place of a script.

    Attributes:
        held: By name, for what the text has set.
        told: Values that the user gives for what it has not.
        uses: How often the text expands each of them.
        group: Offset of the text, which holds the words that stand directly in it.
    """

    __slots__ = ("_unknowns", "group", "held", "told", "uses")

    def __init__(self, unknowns: Unknowns, told: Mapping[str, str], group: int = 0) -> None:
        self.held: dict[str, Held] = {}
        self.told, self.uses, self.group = told, Counter[str](), group
        self._unknowns = unknowns

    def inside(self, group: int) -> Values:
        """A copy for a part of the text whose changes must not reach the rest."""
        copy = Values(self._unknowns, self.told, group)
        copy.held, copy.uses = dict(self.held), self.uses
        return copy

    def unknown(
        self, strand: Strand, start: int, end: int, reason: str, *, splits: bool = False
    ) -> Field:
        """A field for a part of the text that is not known."""
        mark = self._unknowns.mark(strand.text[start:end], reason)
        first, last = strand.span(start, end)
        return Field(
            Strand(mark, [first]), first, last, "?", self.group, frozenset(), reason, splits
        )

    def set_unknown(self, name: str, place: int, reason: str) -> None:
        """A variable that holds something which the text does not tell."""
        array = self.held[name].array if name in self.held else False
        written = f"${{{name}[@]}}" if array else f"${name}"
        mark = self._unknowns.mark(written, reason)
        field = Field(
            Strand(mark, [place]), place, place, "?", self.group, frozenset({name}), reason, array
        )
        self.held[name] = Held((field,), array)

    def fields(self, word: Word, strand: Strand, *, splits: bool = True) -> list[Field]:
        """A word expanded: one field mostly, several or none for some variables.

        Args:
            word: The word.
            strand: The text that it stands in.
            splits: Values without quotes come apart at spaces; not so in assignments.
        """
        return _Expansion(self, word, strand, splits).fields()

    def number(self, name: str) -> str | None:
        """The text of a variable for arithmetic, None where it is not known."""
        held = self.held.get(name)
        if held is None:
            return self.told.get(name)
        self.uses[name] += 1
        return None if has_unknown(held.text) else held.text


class _Expansion:
    """One word on its way to fields."""

    def __init__(self, values: Values, word: Word, strand: Strand, splits: bool) -> None:
        self.values, self.word, self.strand, self.splits = values, word, strand, splits
        self.done: list[list[Field | Literal]] = []
        self.now: list[Field | Literal] = []

    def fields(self) -> list[Field]:
        """The fields of the word."""
        if self.word.guess and self.splits:
            word = self.word
            reason = word.guess
            return [self.values.unknown(self.strand, word.start, word.end, reason, splits=True)]
        for part in self.word.parts:
            if isinstance(part, Literal):
                self.now.append(part)
            elif isinstance(part, Computed):
                self._computed(part)
            else:
                self._variable(part)
        self._break()
        return [self._field(pieces) for pieces in self.done]

    def _break(self) -> None:
        """End a field, if there is one."""
        if any(isinstance(p, Field) or p.quoted or p.strand.text for p in self.now) or (
            not self.splits and not self.done
        ):
            self.done.append(self.now)
        self.now = []

    def _field(self, pieces: list[Field | Literal]) -> Field:
        full = [p for p in pieces if p.strand.text] or pieces[:1]
        start, end = self.strand.span(self.word.start, self.word.end)
        if len(full) == 1 and isinstance(full[0], Field):
            only = full[0]
            if only.start == only.end and len(only.strand):  # written nowhere, so shown where used
                return replace(only, start=start, end=end, quote=self.word.quote)
            return only
        via = frozenset[str]().union(*(p.via for p in full if isinstance(p, Field)))
        locks = [p.locked for p in full if isinstance(p, Field) and p.locked]
        splits = any(p.splits if isinstance(p, Field) else self._loose(p) for p in full)
        if via and not locks:
            locks = [f"it is put together from ${name}" for name in sorted(via)]
        text = joined(p.strand for p in full)
        quote = "?" if via else self.word.quote
        lock = locks[0] if locks else ""
        return Field(text, start, end, quote, self.values.group, via, lock, splits)

    def _loose(self, part: Literal) -> bool:
        """Whether text from around the script, which is not known, may come apart."""
        return self.splits and not part.quoted and has_unknown(part.strand.text)

    def _computed(self, part: Computed) -> None:
        if part.what == "arithmetic":
            found = evaluated(part.inner, self.values.number)
            if found is not None:
                start, end = self.strand.span(part.start, part.end)
                text = Strand(str(found), [start] * len(str(found)), mapped=False)
                reason = "the script computes it"
                group = self.values.group
                self.now.append(Field(text, start, end, "?", group, frozenset(), reason))
                return
        reason = {
            "placeholder": "it is a placeholder to fill in",
            "arithmetic": "it is computed from what is not known",
        }.get(part.what, "the shell computes it")
        self._unknown(part, reason)

    def _unknown(self, part: Computed | Variable, reason: str) -> None:
        splits = self.splits and not part.quoted
        self.now.append(
            self.values.unknown(self.strand, part.start, part.end, reason, splits=splits)
        )

    def _variable(self, part: Variable) -> None:
        values, name, operation = self.values, part.name, part.operation
        held = values.held.get(name)
        if held is None and name in values.told:
            held = self._told(part, values.told[name])
        if operation == "other" or (operation == "[]" and (held is None or part.word is None)):
            self._unknown(part, "the shell computes it")
        elif held is None:
            self._unset(part)
        elif operation in (":+", "+"):
            self._alternative(part, held)
        elif operation in (":-", ":=") and not held.text:
            self._operand(part)
        else:
            values.uses[name] += 1
            self._insert(part, held)

    def _told(self, part: Variable, text: str) -> Held:
        start, end = self.strand.span(part.start, part.end)
        strand = Strand(text, [start] * len(text), mapped=False)
        group = self.values.group
        return Held((Field(strand, start, end, "?", group, frozenset(), "--env gives it"),))

    def _unset(self, part: Variable) -> None:
        name = part.name
        if part.operation in ("-", ":-", "=", ":="):
            self._operand(part)
        elif part.operation in ("+", ":+"):
            reason = f"it depends on ${name}, which is not set in this file"
            self.now.append(
                self.values.unknown(self.strand, part.start, part.end, reason, splits=True)
            )
        elif not name.isidentifier():
            self._positional(part)
        else:
            self._unknown(part, f"${name} is not set in this file")

    def _positional(self, part: Variable) -> None:
        reason = "the script is given it" if part.name in "@*0123456789" else "the shell sets it"
        splits = part.name in "@*" or (self.splits and not part.quoted)
        self.now.append(
            self.values.unknown(self.strand, part.start, part.end, reason, splits=splits)
        )

    def _alternative(self, part: Variable, held: Held) -> None:
        if has_unknown(held.text):
            reason = f"it depends on ${part.name}, which is not known"
            self.now.append(
                self.values.unknown(self.strand, part.start, part.end, reason, splits=True)
            )
        elif held.text:
            self._operand(part)

    def _operand(self, part: Variable) -> None:
        """The word behind ``:-`` or ``:+``, which has its own place in the file."""
        if part.word is None:
            return
        start, end = self.strand.span(part.word.start, part.word.end)
        inner = _Expansion(self.values, part.word, self.strand, False).fields()
        splits = self.splits and not part.quoted and part.word.quote == ""
        for field in inner:
            quote = part.word.quote
            kept = (
                field
                if field.via or field.locked
                else replace(field, start=start, end=end, quote=quote, alone=True)
            )
            self._put(kept, splits, frozenset())

    def _insert(self, part: Variable, held: Held) -> None:
        fields: Sequence[Field] = held.fields
        if held.array and part.operation not in ("@", "*"):
            at = evaluated(part.word.plain or "", self.values.number) if part.word else 0
            if at is None or not -len(fields) <= at < len(fields) or any(f.splits for f in fields):
                self._unknown(part, "the shell computes it")
                return
            fields = fields[at : at + 1] if at >= 0 else fields[len(fields) + at :][:1]
        via = frozenset({part.name})
        for number, field in enumerate(fields):
            if number:
                if self.splits and not (part.quoted and part.operation == "*"):
                    self._break()
                else:
                    self.now.append(Literal(Strand(" ", [field.start]), True))
            self._put(field, self.splits and not part.quoted, via)

    def _put(self, field: Field, splits: bool, via: frozenset[str]) -> None:
        """Put a value in, coming apart at spaces where it is not quoted."""
        via = via | field.via
        text = field.strand.text
        if not splits or not (" " in text or "\t" in text or "\n" in text):
            often = field.splits or (splits and has_unknown(text))
            if text or not splits:
                self.now.append(replace(field, via=via, splits=often))
            return
        if text[0].isspace():
            self._break()
        for number, piece in enumerate(_pieces(field)):
            if number:
                self._break()
            self.now.append(replace(piece, via=via))
        if text[-1].isspace():
            self._break()


def _pieces(field: Field) -> Iterator[Field]:
    """The words of a value that comes apart at spaces, each with its own place."""
    for match in _SPLIT.finditer(field.strand.text):
        strand = field.strand.part(*match.span())
        start, end = field.strand.span(*match.span())
        whole = field.strand.mapped and end - start == len(strand)
        locked = "" if whole else field.locked or "the script puts it together"
        splits = has_unknown(strand.text)
        yield Field(strand, start, end, "in", field.start, field.via, locked, splits)
