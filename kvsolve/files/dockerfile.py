"""``CMD`` and ``ENTRYPOINT`` of a Dockerfile."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kvsolve.files.containers import CommandReader
from kvsolve.files.json_text import json_strand
from kvsolve.files.kubernetes import Environment
from kvsolve.files.launches import mentions_launch
from kvsolve.files.strand import Strand
from kvsolve.files.yaml_nodes import SEQUENCE, YamlTextError, yaml_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.files.found import Document, FoundCommand, Layout
    from kvsolve.files.shell_values import Field
    from kvsolve.files.unknown import Unknowns

__all__ = ["read_dockerfile"]

_INSTRUCTION = re.compile(
    r"^[ \t]*([A-Za-z]+)[ \t]+((?:[^\n\\]|\\.|\\[ \t]*\r?\n(?:[ \t]*#[^\n]*\n)*)*)", re.MULTILINE
)
_CONTINUED = re.compile(r"\\[ \t]*\r?\n(?:[ \t]*#[^\n]*\n)*")
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s\"']*)")


class _Instruction(NamedTuple):
    name: str
    text: str
    start: int
    end: int


def read_dockerfile(
    document: Document, strand: Strand, unknowns: Unknowns, told: Mapping[str, str]
) -> Iterator[FoundCommand]:
    """The server that each stage starts.

    Args:
        document: The file.
        strand: Its text.
        unknowns: Keeps what is not known.
        told: Values that the user gives for variables.
    """
    stage: list[_Instruction] = []
    for match in _INSTRUCTION.finditer(strand.text):
        found = _Instruction(match[1].upper(), match[2], match.start(2), match.end(2))
        if found.name == "FROM" and stage:
            yield from _Stage(document, strand, unknowns, told).commands(stage)
            stage = []
        stage.append(found)
    yield from _Stage(document, strand, unknowns, told).commands(stage)


class _Stage:
    def __init__(
        self, document: Document, strand: Strand, unknowns: Unknowns, told: Mapping[str, str]
    ) -> None:
        self.document, self.strand, self.unknowns, self.told = document, strand, unknowns, told

    def commands(self, stage: list[_Instruction]) -> Iterator[FoundCommand]:
        image = None
        known: dict[str, str] = {}
        last: dict[str, _Instruction] = {}
        for instruction in stage:
            if instruction.name == "FROM":
                words = [w for w in instruction.text.split() if not w.startswith("--")]
                image = words[0] if words and "$" not in words[0] else None
            elif instruction.name == "ENV":
                known |= _variables(instruction.text)
            elif instruction.name in ("CMD", "ENTRYPOINT"):
                last[instruction.name] = instruction
        environment = Environment(known)
        parts = [last[name] for name in ("ENTRYPOINT", "CMD") if name in last]
        for command in self._started(parts, environment, image):
            yield replace(
                command,
                form="dockerfile",
                env={**known, **command.env},
                image=command.image or image,
            )

    def _started(
        self, parts: list[_Instruction], environment: Environment, image: str | None
    ) -> Iterator[FoundCommand]:
        words: list[tuple[Field, Layout]] = []
        reader = CommandReader(self.document, self.strand, self.unknowns, self.told)
        for part in parts:
            strand = self.strand.part(part.start, part.end)
            if part.text.lstrip().startswith("["):
                bare = _CONTINUED.sub(lambda m: " " * len(m.group()), strand.text)
                strand = json_strand(Strand(bare, strand.at, strand.to))
            own = CommandReader(self.document, strand, self.unknowns, self.told)
            if part.text.lstrip().startswith("["):
                words += self._items(strand, own, environment)
            elif mentions_launch(part.text):
                yield from own.shell(strand, environment, nested=False, image=image)
        if words:
            yield from reader.commands(words, environment, image, False)

    def _items(
        self, strand: Strand, own: CommandReader, environment: Environment
    ) -> list[tuple[Field, Layout]]:
        try:
            for root in yaml_documents(strand.text):
                if root.kind == SEQUENCE:
                    return list(own.words(root, environment, False))
        except YamlTextError:
            pass
        return []


def _variables(text: str) -> dict[str, str]:
    pairs = {m[1]: m[2].strip("\"'") for m in _PAIR.finditer(text) if "$" not in m[2]}
    if not pairs and "=" not in text.partition(" ")[0]:
        name, _, value = text.partition(" ")
        pairs = {name: value.strip()} if "$" not in value else {}
    return pairs
