"""The parts of a shell text: words, commands, and the blocks that hold commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.files.strand import Strand

__all__ = [
    "Assignment",
    "Block",
    "Computed",
    "Literal",
    "Node",
    "Simple",
    "Variable",
    "Word",
    "read_by",
    "set_by",
]


_ARGUMENT = re.compile(r"[\"']?\$\{?(?:[1-9@*]|(?i:opt|option|arg|key|flag))\}?[\"']?")


class Literal(NamedTuple):
    """Characters that stand for themselves."""

    strand: Strand
    quoted: bool


class Variable(NamedTuple):
    """An expansion of a variable.

    Attributes:
        name: The variable.
        operation: ``""``, ``:-``, ``-``, ``:=``, ``=``, ``:+``, ``+``, ``@`` (all elements),
            ``*`` (the same as one word), ``[]`` (one element) or ``other``.
        word: The operand, where there is one.
        quoted: It stands in double quotes.
        start: Index of the dollar sign in the text.
        end: Index after it.
    """

    name: str
    operation: str
    word: Word | None
    quoted: bool
    start: int
    end: int


class Computed(NamedTuple):
    """What only a running shell knows: ``command``, ``arithmetic`` or ``placeholder``."""

    what: str
    inner: str
    quoted: bool
    start: int
    end: int


class Word(NamedTuple):
    """A word as it is written.

    Attributes:
        parts: What it is made of.
        start: Index of its first character.
        end: Index after it.
        quote: The mark around all of it, ``""`` for none, ``"?"`` for a mixture.
        guess: Why the shell may make something else of it: braces or file patterns.
    """

    parts: tuple[Literal | Variable | Computed, ...]
    start: int
    end: int
    quote: str
    guess: str = ""

    @property
    def plain(self) -> str | None:
        """Its text, where that depends on nothing."""
        if all(isinstance(part, Literal) for part in self.parts):
            return "".join(part.strand.text for part in self.parts if isinstance(part, Literal))
        return None


class Assignment(NamedTuple):
    """``NAME=VALUE``, ``NAME+=VALUE`` or ``NAME=(VALUE ...)``; ``value`` is None for an element."""

    name: str
    append: bool
    value: Word | tuple[Word, ...] | None
    start: int
    end: int


class Simple(NamedTuple):
    """A command.

    Attributes:
        assignments: In front of it, or the arguments of ``export`` and its like.
        words: The command's own.
        bodies: Of its here-documents; whether the shell expands them.
        conditional: It runs only if the one before it succeeded or failed.
        start: Index of its first character.
    """

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    bodies: list[tuple[Strand, bool]]
    conditional: bool
    start: int

    @property
    def program(self) -> str:
        """Its first word, "" where that is not plain."""
        return (self.words[0].plain or "") if self.words else ""


class Block(NamedTuple):
    """Commands under a condition, in a loop, a function or a subshell.

    Attributes:
        kind: ``if``, ``case``, ``loop``, ``function``, ``subshell`` or ``group``.
        bodies: Lists of commands; for ``if`` and ``case`` one of them runs.
        name: Of the function, the variable of the loop, or what a ``case`` looks at.
        otherwise: One body surely runs.
        start: Index of its first character.
    """

    kind: str
    bodies: tuple[Sequence[Node], ...]
    name: str
    otherwise: bool
    start: int

    @property
    def by_caller(self) -> bool:
        """Whether it reads the script's own arguments; without any, nothing in it happens."""
        return self.kind == "case" and _ARGUMENT.fullmatch(self.name) is not None

    def assigned(self) -> Iterator[str]:
        """Names that something in it sets."""
        if self.kind == "loop" and self.name:
            yield self.name
        for body in self.bodies:
            for node in body:
                if isinstance(node, Block):
                    if node.kind not in ("function", "subshell") and not node.by_caller:
                        yield from node.assigned()
                else:
                    yield from set_by(node)

    def ends(self, body: Sequence[Node]) -> bool:
        """Whether nothing after the block runs once this body has run."""
        last = body[-1] if body else None
        return isinstance(last, Simple) and last.program in ("exit", "return", "continue", "break")


Node = Simple | Block


def set_by(node: Simple) -> Iterator[str]:
    """Names that a command sets, ``read`` and its like included."""
    if not node.words or node.program in ("export", "declare", "typeset", "readonly"):
        yield from (assignment.name for assignment in node.assignments)
    yield from read_by(node)
    for word in node.words:
        for part in word.parts:
            if isinstance(part, Variable) and part.operation in (":=", "="):
                yield part.name


def read_by(node: Simple) -> Iterator[str]:
    """Names that ``read`` and its like set, to what nobody can tell."""
    words = [word.plain or "" for word in node.words[1:]]
    if node.program == "printf":
        words = words[1:2] if words[:1] == ["-v"] else []
    elif node.program not in ("read", "mapfile", "readarray", "unset", "getopts"):
        words = []
    yield from (word for word in words if word.isidentifier())
