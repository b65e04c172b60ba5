"""Environment of a container and ``$(NAME)`` in its command."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from kvsolve.files.shell_values import Field, Held
from kvsolve.files.strand import Strand, joined
from kvsolve.files.unknown import has_unknown
from kvsolve.files.yaml_nodes import MAPPING, SCALAR, SEQUENCE
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.files.unknown import Unknowns
    from kvsolve.files.yaml_nodes import Node

__all__ = ["Environment", "environment_of", "with_references"]

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")
_LOCK = "it comes from the environment that the file sets"
_NAMES = ("env", "envs", "environment", "environments")


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables that a file gives a command.

    Attributes:
        known: Values by name.
        unknown: Why a value is not known, by name.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    def held(self, unknowns: Unknowns, place: int) -> dict[str, Held]:
        """The same as variables of a script that runs in it."""
        made = {}
        for name, text in self.known.items():
            strand = Strand(text, [place] * len(text), mapped=False)
            made[name] = Held((Field(strand, place, place, "?", place, frozenset(), _LOCK),))
        for name, reason in self.unknown.items():
            mark = Strand(unknowns.mark(f"${name}", reason), [place])
            made[name] = Held((Field(mark, place, place, "?", place, frozenset(), reason),))
        return made


def environment_of(around: Sequence[Node]) -> Environment:
    """The variables that the mappings around a command set; the nearest one wins."""
    known: dict[str, str] = dict(_group_sizes(around))
    unknown: dict[str, str] = {}
    for node in reversed(around):
        for name in _NAMES:
            value = node.get(name)
            for variable, text, reason in _variables(value) if value is not None else ():
                known.pop(variable, None)
                unknown.pop(variable, None)
                if text is None or has_unknown(text):
                    unknown[variable] = reason or "a template fills it in"
                else:
                    known[variable] = text
    return Environment(*_resolved(known, unknown))


def _group_sizes(around: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """How many pods a group has, which its operator tells each of them.

    LeaderWorkerSet sets ``LWS_GROUP_SIZE`` to the size of the template, RoleBasedGroup
    ``RBG_LWP_GROUP_SIZE`` to that of the pattern; OME counts its workers without the leader.
    """
    for node in around:
        size = node.text("size") or ""
        if size.isdecimal() and node.get("leaderTemplate", "workerTemplate") is not None:
            yield "LWS_GROUP_SIZE", size
        pattern = node.get("leaderWorkerPattern")
        size = (
            pattern.text("size") if pattern is not None and pattern.kind == MAPPING else ""
        ) or ""
        if size.isdecimal():
            yield "RBG_LWP_GROUP_SIZE", size
        workers = node.text("worker", "size") or ""
        if workers.isdecimal() and node.get("leader") is not None:
            yield "LWS_GROUP_SIZE", str(int(workers) + 1)


def _variables(node: Node) -> Iterator[tuple[str, str | None, str]]:
    """Name, value and, where there is none, why."""
    if node.kind == MAPPING:
        for name, value in node.entries():
            text = value.value if value.kind == SCALAR else None
            yield name, text, "it is not written as a text"
    elif node.kind == SEQUENCE:
        for item in node.items:
            if item.kind == MAPPING and item.text("name") is not None:
                yield _container_variable(item)
            elif item.kind == SCALAR and "=" in item.value:
                name, _, text = item.value.partition("=")
                yield name, text, ""


def _container_variable(item: Node) -> tuple[str, str | None, str]:
    name = item.text("name") or ""
    text = item.text("value")
    if text is None and item.get("valueFrom") is not None:
        return name, None, f"the cluster sets ${name} (valueFrom)"
    return name, text or "", ""


def _resolved(
    known: dict[str, str], unknown: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Values that refer to other variables; what refers to an unknown one is not known."""
    done: dict[str, str] = {}
    open_ = dict(unknown)
    for name, text in known.items():
        parts = [m.group(1) for m in _REFERENCE.finditer(text) if m.group(1)]
        missing = next((p for p in parts if p not in done and p in open_), None)
        if missing:
            open_[name] = open_[missing]
        elif any(p not in done for p in parts):
            open_[name] = f"${name} refers to a variable that is not set in this file"
        else:
            done[name] = _REFERENCE.sub(lambda m: done[m[1]] if m[1] else "$", text)
    return done, open_


def with_references(
    strand: Strand, environment: Environment, unknowns: Unknowns, *, script: bool
) -> Strand:
    """A word of a container's command with ``$(NAME)`` replaced.

    Args:
        strand: The word.
        environment: The container's.
        unknowns: Keeps what is not known.
        script: The word is a shell text, in which other ``$(...)`` means something else.
    """
    parts: list[Strand] = []
    done = 0
    for match in _REFERENCE.finditer(strand.text):
        name = match.group(1)
        if name is None and script:
            continue
        place = strand.at[match.start()]
        if name is None:
            text = "$"
        elif name in environment.known:
            text = environment.known[name]
        elif name in environment.unknown:
            text = unknowns.mark(match.group(), environment.unknown[name])
        elif script:
            continue
        else:
            text = unknowns.mark(match.group(), f"${name} is not set in this file")
        parts.append(strand.part(done, match.start()))
        parts.append(Strand(text, [place] * len(text), mapped=False))
        done = match.end()
    if not done:
        return strand
    return joined([*parts, strand.part(done, len(strand))])
