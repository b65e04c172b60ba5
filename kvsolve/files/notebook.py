"""Cells of Jupyter notebooks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.strand import Strand, joined
from kvsolve.files.yaml_nodes import MAPPING, SCALAR, yaml_documents
from kvsolve.files.yaml_scalars import scalar_strand

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cells"]

_BASH = re.compile(r"%%(?:bash|sh|script bash)[^\n]*\n?")
_SHELL_LINE = re.compile(r"^[ \t]*[!%](?:[^\n\\]|\\[\s\S])*", re.MULTILINE)


def cells(source: Strand) -> Iterator[tuple[str, Strand]]:
    """Texts of the code cells as (``shell`` or ``python``, text).

    Raises:
        YamlTextError: The file is no JSON.
    """
    for root in yaml_documents(source.text):
        listed = root.get("cells") if root.kind == MAPPING else None
        for cell in listed.items if listed is not None else ():
            if cell.kind != MAPPING or cell.text("cell_type") != "code":
                continue
            body = cell.get("source")
            if body is None:
                continue
            rows = [body] if body.kind == SCALAR else body.items
            text = joined(scalar_strand(row, source) for row in rows if row.kind == SCALAR)
            yield from _parts(text)


def _parts(text: Strand) -> Iterator[tuple[str, Strand]]:
    magic = _BASH.match(text.text)
    if magic:
        yield "shell", text.part(magic.end(), len(text))
        return
    blanked = text.text
    for line in _SHELL_LINE.finditer(text.text):
        mark = text.text.index(line.group().lstrip()[0], line.start())
        if text.text[mark] == "!":
            yield "shell", text.part(mark + 1, line.end())
        blank = re.sub(r"[^\n]", " ", line.group())
        blanked = blanked[: line.start()] + blank + blanked[line.end() :]
    yield "python", Strand(blanked, text.at, mapped=text.mapped)
