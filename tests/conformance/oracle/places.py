"""Where in a release an exception came from, and whether the release raised it on purpose."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType, TracebackType

__all__ = ["Place", "frames", "innermost", "is_raised"]

PLUMBING = frozenset(
    [
        "prepare_server_args",
        "from_cli_args",
        "__init__",
        "__post_init__",
        "_run_resolution_pipeline",
        "resolve_once",
        "run_resolution_pipeline",
        "run_hook",
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """One active statement: ``file`` is relative to ``sglang/srt`` when inside it."""

    file: str
    symbol: str
    line: int

    def to_dict(self) -> dict[str, Any]:
        return {"file": self.file, "symbol": self.symbol, "line": self.line}


def frames(traceback: TracebackType | None, root: Path) -> list[tuple[Place, FrameType]]:
    """The frames of a traceback that run code of the release, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        path = Path(code.co_filename)
        if path.is_relative_to(root):
            place = Place(_relative(path, root), code.co_qualname, traceback.tb_lineno)
            found.append((place, traceback.tb_frame))
        traceback = traceback.tb_next
    return found


def innermost(traceback: TracebackType | None) -> tuple[Path, int, str]:
    """File, line and function of the statement that failed, whoever wrote it."""
    file, line, symbol = Path(), 0, ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        file, line, symbol = Path(code.co_filename), traceback.tb_lineno, code.co_qualname
        traceback = traceback.tb_next
    return file, line, symbol


def is_raised(file: Path, line: int) -> bool:
    """Whether a ``raise`` or ``assert`` statement covers the line."""
    return any(first <= line <= last for first, last in _raises(file))


def handlers(places: list[Place]) -> list[Place]:
    """The last five places without the pipeline's own plumbing."""
    return [p for p in places if p.symbol.rpartition(".")[2] not in PLUMBING][-5:]


def _relative(path: Path, root: Path) -> str:
    inside = path.relative_to(root).as_posix()
    return inside.removeprefix("srt/") if inside.startswith("srt/") else f"../{inside}"


@cache
def _raises(file: Path) -> tuple[tuple[int, int], ...]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return ()
    return tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise | ast.Assert)
    )
