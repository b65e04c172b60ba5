"""Whatever form a file has, the command in it is read as it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.files.editing import (
    Delete,
    Insert,
    Operation,
    Replace,
    carried_out,
    text_edits,
)
from kvsolve.files.found import Document, FoundCommand
from kvsolve.files.read import read_document
from kvsolve.files.storing import applied

from .commands import FORMS, commands, plain_commands

if TYPE_CHECKING:
    from collections.abc import Sequence


def only(name: str, text: str) -> FoundCommand:
    (found,) = read_document(Document(name, text))
    assert isinstance(found, FoundCommand), found
    return found


@pytest.mark.parametrize("form", FORMS)
@given(words=commands)
@settings(max_examples=60, deadline=None)
def test_a_command_is_read_as_it_was_written(form: str, words: tuple[str, ...]) -> None:
    name, render = FORMS[form]
    found = only(name, render(words))
    assert found.words == words
    assert not found.unresolved


@pytest.mark.parametrize("form", FORMS)
@given(words=plain_commands)
@settings(max_examples=60, deadline=None)
def test_every_word_stands_where_it_says(form: str, words: tuple[str, ...]) -> None:
    name, render = FORMS[form]
    text = render(words)
    for token in only(name, text).tokens:
        raw = text[token.start : token.end]
        assert raw.strip("'\"") == token.text, (raw, token)


def split(words: Sequence[str]) -> list[str]:
    """The words with options and attached values apart: an edit may write them either way."""
    return [part for word in words for part in (word.split("=", 1) if word[:2] == "--" else [word])]


def operations(data: st.DataObject, words: tuple[str, ...]) -> list[Operation]:
    """Some edits of different options, and a new option."""
    options = [at for at in range(5, len(words)) if words[at].startswith("--")]
    made: list[Operation] = []
    for at in data.draw(st.lists(st.sampled_from(options), unique=True)) if options else []:
        end = next((n for n in range(at + 1, len(words)) if words[n][:2] == "--"), len(words))
        if end == at + 2 and data.draw(st.booleans()):
            made.append(Replace(at + 1, data.draw(st.sampled_from(("16", "auto", "-1", "true")))))
        else:
            made.append(Delete(at, end - at))
    if data.draw(st.booleans()):
        gone = {at for d in made if isinstance(d, Delete) for at in range(d.at, d.at + d.width)}
        ends = [
            at for at in range(4, len(words)) if at == len(words) - 1 or words[at + 1][:2] == "--"
        ]
        after = data.draw(st.sampled_from([at for at in ends if at not in gone]))
        made.append(Insert(after, data.draw(st.sampled_from((("--new",), ("--page-size", "64"))))))
    return made


@pytest.mark.parametrize("form", FORMS)
@given(words=plain_commands, data=st.data())
@settings(max_examples=50, deadline=None)
def test_an_edit_changes_what_it_names(
    form: str, words: tuple[str, ...], data: st.DataObject
) -> None:
    name, render = FORMS[form]
    text = render(words)
    found = only(name, text)
    wanted = operations(data, words)
    edits = text_edits(Document(name, text), found, wanted)
    edited = applied(text, edits)
    assert split(only(name, edited).words) == split(carried_out(words, wanted))
    starts, ends = [e.start for e in edits], [e.end for e in edits]
    between = zip([0, *ends], [*starts, len(text)], strict=True)
    assert all(text[start:end] in edited for start, end in between)
