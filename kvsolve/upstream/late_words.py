"""Hashes of upstream's messages for the curated entries past argument resolution.

Those entries are written by hand and name the function that raises; the message is read here from
the release's own source. Where a function raises several times, each entry takes the statement
whose words and condition are nearest to its own.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.packs.late import confirmed, read_curated
from kvsolve.upstream.reader.messages import words
from kvsolve.upstream.reader.nodes import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kvsolve.upstream.reader.modules import Tree

__all__ = ["entry_statements", "late_words", "write_late_words"]

_TOKEN = re.compile(r"[a-z0-9]+")


def write_late_words(tree: Tree, root: Path) -> Path:
    """Write ``words/<release>.json`` beside the curated files, the same bytes every time."""
    found = late_words(tree, root)
    path = root / "words" / f"{tree.release}.json"
    path.parent.mkdir(exist_ok=True)
    rows = [f"{json.dumps(code)}: {json.dumps(list(runs))}" for code, runs in sorted(found.items())]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    return path


def late_words(tree: Tree, root: Path) -> dict[str, tuple[str, ...]]:
    """Code -> hashes of the message, for the entries that hold in a release.

    An entry whose function or message is not found is left out.

    Args:
        tree: The release's source.
        root: The directory of the curated files.
    """
    found: dict[str, tuple[str, ...]] = {}
    for (file, symbol), entries in _by_place(tree, root).items():
        found |= _assigned(entries, list(_read(tree, f"sglang/srt/{file}", symbol)))
    return {code: runs for code, runs in found.items() if runs}


def entry_statements(
    tree: Tree, root: Path
) -> Iterator[tuple[str, Mapping[str, Any], ast.Raise | ast.Assert]]:
    """File, entry and raise or assert statement, for the entries that hold in a release.

    Args:
        tree: The release's source.
        root: The directory of the curated files.
    """
    for (file, symbol), entries in _by_place(tree, root).items():
        functions = list(_read(tree, f"sglang/srt/{file}", symbol))
        for number, at, place in _paired(entries, functions):
            yield file, entries[number], functions[at].statements[place]


def _by_place(tree: Tree, root: Path) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """The entries that hold in a release, by file and function."""
    by_place: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for path in sorted(root.glob("7[0-9]-*.toml")):
        for entry in read_curated(path).get("entry", []):
            ground = entry["ground"]
            if confirmed(tree.release, ground["sglang"]):
                by_place.setdefault((ground["file"], ground["symbol"]), []).append(entry)
    return by_place


@dataclass(frozen=True, slots=True)
class _Function:
    """What a function raises, and the texts that it keeps for its messages."""

    statements: tuple[ast.Raise | ast.Assert, ...]
    cases: tuple[ast.Constant, ...]


def _read(tree: Tree, path: str, symbol: str) -> Iterator[_Function]:
    """The functions that a symbol names; a file may define one twice."""
    if not tree.exists(path):
        return
    for function in _functions(tree.parse(path), symbol.split(".")):
        nodes = list(ast.walk(function))
        values = [n.value for n in nodes if isinstance(n, ast.Assign)]
        yield _Function(
            tuple(n for n in nodes if isinstance(n, (ast.Raise, ast.Assert))),
            tuple(v for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)),
        )


def _functions(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """The definitions that a dotted name leads to, at any depth of blocks."""
    if not names:
        yield node
        return
    for child in nodes_of(node):
        if child is not node and getattr(child, "name", None) == names[0]:
            yield from _functions(child, names[1:])


def _assigned(
    entries: list[Mapping[str, Any]], functions: list[_Function]
) -> dict[str, tuple[str, ...]]:
    """Each entry with its statement's hashes, the nearest pairs first.

    Where a function has fewer statements than entries, several share one; the text that the
    function puts into the message for each case then tells them apart.
    """
    found = {
        entries[number]["code"]: words(_message(functions[at].statements[place]))
        for number, at, place in _paired(entries, functions)
    }
    return found | _told_apart(entries, functions, found)


def _paired(
    entries: list[Mapping[str, Any]], functions: list[_Function]
) -> Iterator[tuple[int, int, int]]:
    """Number of an entry, of a function and of a statement in it, the nearest pairs first."""
    pairs = sorted(
        (-_nearness(entry, statement), number, place, at)
        for number, entry in enumerate(entries)
        for at, function in enumerate(functions)
        for place, statement in enumerate(function.statements)
        if entry["raises"] == _exception(statement)
    )
    done: set[str] = set()
    taken: set[tuple[int, int]] = set()
    for sharing in (False, True):
        for _, number, place, at in pairs:
            code = entries[number]["code"]
            if code in done or (not sharing and (at, place) in taken):
                continue
            taken.add((at, place))
            done.add(code)
            yield number, at, place


def _told_apart(
    entries: list[Mapping[str, Any]],
    functions: list[_Function],
    found: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, ...]]:
    """Entries that share a message, with the hashes of the text of their own case added."""
    shared = [e for e in entries if _sharing(e["code"], found)]
    pairs = sorted(
        (-_nearness(entry, case), number, place, at)
        for number, entry in enumerate(shared)
        for at, function in enumerate(functions)
        for place, case in enumerate(function.cases)
    )
    own: dict[str, tuple[str, ...]] = {}
    taken: set[tuple[int, int]] = set()
    for _, number, place, at in pairs:
        code = shared[number]["code"]
        if code not in own and (at, place) not in taken:
            taken.add((at, place))
            own[code] = (*found[code], *words(functions[at].cases[place]))
    return own


def _sharing(code: str, found: Mapping[str, tuple[str, ...]]) -> bool:
    runs = found.get(code, ())
    return bool(runs) and sum(1 for other in found.values() if other == runs) > 1


def _exception(statement: ast.Raise | ast.Assert) -> str:
    if isinstance(statement, ast.Assert):
        return "AssertionError"
    raised = statement.exc
    made = raised.func if isinstance(raised, ast.Call) else raised
    return ast.unparse(made).rpartition(".")[2] if made is not None else ""


def _message(statement: ast.Raise | ast.Assert) -> ast.expr | None:
    return statement.exc if isinstance(statement, ast.Raise) else statement.msg


def _nearness(entry: Mapping[str, Any], statement: ast.AST) -> float:
    """Share of the statement's words that the entry uses too."""
    told = " ".join(str(entry.get(k, "")) for k in ("slug", "when", "require", "reason", "remedy"))
    theirs = set(_TOKEN.findall(ast.unparse(statement).lower()))
    return len(theirs & set(_TOKEN.findall(told.lower()))) / (len(theirs) or 1)
