"""Launch commands in shell text.

A script is read as it runs when nobody gives it arguments or variables: values that the text sets
are put in, values that only the caller, the machine or a condition decides are not known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.launches import is_launch, mentions_launch, outer_context, speaks_only
from kvsolve.files.shell_text import ShellTextError, parse_shell
from kvsolve.files.shell_tree import Assignment, Block, Simple, Variable, Word, read_by
from kvsolve.files.shell_values import Field, Held, Values
from kvsolve.files.strand import Strand, joined
from kvsolve.files.unknown import has_unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.files.shell_tree import Node
    from kvsolve.files.unknown import Unknowns

__all__ = ["Launch", "ScriptReader", "ShellTextError", "launches_in"]

_DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
_SOURCES = frozenset({"source", "."})
_DEEPEST = 6


class Launch(NamedTuple):
    """A launch command of a script.

    Attributes:
        fields: Its words.
        start: Offset where it starts.
        env: Environment by name; a text with a mark where it is not known.
        image: Of a container command around it.
        nested: It stands in the quotation of another command.
        uses: How often the script expands each variable.
    """

    fields: tuple[Field, ...]
    start: int
    env: Mapping[str, str]
    image: str | None
    nested: bool
    uses: Mapping[str, int]


def launches_in(
    strand: Strand,
    unknowns: Unknowns,
    told: Mapping[str, str],
    *,
    nested: bool = False,
    held: Mapping[str, Held] | None = None,
) -> list[Launch]:
    """The launch commands of a shell text, in its order.

    Args:
        strand: The text.
        unknowns: Keeps what is not known.
        told: Values for variables that the text does not set.
        nested: The text stands in a quotation, so no other can be added to it.
        held: Variables that are set around it.

    Raises:
        ShellTextError: The text is no shell text, and no line of it can be read alone.
    """
    reader = ScriptReader(unknowns, told, nested=nested)
    values = Values(unknowns, told, strand.at[0] if len(strand) else 0)
    values.held.update(held or {})
    try:
        reader.read(strand, values)
    except ShellTextError:
        reader.found.clear()
        if not _line_by_line(strand, reader, values):
            raise
    return sorted(reader.found, key=lambda launch: launch.start)


def _line_by_line(strand: Strand, reader: ScriptReader, values: Values) -> bool:
    """Read each command that takes whole lines alone, where the text as a whole makes no sense."""
    start = 0
    lines = strand.text.splitlines(keepends=True)
    chunk = ""
    for line in lines:
        chunk += line
        if line.rstrip("\r\n").endswith("\\") and line is not lines[-1]:
            continue
        if mentions_launch(chunk):
            try:
                reader.read(strand.part(start, start + len(chunk)), values)
            except ShellTextError:
                return False
        start += len(chunk)
        chunk = ""
    return bool(reader.found)


class ScriptReader:
    """Walks through scripts and keeps the launch commands.

    Attributes:
        found: Launch commands so far.
    """

    def __init__(
        self, unknowns: Unknowns, told: Mapping[str, str], *, nested: bool = False, depth: int = 0
    ) -> None:
        self.found: list[Launch] = []
        self._unknowns, self._told = unknowns, told
        self._nested, self._depth = nested, depth
        self._exported: dict[str, None] = {}
        self._functions: dict[str, Block] = {}
        self._history: dict[str, set[str]] = {}
        self._strand = Strand("", ())

    def read(self, strand: Strand, values: Values) -> None:
        """Walk through one text.

        Raises:
            ShellTextError: It is no shell text.
        """
        nodes = parse_shell(strand)
        outer, self._strand = self._strand, strand
        self._run(nodes, values)
        for name in list(self._functions):
            function = self._functions.pop(name)
            inside = values.inside(values.group)
            for variable, texts in self._history.items():
                if len(texts) > 1:
                    inside.set_unknown(variable, self._place(function), "it is set several times")
            self._run(function.bodies[0], inside)
        self._strand = outer

    def _place(self, node: Node) -> int:
        return self._strand.span(node.start, node.start + 1)[0]

    def _run(self, nodes: Sequence[Node], values: Values) -> None:
        for node in nodes:
            if isinstance(node, Simple):
                self._simple(node, values)
            else:
                self._block(node, values)

    def _block(self, block: Block, values: Values) -> None:
        if block.kind == "function":
            self._functions[block.name] = block
        elif block.kind == "group":
            self._run(block.bodies[0], values)
        elif block.kind == "subshell":
            self._run(block.bodies[0], values.inside(values.group))
        elif block.kind == "loop":
            self._loop(block, values)
        else:
            self._branches(block, values)

    def _loop(self, block: Block, values: Values) -> None:
        reason = "it changes in a loop"
        for name in dict.fromkeys(block.assigned()):
            self._open(values, name, self._place(block), reason)
        entry = dict(values.held)
        inside = values.inside(values.group)
        self._run(block.bodies[0], inside)
        values.held = entry

    def _branches(self, block: Block, values: Values) -> None:
        before = values.held
        after: list[dict[str, Held]] = []
        history = {name: set(texts) for name, texts in self._history.items()}
        for body in block.bodies:
            inside = values.inside(values.group)
            self._run(body, inside)
            if not block.ends(body):
                after.append(inside.held)
        if block.by_caller:
            self._history = history
            return
        if not block.otherwise:
            after.append(before)
        names = {n for held in after for n in held if held.get(n) is not before.get(n)}
        for name in sorted(names):
            self._merge(values, name, [held.get(name) for held in after], self._place(block))

    def _merge(self, values: Values, name: str, ends: Sequence[Held | None], place: int) -> None:
        """What a variable holds after one of several branches has run."""
        first = ends[0]
        if first is not None and all(e and _same(e, first) for e in ends):
            fields = first.fields
            if len({id(end) for end in ends}) > 1:
                fields = tuple(replace(f, locked="it is set in several places") for f in fields)
            values.held[name] = Held(fields, first.array)
            return
        self._open(values, name, place, "it is set under a condition", ends)

    def _open(
        self,
        values: Values,
        name: str,
        place: int,
        reason: str,
        ends: Sequence[Held | None] = (),
    ) -> None:
        """Make a variable unknown; of one that only grows, the part before stays known."""
        before = values.held.get(name)
        grows = before is not None and before.array
        for end in ends:
            grows = grows and end is not None and end.fields[: len(before.fields)] == before.fields  # type: ignore[union-attr]
        values.set_unknown(name, place, reason)
        if grows and before is not None:
            rest = values.held[name].fields
            values.held[name] = Held((*before.fields, *rest), True)

    def _simple(self, node: Simple, values: Values) -> None:
        program = node.program
        if not node.words or program in _DECLARES:
            self._assign(node, values)
        self._defaults(node, values)
        fields = [
            self._unless_ellipsis(field, values)
            for word in node.words
            for field in values.fields(word, self._strand)
        ]
        for body, expands in node.bodies:
            if mentions_launch(body.text):
                self._inner(body, values if expands else values.inside(0), {}, None)
        if fields and not speaks_only(fields[0].strand.text):
            self._command(node, fields, values)
        if program in _SOURCES or program == "eval":
            for name in list(values.held):
                values.set_unknown(name, self._place(node), "a file read in may change it")
        if node.words and program not in _DECLARES:
            for name in read_by(node):
                values.set_unknown(name, self._place(node), f"{program} sets it")
        if program in self._functions:
            for name in self._functions[program].assigned():
                values.set_unknown(name, self._place(node), f"the function {program} sets it")

    def _unless_ellipsis(self, field: Field, values: Values) -> Field:
        """The dots with which a document leaves options out stand for any."""
        if field.strand.text not in ("...", "\u2026") or field.quote:
            return field
        mark = self._unknowns.mark(field.strand.text, "it is left out")
        place = Strand(mark, [field.start], [field.end])
        return replace(field, strand=place, locked="it is left out", splits=True)

    def _defaults(self, node: Simple, values: Values) -> None:
        """``${NAME:=value}`` sets the variable as it goes."""
        for word in node.words:
            for part in word.parts:
                if not isinstance(part, Variable) or part.operation not in (":=", "="):
                    continue
                if part.name not in values.held and part.word is not None:
                    fields = values.fields(part.word, self._strand, splits=False)
                    values.held[part.name] = Held(tuple(fields))

    def _assign(self, node: Simple, values: Values) -> None:
        before = dict(values.held)
        for assignment in node.assignments:
            self._set(assignment, values)
        if node.program == "export" or (node.program == "declare" and _exports(node.words)):
            self._exported.update((a.name, None) for a in node.assignments)
            names = (word.plain or "" for word in node.words[1:])
            self._exported.update((name, None) for name in names if name.isidentifier())
        if node.conditional:
            after, values.held = values.held, before
            for assignment in node.assignments:
                name = assignment.name
                ends = [after.get(name), before.get(name)]
                self._merge(values, name, ends, self._place(node))

    def _set(self, assignment: Assignment, values: Values) -> None:
        name, value = assignment.name, assignment.value
        start, end = self._strand.span(assignment.start, assignment.end)
        if value is None:
            values.set_unknown(name, start, "its elements are set one by one")
            return
        if not isinstance(value, Word):
            inside = values.inside(start)
            fields = tuple(f for word in value for f in inside.fields(word, self._strand))
            made = Held(fields, True)
        else:
            uses = dict(values.uses)
            (field,) = values.fields(value, self._strand, splits=False)[:1] or [
                Field(Strand("", ()), end, end, "", values.group)
            ]
            values.uses[name] = uses.get(name, 0)  # what a variable says of itself is no use
            made = Held((replace(field, alone=True),))
        if assignment.append and name in values.held:
            made = _longer(values.held[name], made)
        values.held[name] = made
        self._history.setdefault(name, set()).add(made.text)

    def _command(self, node: Simple, fields: list[Field], values: Values) -> None:
        texts = [field.strand.text for field in fields]
        prefix = dict(self._environment(node.assignments, values))
        for field in fields:
            if len(field.strand.text.split()) > 2 and mentions_launch(field.strand.text):
                env, image = outer_context(texts[: fields.index(field)])
                self._inner(field.strand, values, {**prefix, **env}, image)
                return
        if is_launch(texts):
            place = self._place(node)
            self._keep(Launch(tuple(fields), place, prefix, None, self._nested, values.uses))

    def _keep(self, launch: Launch) -> None:
        known = {(kept.start, len(kept.fields)) for kept in self.found}
        if (launch.start, len(launch.fields)) not in known:
            self.found.append(launch)

    def _environment(
        self, assignments: Iterable[Assignment], values: Values
    ) -> Iterator[tuple[str, str]]:
        for name in self._exported:
            if name in values.held:
                yield name, values.held[name].text
        for assignment in assignments:
            if isinstance(assignment.value, Word):
                fields = values.fields(assignment.value, self._strand, splits=False)
                yield assignment.name, " ".join(field.strand.text for field in fields)

    def _inner(
        self, strand: Strand, values: Values, env: Mapping[str, str], image: str | None
    ) -> None:
        """Read a text that another command runs."""
        if self._depth >= _DEEPEST:
            return
        reader = ScriptReader(self._unknowns, self._told, nested=True, depth=self._depth + 1)
        reader._exported = dict(self._exported)
        inside = values.inside(strand.at[0] if len(strand) else 0)
        try:
            reader.read(strand, inside)
        except ShellTextError:
            return
        for launch in reader.found:
            whole = {**env, **launch.env}
            self._keep(launch._replace(env=whole, image=launch.image or image))


def _exports(words: Sequence[Word]) -> bool:
    return any((word.plain or "").startswith("-") and "x" in (word.plain or "") for word in words)


def _same(one: Held, other: Held) -> bool:
    """Whether two values are the same and known."""
    texts = [field.strand.text for field in one.fields]
    same = texts == [field.strand.text for field in other.fields] and one.array == other.array
    return same and not has_unknown(one.text)


def _longer(before: Held, more: Held) -> Held:
    if before.array:
        return Held((*before.fields, *more.fields), True)
    first, last = before.fields[0], more.fields[0]
    via = first.via | last.via
    text = joined((first.strand, last.strand))
    reason = "the script puts it together"
    return Held((Field(text, first.start, first.start, "?", first.group, via, reason),))
