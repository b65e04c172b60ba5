"""Every file of the corpus: its servers, their words, where each word stands, what is around it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kvsolve.files.found import Document, FoundCommand
from kvsolve.files.read import read_document

from .build import EXPECTED, FILES, corpus

ROWS = [json.loads(line) for line in EXPECTED.read_text(encoding="utf-8").splitlines()]


def read(row: dict[str, Any]) -> tuple[Document, list[FoundCommand]]:
    text = row.get("text") or (FILES / row["file"]).read_text(encoding="utf-8")
    document = Document(row["file"], text)
    found = read_document(document, sure=row["shape"] == "options")
    assert all(isinstance(item, FoundCommand) for item in found), found
    return document, [item for item in found if isinstance(item, FoundCommand)]


def test_the_corpus_is_what_its_script_writes() -> None:
    rows = {}
    for path, text, expected in corpus():
        rows[path] = expected
        assert (FILES / path).read_text(encoding="utf-8") == text, path
    assert [rows[row["file"]] for row in ROWS] == ROWS
    assert len(ROWS) == len(rows) >= 150
    assert {p.relative_to(FILES).as_posix() for p in FILES.rglob("*") if p.is_file()} == set(rows)


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_a_file_is_read(row: dict[str, Any]) -> None:
    document, found = read(row)
    assert len(found) == len(row["commands"])
    for command, wanted in zip(found, row["commands"], strict=True):
        assert list(command.words) == wanted["words"]
        unknown = [at for at, token in enumerate(command.tokens) if token.unknown]
        assert unknown == wanted["unknown"]
        assert [(u.text, bool(u.reason)) for u in command.unresolved] == [
            (wanted["words"][at], True) for at in unknown
        ]
        places = [document.location(token.start) for token in command.tokens]
        assert [[place.line, place.column] for place in places] == wanted["places"]
        # Assignments in front of a command belong to it, and may take a line of their own.
        assert 0 <= wanted["places"][0][0] - command.location.line <= 1
        around = {"image": command.image, "gpu": command.gpu, "gpus": command.gpus}
        assert around == {name: wanted[name] for name in around}
        assert wanted["env"].items() <= command.env.items()
        assert command.form == wanted["form"]
        assert not wanted["name"] or command.name == wanted["name"]
