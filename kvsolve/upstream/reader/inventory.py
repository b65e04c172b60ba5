"""All raise and assert statements of argument resolution, and what became of each."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, walk
from kvsolve.model.program import Refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.upstream.reader.run import Run

__all__ = ["Row", "count", "outside", "take"]

_FILES = ("sglang/srt/server_args.py", "sglang/srt/arg_groups/")


@dataclass(frozen=True, slots=True)
class Row:
    """One statement.

    Attributes:
        status: ``exact``, ``opaque`` (its condition reads something that was not followed),
            ``unreached``, or ``elsewhere`` (no statement of argument resolution).
        reason: Why it was not reached.
    """

    file: str
    symbol: str
    line: int
    status: str
    reason: str = ""


_ELSEWHERE = (
    ("arg_groups/arg_utils.py", "", "declares options"),
    ("arg_groups/argparse_actions.py", "", "parses options"),
    ("arg_groups/fields/", "", "declares options"),
    ("", "__setattr__", "guards the record against being written by other code"),
    ("", "__getattr__", "guards a module against an old import"),
    ("", "PortArgs.", "picks ports after resolution"),
    ("", "register_", "takes plug-ins, before resolution"),
    ("", "get_global_server_args", "retired accessor"),
    ("", "resolve_once", "guards against resolving twice"),
    ("", "_invoke_provider", "guards against a wrong provider"),
    ("", "run_post_process_pass", "guards against a wrong pass"),
    ("", "declare_resolution", "guards against a wrong declaration"),
    ("", "declare_late_resolution", "guards against a wrong declaration"),
    ("", "validate_declarations", "guards against a wrong declaration"),
)
"""File, part of the symbol, and why it is no statement of argument resolution."""


def elsewhere(file: str, symbol: str) -> str:
    """Why a statement is no part of argument resolution, or "" when it is one."""
    found = (why for f, s, why in _ELSEWHERE if file.startswith(f) and s in symbol)
    return next(found, "")


def take(run: Run) -> tuple[Row, ...]:
    """Look at every file of argument resolution."""
    exact = _exact(run)
    rows: list[Row] = []
    for file in _files(run):
        place = file.removeprefix("sglang/srt/")
        for symbol, statement in _statements(run.tree.parse(file)):
            at = (place, statement.lineno)
            if at in run.reached:
                told = (place, _told_line(statement))
                status = "exact" if exact.get(told, True) else "opaque"
                rows.append(Row(place, symbol, statement.lineno, status))
            elif why := elsewhere(place, symbol):
                rows.append(Row(place, symbol, statement.lineno, "elsewhere", why))
            else:
                reason = _reason(run, place, symbol, statement)
                rows.append(Row(place, symbol, statement.lineno, "unreached", reason))
    return tuple(rows)


def outside(run: Run) -> dict[tuple[str, int], bool]:
    """File and line of what was read in other files, and whether its condition is exact."""
    exact = _exact(run)
    found: dict[tuple[str, int], bool] = {}
    files = {file for file, _ in run.reached if not f"sglang/srt/{file}".startswith(_FILES)}
    for file in sorted(files):
        path = file if run.tree.exists(file) else f"sglang/srt/{file}"
        for _, statement in _statements(run.tree.parse(path)):
            if (file, statement.lineno) in run.reached:
                found[file, statement.lineno] = exact.get((file, _told_line(statement)), True)
    return found


def _told_line(statement: ast.stmt) -> int:
    """The line that a traceback, and so the entry, names."""
    return statement.test.lineno if isinstance(statement, ast.Assert) else statement.lineno


def count(rows: Iterable[Row]) -> dict[str, int]:
    """Totals for the program file."""
    statuses = [r.status for r in rows if r.status != "elsewhere"]
    entries = statuses.count("exact")
    return {"total": len(statuses), "entries": entries, "opaque": statuses.count("opaque")}


def _exact(run: Run) -> dict[tuple[str, int], bool]:
    """Whether some reading of a statement has a guard without opaque terms."""
    out: dict[tuple[str, int], bool] = {}
    tainted: dict[object, bool] = {}
    for step in run.log.steps:
        if isinstance(step, Refuse):
            at = (step.place.file, step.place.line)
            opaque = _opaque(run, step.when, tainted)
            out[at] = out.get(at, False) or not opaque
    return out


def _opaque(run: Run, operand: object, tainted: dict[object, bool]) -> bool:
    for term in walk(operand):  # type: ignore[arg-type]
        if term.op == "opaque":
            return True
        if term.op == "ref" and term in run.log.meaning and _is_result(run, term):
            if term not in tainted:
                tainted[term] = False
                tainted[term] = _opaque(run, run.log.meaning[term], tainted)
            if tainted[term]:
                return True
    return False


def _is_result(run: Run, term: Expr) -> bool:
    """Whether a reference is to a named result rather than to a flag, which has its own entries."""
    return term.args[0].removeprefix("raw.") not in run.fields


def _files(run: Run) -> list[str]:
    loaded = run.modules.files_read()
    tree = run.tree
    glob = getattr(tree, "glob", None)
    every = glob("sglang/srt/*.py") if glob else loaded
    return [f for f in every if f == _FILES[0] or f.startswith(_FILES[1])]


def _statements(tree: ast.Module) -> list[tuple[str, ast.stmt]]:
    out: list[tuple[str, ast.stmt]] = []

    def visit(node: ast.AST, symbol: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Raise, ast.Assert)):
                out.append((symbol, child))
            inner = symbol
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{symbol}.{child.name}" if symbol else child.name
            visit(child, inner)

    visit(tree, "")
    return out


def _reason(run: Run, file: str, symbol: str, statement: ast.stmt) -> str:
    for gap in run.gaps:
        if gap.place.file == file and gap.place.symbol.split(".")[-1] == symbol.split(".")[-1]:
            return f"not followed: {gap.reason}"
    return "its function is not called on any path that can be read, or its condition is false"
