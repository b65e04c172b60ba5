"""Which statement each curated entry past argument resolution stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.upstream.late_words import entry_statements

if TYPE_CHECKING:
    from pathlib import Path

    from kvsolve.upstream.source import SourceTree

__all__ = ["curated_places"]


def curated_places(tree: SourceTree, root: Path) -> dict[tuple[str, int], tuple[str, str]]:
    """File (below ``sglang/srt``) and line -> code and stage of the entry.

    Args:
        tree: The release's source.
        root: The directory of the curated files.
    """
    return {
        (file, statement.lineno): (str(entry["code"]), str(entry["stage"]))
        for file, entry, statement in entry_statements(tree, root)
    }
