"""Commands in YAML, found by shape: whatever has a command and arguments is a container.

So Pods, the custom resources of every operator, Helm values and compose services are read alike,
and one that is invented tomorrow too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve.files.assembly import command_of_launch, token_of
from kvsolve.files.compose import interpolated
from kvsolve.files.found import COMPOSED, FoundCommand, Layout
from kvsolve.files.hints import gpu_hint, gpus_hint, image_hint
from kvsolve.files.kubernetes import Environment, environment_of, with_references
from kvsolve.files.launches import is_launch, mentions_launch, outer_context
from kvsolve.files.shell import ShellTextError, launches_in
from kvsolve.files.shell_text import parse_shell
from kvsolve.files.shell_tree import Simple
from kvsolve.files.shell_values import Field, Values
from kvsolve.files.unknown import has_unknown
from kvsolve.files.yaml_nodes import MAPPING, SCALAR
from kvsolve.files.yaml_scalars import scalar_strand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kvsolve.files.found import Document
    from kvsolve.files.strand import Strand
    from kvsolve.files.unknown import Unknowns
    from kvsolve.files.yaml_nodes import Node

__all__ = ["CommandReader", "is_container"]

_OPTIONS = ("--model-path", "--model", "--config")


def is_container(node: Node) -> bool:
    """Whether a mapping has the shape of something that runs a command."""
    if node.get("command", "args", "entrypoint") is None:
        return False
    return any(_runs(node.get(name)) for name in ("command", "args", "entrypoint"))


def _runs(node: Node | None) -> bool:
    if node is None or node.kind == MAPPING:
        return False
    return node.kind == SCALAR or all(item.kind == SCALAR for item in node.items)


class CommandReader:
    """Reads commands at nodes of one YAML text.

    Args:
        document: The file.
        source: The text that was parsed.
        unknowns: Keeps what is not known.
        told: Values that the user gives for variables.
    """

    def __init__(
        self, document: Document, source: Strand, unknowns: Unknowns, told: Mapping[str, str]
    ) -> None:
        self.document, self.source = document, source
        self.unknowns, self.told = unknowns, told

    def container(self, around: Sequence[Node], name: str = "") -> Iterator[FoundCommand]:
        """The servers of a container.

        Args:
            around: Its mapping, then those that hold it, outwards.
            name: A name for it, where it has none of its own.
        """
        node = around[0]
        compose = node.get("entrypoint") is not None or _is_service(node)
        parts = ("entrypoint", "command", "args") if compose else ("command", "args")
        environment = environment_of(around)
        words: list[tuple[Field, Layout]] = []
        for part in parts:
            value = node.get(part)
            if value is not None and value.kind != MAPPING:
                words += self.words(value, environment, compose)
        found = self.commands(words, environment, image_hint(around), compose)
        yield from self.told_about(found, around, environment, node.text("name") or name)

    def script(self, node: Node, around: Sequence[Node], name: str = "") -> Iterator[FoundCommand]:
        """The servers of a scalar that holds shell text."""
        environment = environment_of(around)
        strand = scalar_strand(node, self.source)
        image = image_hint(around)
        commands = self.shell(strand, environment, node.style in ("'", '"'), image)
        yield from self.told_about(commands, around, environment, name)

    def argv(self, node: Node, around: Sequence[Node], name: str = "") -> Iterator[FoundCommand]:
        """The server of a sequence that holds the words of a command."""
        environment = environment_of(around)
        words = list(self.words(node, environment, False))
        found = self.commands(words, environment, image_hint(around), False)
        yield from self.told_about(found, around, environment, name)

    def told_about(
        self,
        found: Iterable[FoundCommand],
        around: Sequence[Node],
        environment: Environment,
        name: str,
    ) -> Iterator[FoundCommand]:
        """Commands with what their surroundings say."""
        for command in found:
            yield replace(
                command,
                env={**environment.known, **command.env},
                unknown_env={**environment.unknown, **command.unknown_env},
                image=command.image or image_hint(around),
                gpu=gpu_hint(around),
                gpus=gpus_hint(around),
                name=name,
            )

    def words(
        self, value: Node, environment: Environment, compose: bool
    ) -> Iterator[tuple[Field, Layout]]:
        """The words that a scalar or a sequence of scalars gives a command."""
        if value.kind == SCALAR:
            yield from self._split(value, environment, compose)
            return
        at = self.source.at
        flow = value.style == "{"
        group = at[value.start] if value.start < len(at) else 0
        for item in value.items:
            field = self._item(item, group, environment, compose)
            column = 0 if flow else self._dash(self.source.span(item.start, item.end)[0])
            yield field, Layout("flow" if flow else "block", group, column)

    def _item(self, item: Node, group: int, environment: Environment, compose: bool) -> Field:
        """The word that an item of a sequence is."""
        own = scalar_strand(item, self.source)
        strand = self._meant(own, environment, compose)
        start, end = self.source.span(item.start, item.end)
        if item.style in ("|", ">"):
            end = start + len(self.document.text[start:end].rstrip())
        quote, locked = item.style, ""
        if strand.text != own.text:
            first, last = strand.span(0, len(strand))
            is_default = strand.mapped and not has_unknown(strand.text)
            if is_default and 0 < len(strand) == last - first:
                start, end, quote = first, last, "in"  # the default of a variable
            else:
                locked = COMPOSED
        elif not strand.mapped:
            locked = "its place in the file is not certain"
        return Field(strand, start, end, quote, group, frozenset(), locked)

    def _dash(self, start: int) -> int:
        """Column of the dash in front of an item."""
        text = self.document.text
        first = text.rfind("\n", 0, start) + 1
        dash = text.rfind("-", first, start)
        return max(dash - first, 0)

    def _meant(self, strand: Strand, environment: Environment, compose: bool) -> Strand:
        if "$" not in strand.text:
            return strand
        if compose:
            return interpolated(strand, self.told, self.unknowns)
        script = mentions_launch(strand.text) and " " in strand.text.strip()
        return with_references(strand, environment, self.unknowns, script=script)

    def _split(
        self, value: Node, environment: Environment, compose: bool
    ) -> Iterator[tuple[Field, Layout]]:
        """The words of a command that is written as one text."""
        strand = self._meant(scalar_strand(value, self.source), environment, compose)
        group = strand.at[0] if len(strand) else 0
        values = Values(self.unknowns, self.told, group)
        values.held.update(environment.held(self.unknowns, group))
        try:
            nodes = parse_shell(strand)
        except ShellTextError:
            return
        layout = Layout("shell", group, nested=value.style in ("'", '"'))
        for node in nodes[:1]:
            if isinstance(node, Simple):
                for word in node.words:
                    for field in values.fields(word, strand):
                        yield field, layout

    def commands(
        self,
        words: list[tuple[Field, Layout]],
        environment: Environment,
        image: str | None,
        compose: bool,
    ) -> Iterator[FoundCommand]:
        """The servers that a container with these words runs."""
        texts = [field.strand.text for field, _ in words]
        for at, (field, layout) in enumerate(words):
            text = field.strand.text
            if mentions_launch(text) and len(text.split()) > 2:
                env, inner = outer_context(texts[:at])
                nested = layout.kind != "block" or field.quote in ("'", '"')
                held = Environment({**environment.known, **env}, environment.unknown)
                yield from self.shell(field.strand, held, nested, inner or image)
                return
        alone = bool(image) and "sglang" in (image or "") and any(t in _OPTIONS for t in texts)
        if words and (is_launch(texts) or (alone and texts[0].startswith("--"))):
            tokens = tuple(token_of(field, layout, self.unknowns) for field, layout in words)
            location = self.document.location(tokens[0].start)
            yield FoundCommand(tokens, "compose" if compose else "container", location)

    def shell(
        self, strand: Strand, environment: Environment, nested: bool, image: str | None
    ) -> Iterator[FoundCommand]:
        """The servers that a shell text starts in an environment."""
        place = strand.at[0] if len(strand) else 0
        held = environment.held(self.unknowns, place)
        try:
            launches = launches_in(strand, self.unknowns, self.told, nested=nested, held=held)
        except ShellTextError:
            return
        for launch in launches:
            found = command_of_launch(launch, self.document, self.unknowns)
            yield replace(found, image=found.image or image)


def _is_service(node: Node) -> bool:
    """Whether a mapping looks like a service of a compose file and not like a container."""
    command = node.get("command")
    if command is None or node.get("args") is not None:
        return False
    names = (
        "build", "container_name", "deploy", "depends_on", "networks", "restart", "environment",
        "shm_size", "ipc", "network_mode", "runtime", "healthcheck", "ulimits", "profiles",
        "devices", "expose",
    )  # fmt: skip
    return any(node.get(name) is not None for name in names)
