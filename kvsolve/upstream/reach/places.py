"""Every raise and assert that a launch can reach, by stage, and what became of it."""

from __future__ import annotations

import ast
from dataclasses import field, replace
from typing import TYPE_CHECKING

from kvsolve.model.noun import dataclass
from kvsolve.upstream.reach.leaves import Leaves, agreement, conditions, failing, leaves
from kvsolve.upstream.reach.reachable import BELOW, reachable
from kvsolve.upstream.reader.modules import lasting_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.upstream.reach.ruled_out import Key
    from kvsolve.upstream.source import SourceTree

__all__ = ["ENTRIES", "NOT_EVALUATED", "NOT_MODELLED", "Known", "Place", "places"]

ENTRIES = ("exact", "opaque", "curated")
NOT_EVALUATED = "not evaluated"
NOT_MODELLED = "not modelled"
_LISTED = 4


@dataclass(frozen=True, slots=True)
class Place:
    """One raise or assert statement.

    Attributes:
        file: Path below ``sglang/srt``; from ``sglang`` on where it lies elsewhere.
        symbol: Qualified name of the function that it stands in.
        line: Line of the statement.
        stage: The first stage of a start-up that can reach it, or of its entry.
        status: ``exact`` (an entry that is read, nothing opaque in its guard), ``opaque`` (an entry
            of argument resolution with opaque terms, unknown where they matter), ``curated`` (an
            entry written by hand), ``not evaluated`` (read past argument resolution, but its
            condition rests on something opaque, so it is no entry), ``not modelled``, or
            ``elsewhere`` (in the files of argument resolution, but no part of it).
        code: Of a curated entry.
        flags: The flags, and widths that follow from them, that its condition reads.
        reason: Why it is not modelled or is elsewhere.
        decided: Whether flags, machine, environment and config.json decide its condition, told by
            the names in it.
    """

    file: str
    symbol: str
    line: int
    stage: str
    status: str
    code: str = ""
    flags: tuple[str, ...] = ()
    reason: str = ""
    decided: bool = False

    @property
    def counts(self) -> bool:
        """Whether it is among those that a flag can reach and decide."""
        return self.status in ENTRIES or (self.decided and bool(self.flags))


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of places already, by file and line.

    Attributes:
        read: What the conditions of a place are that was read (``exact``, ``opaque``, ``model``
            where no flag takes part, or ``never`` where none ever holds), with its stage.
        curated: Code and stage of entries written by hand.
        ruled_out: Why no flag decides a place, by its file, function and names.
    """

    read: Mapping[tuple[str, int], tuple[str, str]]
    curated: Mapping[tuple[str, int], tuple[str, str]]
    ruled_out: Mapping[Key, str] = field(default_factory=dict)


def places(tree: SourceTree, flags: frozenset[str], known: Known) -> list[Place]:
    """The places of stages load, pool and attention, and those of entries beyond them.

    Args:
        tree: The release's source.
        flags: Dests of the release.
        known: Entries that are there.

    Raises:
        KvsolveError: A stage has no root in this release.
    """
    stages = reachable(tree)
    entered = {file for file, _ in stages}
    files = sorted(entered | {file for file, _ in known.curated})
    found: dict[tuple[str, int], Place] = {}
    for file in files:
        path = file if tree.exists(file) else f"{BELOW}{file}"
        for statement in _statements(tree.parse(path)):
            if (place := _place(file, statement, stages, flags, known)) is not None:
                found.setdefault((file, place.line), _unless_ruled_out(place, known.ruled_out))
    return sorted(found.values(), key=lambda p: (_ORDER.index(p.stage), p.file, p.line))


def _unless_ruled_out(place: Place, ruled_out: Mapping[Key, str]) -> Place:
    """A place, with the reason why no flag decides it where there is one."""
    reason = ruled_out.get((place.file, place.symbol, tuple(sorted(place.flags))))
    if reason is None or place.status in ENTRIES:
        return place
    return replace(
        place, status=NOT_MODELLED, reason=f"no flag decides it: {reason}", decided=False
    )


_ORDER = ("args", "load", "pool", "attention", "request")


@dataclass(frozen=True, slots=True)
class _Statement:
    node: ast.Raise | ast.Assert
    symbols: tuple[str, ...]
    function: ast.FunctionDef | ast.AsyncFunctionDef
    owner: ast.ClassDef | None
    lasting: frozenset[str] = frozenset()


def _statements(tree: ast.Module) -> Iterator[_Statement]:
    """Every statement within a function, with the symbols of the functions around it."""
    waiting: list[tuple[ast.AST, str, tuple[str, ...], list[ast.AST]]] = [(tree, "", (), [])]
    lasting = lasting_changes(tree)
    while waiting:
        node, prefix, symbols, around = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Raise, ast.Assert)) and symbols:
                functions = [a for a in around if not isinstance(a, ast.ClassDef)]
                owners = [a for a in around if isinstance(a, ast.ClassDef)]
                owner = owners[-1] if owners else None
                yield _Statement(child, symbols, functions[-1], owner, lasting)  # type: ignore[arg-type]
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                symbol = f"{prefix}.{child.name}" if prefix else child.name
                own = () if isinstance(child, ast.ClassDef) else (symbol,)
                waiting.append((child, symbol, (*symbols, *own), [*around, child]))
            else:
                waiting.append((child, prefix, symbols, around))


def _place(
    file: str,
    statement: _Statement,
    stages: Mapping[tuple[str, str], str],
    flags: frozenset[str],
    known: Known,
) -> Place | None:
    node, symbol = statement.node, statement.symbols[-1]
    at = (file, node.lineno)
    if at in known.curated:
        code, stage = known.curated[at]
        told = _leaves(statement, flags)
        return Place(file, symbol, node.lineno, stage, "curated", code, told.flags, decided=True)
    stage = next((stages[file, s] for s in statement.symbols if (file, s) in stages), "")
    line = node.test.lineno if isinstance(node, ast.Assert) else node.lineno
    read = known.read.get(at) or known.read.get((file, line))
    if read is not None and (read[0] in ("exact", "model") or read[1] == "args"):
        return _read(Place(file, symbol, node.lineno, read[1], read[0]), statement, flags)
    failed = failing(statement.function, node)
    if read is not None and not failed:
        return _read(Place(file, symbol, node.lineno, read[1], read[0]), statement, flags)
    if not stage:
        return None
    told = _leaves(statement, flags)
    reason, decided = _reason(statement, told)
    if failed:
        reason, decided = f"only where something fails: {failed}", False
    return Place(file, symbol, node.lineno, stage, NOT_MODELLED, "", told.flags, reason, decided)


def _read(place: Place, statement: _Statement, flags: frozenset[str]) -> Place:
    """A place that was read."""
    told = _leaves(statement, flags)
    if place.status == "model":
        reason = "decided by the model alone, whatever the flags"
        return replace(place, status=NOT_MODELLED, reason=reason, decided=True)
    if place.status == "never":
        if any("draft" in name for name in told.flags):
            reason, decided = "read for the target model, but not for its draft", True
        else:
            reason, decided = "read, and never holds where a start-up comes to it", False
        return replace(place, status=NOT_MODELLED, flags=told.flags, reason=reason, decided=decided)
    if place.status == "opaque" and place.stage != "args":
        listed = f": {', '.join(told.unknown[:_LISTED])}" if told.unknown else ""
        reason = f"read, but rests on something opaque{listed}"
        decided = not told.unknown
        return replace(
            place, status=NOT_EVALUATED, flags=told.flags, reason=reason, decided=decided
        )
    return replace(place, flags=told.flags, decided=True)


def _leaves(statement: _Statement, flags: frozenset[str]) -> Leaves:
    tests = conditions(statement.function, statement.node)
    return leaves(statement.function, tests, flags, statement.owner, statement.lasting)


def _reason(statement: _Statement, told: Leaves) -> tuple[str, bool]:
    """Why a statement is no entry, and whether a command could decide it."""
    if told.unknown:
        listed = ", ".join(told.unknown[:_LISTED])
        more = ", ..." if len(told.unknown) > _LISTED else ""
        return f"rests on what no command tells: {listed}{more}", False
    if told.flags and agreement(statement.function, statement.node):
        return "asks whether two objects of upstream agree, which take it from one place", False
    if told.flags:
        return "decided by flags, and not read yet", True
    if told.known:
        return "decided by the model or the machine alone, and not read", True
    if _is_abstract(statement):
        return "a method that a subclass replaces", False
    if any(isinstance(n, ast.Try) for n in ast.walk(statement.function)):
        return "has no condition of its own: raised where something else failed", False
    return "has no condition of its own: who calls it decides", False


def _is_abstract(statement: _Statement) -> bool:
    body = [s for s in statement.function.body if not isinstance(s, ast.Expr)]
    return statement.owner is not None and body == [statement.node]
