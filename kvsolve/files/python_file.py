"""Commands in Python: lists of words, and strings that a shell gets to run.

The program is parsed, never run. Only literals count; what a program computes is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.files.assembly import command_of_launch, shared_locked, token_of
from kvsolve.files.found import FileError, FoundCommand, Layout, Token, Unresolved
from kvsolve.files.launches import is_launch, mentions_launch
from kvsolve.files.option_maps import are_of_others, are_options
from kvsolve.files.python_strings import literal_strand
from kvsolve.files.shell import ShellTextError, launches_in
from kvsolve.files.shell_values import Field
from kvsolve.files.strand import Strand

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.files.found import Document
    from kvsolve.files.unknown import Unknowns

__all__ = ["read_python"]

_MODELS = frozenset({"model-path", "model"})
_GROWS = frozenset({"append", "extend", "insert", "remove", "pop"})


def read_python(
    document: Document, strand: Strand, unknowns: Unknowns, told: Mapping[str, str]
) -> Iterator[FoundCommand | FileError]:
    """The launch commands of a program.

    Args:
        document: The file.
        strand: The program's text.
        unknowns: Keeps what is not known.
        told: Values that the user gives for variables.
    """
    try:
        tree = ast.parse(strand.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        yield FileError(f"it is no Python: {getattr(error, 'msg', error)}", document.path, line)
        return
    reader = _PythonReader(document, strand, unknowns, told)
    found = sorted(reader.commands(tree), key=lambda c: (c.location.line, c.location.column))
    yield from shared_locked(found)


class _PythonReader:
    def __init__(
        self, document: Document, strand: Strand, unknowns: Unknowns, told: Mapping[str, str]
    ) -> None:
        self.document, self.strand, self.unknowns, self.told = document, strand, unknowns, told
        self.lines = [0]
        for line in strand.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.rows = strand.text.splitlines(keepends=True)

    def commands(self, tree: ast.Module) -> Iterator[FoundCommand]:
        """All of them, in no order."""
        grown = _grown(tree)
        names = _assigned(tree)
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Expr) and _is_text(node.value):
                continue  # a docstring
            if isinstance(node, (ast.List, ast.Tuple)):
                found = self._argv(node)
                if found is not None:
                    yield self._with_notes(found, names.get(id(node)), grown)
                    continue
            elif _is_text(node):
                yield from self._text(node)
                continue
            elif isinstance(node, (ast.Dict, ast.Call)):
                yield from self._options(node)
            waiting += ast.iter_child_nodes(node)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._index(node.lineno, node.col_offset),
            self._index(node.end_lineno, node.end_col_offset),
        )

    def _index(self, line: int, column: int) -> int:
        row = self.rows[line - 1] if line <= len(self.rows) else ""
        ascii_only = row.isascii()
        width = column if ascii_only else len(row.encode()[:column].decode(errors="ignore"))
        return self.lines[line - 1] + width

    def _argv(self, node: ast.List | ast.Tuple) -> FoundCommand | None:
        literals = [e.value for e in node.elts if isinstance(e, ast.Constant)]
        texts = [text for text in literals if isinstance(text, str)]
        if not mentions_launch(" ".join(texts)) or any(mentions_launch(text) for text in texts):
            return None
        start, _ = self._span(node)
        group = self.strand.at[start]
        fields = [self._element(element, group) for element in node.elts]
        if not is_launch([field.strand.text for field in fields]):
            return None
        layout = Layout("flow", group, python=True)
        tokens = tuple(token_of(field, layout, self.unknowns) for field in fields)
        return FoundCommand(tokens, "python", self.document.location(tokens[0].start))

    def _element(self, node: ast.expr, group: int) -> Field:
        start, end = self._span(node)
        first, last = self.strand.span(start, end)
        strand = literal_strand(self.strand, start, end, self.unknowns) if _is_text(node) else None
        if strand is None:
            written = self.strand.text[start:end]
            mark = self.unknowns.mark(written, "the program computes it")
            several = isinstance(node, ast.Starred)
            return Field(Strand(mark, [first]), first, last, "?", group, frozenset(), "", several)
        quote = self.strand.text[start]
        plain = quote in "'\"" and self.strand.text.count(quote, start, end) == 2
        return Field(strand, first, last, quote if plain else "?", group)

    def _options(self, node: ast.Dict | ast.Call) -> Iterator[FoundCommand]:
        """Options by name: keywords of the engine's constructor, or a dictionary of them."""
        pairs = list(_named(node))
        names = [name.replace("_", "-") for name, _, _ in pairs]
        if not pairs or not _is_server(node, names):
            return
        start, _ = self._span(node)
        group = self.strand.at[start]
        between = ":" if isinstance(node, ast.Dict) else "="
        tokens: list[Token] = []
        for name, (written, key, value) in zip(names, pairs, strict=True):
            layout = Layout("pairs", group, python=True, keys=_joined_with(written) + between)
            tokens += self._pair(name, key, value, layout)
        if tokens:
            location = self.document.location(tokens[0].start)
            notes = tuple(self._more(node))
            yield FoundCommand(tuple(tokens), "options", location, notes=notes)

    def _more(self, node: ast.Dict | ast.Call) -> Iterator[Unresolved]:
        """Further options that come from somewhere else, as in ``**options``."""
        more: list[ast.expr] = []
        if isinstance(node, ast.Dict):
            more = [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
        else:
            more = [keyword.value for keyword in node.keywords if keyword.arg is None]
        for value in more:
            start, end = self._span(value)
            written = f"**{self.strand.text[start:end]}"
            yield Unresolved(written, "the program computes it", self.strand.at[start])

    def _pair(self, name: str, key: ast.AST, value: ast.expr, layout: Layout) -> Iterator[Token]:
        """An option, which spans its name and its value, and the words of the value."""
        said = value.value if isinstance(value, ast.Constant) else value
        if said is None or said is False:
            return
        start, end = self._span(key) if isinstance(key, ast.expr) else self._keyword(key)
        first, last = self.strand.span(start, end)
        reach = self.strand.span(start, self._span(value)[1])[1]
        quote = self.strand.text[start] if isinstance(key, ast.expr) else ""
        yield Token(f"--{name}", first, last, layout, quote, reach=reach)
        if said is True:
            return
        listed = isinstance(value, (ast.List, ast.Tuple))
        for element in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
            token = token_of(self._value(element, layout.group), layout, self.unknowns)
            reason = "a list of values is one option" if listed else ""
            yield token._replace(locked=token.locked or reason)

    def _keyword(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.keyword)
        start = self._index(node.lineno, node.col_offset)
        return start, start + len(node.arg or "")

    def _value(self, node: ast.expr, group: int) -> Field:
        if _is_text(node) or not isinstance(node, (ast.Constant, ast.UnaryOp)):
            return self._element(node, group)
        start, end = self._span(node)
        first, last = self.strand.span(start, end)
        text = self.strand.part(start, end)
        return Field(text, first, last, "in", group)

    def _text(self, node: ast.AST) -> Iterator[FoundCommand]:
        start, end = self._span(node)
        if not mentions_launch(self.strand.text[start:end]):
            return
        strand = literal_strand(self.strand, start, end, self.unknowns)
        if strand is None:
            return
        try:
            launches = launches_in(strand, self.unknowns, self.told, nested=True)
        except ShellTextError:
            return
        for launch in launches:
            yield command_of_launch(launch, self.document, self.unknowns, "python")

    def _with_notes(
        self, found: FoundCommand, name: str | None, grown: Mapping[str, int]
    ) -> FoundCommand:
        if name is None or name not in grown:
            return found
        place = self.strand.at[self.lines[grown[name] - 1]]
        note = Unresolved(name, f"the program changes {name} later", place)
        return FoundCommand(found.tokens, found.form, found.location, notes=(note,))


def _named(node: ast.Dict | ast.Call) -> Iterator[tuple[str, ast.AST, ast.expr]]:
    """The names of a dictionary or of an engine's constructor, with what is given for them."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                continue
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                return
            yield key.value, key, value
        return
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    called = node.func.id if isinstance(node.func, ast.Name) else called
    if called in ("Engine", "ServerArgs"):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword, keyword.value


def _is_server(node: ast.Dict | ast.Call, names: Sequence[str]) -> bool:
    """Whether options by name are a server's; a constructor's may have names nobody knows."""
    if isinstance(node, ast.Call) and "model-path" in names:
        return not are_of_others(names)
    return are_options(names) and not _MODELS.isdisjoint(names)


def _joined_with(name: str) -> str:
    return "-" if "-" in name else "_"


def _is_text(node: ast.AST) -> bool:
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return constant or isinstance(node, ast.JoinedStr)


def _assigned(tree: ast.Module) -> dict[int, str]:
    """Names that lists are given, by the list."""
    found = {}
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for target in targets:
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and isinstance(value, (ast.List, ast.Tuple)):
                found[id(value)] = target.id
    return found


def _grown(tree: ast.Module) -> dict[str, int]:
    """Names of lists that the program changes, with the line."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        name: ast.AST | None = None
        if isinstance(node, ast.AugAssign):
            name = node.target
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.value if node.func.attr in _GROWS else None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            name = node.left
        if isinstance(name, ast.Name):
            found.setdefault(name.id, name.lineno)
    return found
