"""Every repair of a file of the corpus: it is in place, it is all that changes, and it helps."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import pytest

from kvsolve.answers.asking import session
from kvsolve.answers.patch import patch_of
from kvsolve.answers.repair import Fix, fix_of
from kvsolve.files.found import Document, FoundCommand
from kvsolve.inputs.command import release_of_image
from kvsolve.session import Question, Request

from .servers import SERVERS
from .test_reading import ROWS, read

FAULTY = [row for row in ROWS if row["faulty"] and row["shape"] != "template"]
RELEASES = {server.name: server.release for server in SERVERS}


@lru_cache(maxsize=512)
def answer(words: tuple[str, ...], unknown: tuple[int, ...], release: str) -> tuple[Question, Fix]:
    """Judge and repair a command; the same one stands in many shapes."""
    reasons = dict.fromkeys(unknown, "not in the file")
    request = Request(words, sglang=release, gpu="h100", gpus=8, unknown=reasons)
    question = session().ask(request)
    return question, fix_of(question, session().judge(question), top=1)


def ask(command: FoundCommand, release: str) -> tuple[Question, Fix]:
    unknown = tuple(at for at, token in enumerate(command.tokens) if token.unknown)
    return answer(command.words, unknown, release)


def repaired(row: dict[str, Any], document: Document, release: str) -> Document:
    """The file with all its commands repaired."""
    for number in range(len(row["commands"])):
        _, found = read({**row, "text": document.text})
        question, fix = ask(found[number], release)
        assert fix.result.errors, "the corpus says that it is faulty"
        assert fix.repairs
        patch = patch_of(
            question, fix.repairs[0], found[number], document, sure=row["shape"] == "options"
        )
        changed_only_what_is_named(document.text, patch.text, fix, found[number])
        document = Document(document.path, patch.text)
    return document


def changed_only_what_is_named(before: str, after: str, fix: Fix, command: FoundCommand) -> None:
    """All lines that are not about a flag of the repair are as they were."""
    flags = {word for edit in fix.repairs[0].edits for word in (edit.flag, str(edit.before))}
    names = {flag.lstrip("-") for flag in flags} | {
        str(edit.value) for edit in fix.repairs[0].edits
    }
    # A value that goes may be written otherwise than it reads, as a variable.
    names |= {before[t.start : t.end] for t in command.tokens if t.text in flags}
    kept = [line for line in before.splitlines() if not any(n and n in line for n in names)]
    left = iter(after.splitlines())
    bare = [re.sub(r"\s*\\?$", "", line) for line in kept]
    assert all(any(line == re.sub(r"\s*\\?$", "", other) for other in left) for line in bare)


@pytest.mark.parametrize("row", FAULTY, ids=[row["file"] for row in FAULTY])
def test_a_fix_is_in_place_and_helps(row: dict[str, Any]) -> None:
    document, found = read(row)
    release = RELEASES[row["server"]]
    if found[0].image:
        assert release_of_image(found[0].image) == release
    fixed = repaired(row, document, release)
    _, again = read({**row, "text": fixed.text})
    assert len(again) == len(found)
    for command in again:
        _, fix = ask(command, release)
        assert not fix.result.errors
        assert not fix.repairs  # so that a second fix changes nothing
