"""Launch commands in a YAML file: a walk that looks at every mapping, sequence and text once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.assembly import notes_for, shared_locked
from kvsolve.files.config_maps import with_config_maps
from kvsolve.files.containers import CommandReader, is_container
from kvsolve.files.found import FileError
from kvsolve.files.launches import mentions_launch
from kvsolve.files.option_maps import OptionMapReader
from kvsolve.files.strand import whole
from kvsolve.files.templates import is_template, without_templates
from kvsolve.files.yaml_nodes import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    YamlSizeError,
    YamlTextError,
    yaml_documents,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.files.found import Document, FoundCommand, Token
    from kvsolve.files.strand import Strand
    from kvsolve.files.unknown import Unknowns
    from kvsolve.files.yaml_nodes import Node

__all__ = ["read_yaml_text"]


class _Place(NamedTuple):
    """A node and the mappings around it, outwards."""

    node: Node
    key: str
    outer: _Place | None

    def mappings(self) -> list[Node]:
        """The mappings that hold it, itself included if it is one."""
        found = []
        place: _Place | None = self
        while place is not None:
            if place.node.kind == MAPPING:
                found.append(place.node)
            place = place.outer
        return found

    def keys(self) -> list[str]:
        """The keys that lead to it, from the outside."""
        found = []
        place: _Place | None = self
        while place is not None:
            if place.key:
                found.append(place.key)
            place = place.outer
        return found[::-1]


def read_yaml_text(
    document: Document,
    unknowns: Unknowns,
    told: Mapping[str, str],
    *,
    strand: Strand | None = None,
    sure: bool = False,
) -> Iterator[FoundCommand | FileError]:
    """The launch commands of a YAML text, then what is wrong with it.

    Args:
        document: The file.
        unknowns: Keeps what is not known.
        told: Values that the user gives for variables.
        strand: The text, where it is not the whole file.
        sure: The user names this file, so a mapping of options alone is one for SGLang.
    """
    source = strand or whole(document.text)
    directives: tuple[int, ...] = ()
    if is_template(source.text):
        source, directives = without_templates(source, unknowns)
    reader = CommandReader(document, source, unknowns, told)
    options = OptionMapReader(document, source, unknowns, sure)
    found: list[FoundCommand] = []
    problem: FileError | None = None
    try:
        for root in yaml_documents(source.text):
            found += _walk(root, reader, options)
    except YamlTextError as error:
        place = source.at[min(error.index, len(source) - 1)] if len(source) else 0
        line = document.location(place).line
        fits = not isinstance(error, YamlSizeError)
        reason = f"it is no YAML from here on: {error}" if fits else str(error)
        problem = FileError(reason, document.path, line)
    found = with_config_maps(found)
    commands = sorted(found, key=lambda c: (c.location.line, c.location.column))
    yield from (_between(command, directives, document) for command in shared_locked(commands))
    if problem:
        yield problem


def _between(command: FoundCommand, directives: Sequence[int], document: Document) -> FoundCommand:
    """A command with a remark for each template line inside it."""
    if not directives:
        return command
    first = min(token.start for token in command.tokens)
    last = max(command.tokens, key=lambda token: token.end)
    inside = [d for d in directives if first < d and (d < last.end or _goes_on(last, d, document))]
    if not inside:
        return command
    notes = notes_for(inside[:3], "a template decides what stands here", "{{ ... }}")
    return replace(command, notes=(*command.notes, *notes))


def _goes_on(last: Token, directive: int, document: Document) -> bool:
    """Whether a template line right behind the last word may hold more of the command."""
    text = document.text
    stop = text.find("\n", last.end)
    between = text[stop:directive].strip() if stop >= 0 else "?"
    deep = document.location(directive).column - 1 >= last.layout.column
    return between in ("args:", "command:") or (not between and deep)


def _walk(root: Node, reader: CommandReader, options: OptionMapReader) -> Iterator[FoundCommand]:
    seen: set[int] = set()
    waiting = [_Place(root, "", None)]
    while waiting:
        place = waiting.pop()
        node = place.node
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.kind == MAPPING:
            yield from _mapping(place, reader, options, waiting)
        elif node.kind == SEQUENCE:
            yield from _sequence(place, reader, waiting)
        elif mentions_launch(node.value):
            yield from reader.script(node, place.mappings(), place.key)
            yield from _embedded(place, options)
        else:
            yield from _embedded(place, options)


def _mapping(
    place: _Place, reader: CommandReader, options: OptionMapReader, waiting: list[_Place]
) -> Iterator[FoundCommand]:
    node = place.node
    skipped: set[str] = set()
    top = place.outer is None
    if place.key.startswith("x-"):  # what compose only merges into services
        skipped = {"command", "args", "entrypoint"}
    elif is_container(node):
        commands = list(reader.container(place.mappings(), place.key))
        if commands:
            skipped = {"command", "args", "entrypoint"}
            yield from commands
    if not skipped:
        commands = list(options.mapping(node, place.mappings(), place.keys(), top))
        if commands:
            yield from commands
            return
    for key, value in reversed(node.pairs):
        name = key.value if key.kind == SCALAR else ""
        if name not in skipped:
            waiting.append(_Place(value, name, place))


def _sequence(
    place: _Place, reader: CommandReader, waiting: list[_Place]
) -> Iterator[FoundCommand]:
    node = place.node
    texts = [item.value for item in node.items if item.kind == SCALAR]
    if len(texts) == len(node.items) and mentions_launch(" ".join(texts)):
        commands = list(reader.argv(node, place.mappings(), place.key))
        if commands and not any(mentions_launch(text) for text in texts):
            yield from commands
            return
    waiting += [_Place(item, place.key, place) for item in reversed(node.items)]


def _embedded(place: _Place, options: OptionMapReader) -> Iterator[FoundCommand]:
    """A YAML file inside a text, as a ConfigMap holds it."""
    if place.node.style in ("|", ">", "") and "\n" in place.node.value:
        yield from options.embedded(place.node, place.mappings(), place.key)
