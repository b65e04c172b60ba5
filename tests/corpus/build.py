"""Writes the corpus: ``python -m tests.corpus.build``; ``--check`` only tells what is stale."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .marking import unmarked
from .servers import SERVERS, Server
from .shapes import SHAPES, Shape, Spelled, image

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXPECTED", "FILES", "corpus", "main"]

FILES = Path(__file__).parent / "files"
EXPECTED = Path(__file__).parent / "expected.jsonl"


def corpus() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every file: its path, its text, and what it holds."""
    for kind, shape in SHAPES.items():
        for server in SERVERS:
            commands, text = shape.write(server)
            marked = unmarked(text)
            path = shape.path.format(server.name)
            rows = [_command(shape, server, one, marked.places) for one in commands]
            yield path, marked.text, {"file": path, "shape": kind, "server": server.name,
                                      "faulty": server.faulty, "commands": rows}  # fmt: skip


def _command(
    shape: Shape, server: Server, one: Spelled, places: dict[tuple[int, int], tuple[int, int]]
) -> dict[str, Any]:
    return {
        "form": shape.form,
        "words": list(one.words),
        "places": [list(places[one.number, at]) for at in range(len(one.words))],
        "unknown": list(one.unknown),
        "image": _image(shape, server),
        "gpu": shape.gpu,
        "gpus": shape.gpus,
        "env": dict(server.env) if shape.env else {},
        "name": shape.name,
    }


def _image(shape: Shape, server: Server) -> str | None:
    if not shape.image:
        return None
    return ("docker.io/" if "ome/" in shape.path else "") + image(server)


def main() -> int:
    """Write the files, or tell which are stale."""
    check = "--check" in sys.argv[1:]
    stale = []
    rows = []
    wanted = set()
    for path, text, expected in corpus():
        file = FILES / path
        wanted.add(file)
        rows.append(json.dumps(expected, ensure_ascii=False))
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(path)
            if not check:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
    for file in FILES.rglob("*"):
        if file.is_file() and file not in wanted:
            stale.append(str(file))
            if not check:
                file.unlink()
    body = "\n".join(rows) + "\n"
    if not EXPECTED.exists() or EXPECTED.read_text(encoding="utf-8") != body:
        stale.append(EXPECTED.name)
        if not check:
            EXPECTED.write_text(body, encoding="utf-8")
    print("\n".join(stale) if stale else f"{len(rows)} files, none stale")
    return int(check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
