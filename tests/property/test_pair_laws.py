"""Options that a Python program gives by name are read and edited as they are written."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.files.editing import Delete, Insert, Operation, Replace, carried_out, text_edits
from kvsolve.files.found import Document, FoundCommand
from kvsolve.files.read import read_document
from kvsolve.files.storing import applied

NAMES = ("tp_size", "kv_cache_dtype", "host", "page_size", "attention_backend", "port")
SWITCHES = ("enable_metrics", "disable_radix_cache")
values = st.one_of(
    st.integers(-9, 10**6), st.sampled_from(["auto", "fp8_e5m2", "it's", 'say "x"', "a b", "é", ""])
)
pairs = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(NAMES), values),
        st.tuples(st.sampled_from(SWITCHES), st.just(True)),
    ),
    unique_by=lambda pair: pair[0],
    max_size=6,
)
styles = st.sampled_from(["dict", "long dict", "call", "long call", "commented call"])
Pairs = list[tuple[str, object]]


def rendered(given_: Pairs, style: str) -> str:
    between = "=" if "call" in style else ": "
    named = [(f"{n}" if "call" in style else repr(n), repr(v)) for n, v in given_]
    rows = [f"{name}{between}{value}" for name, value in named]
    if "long" in style or "commented" in style:
        note = "  # a note, as ever" if "commented" in style else ""
        body = "".join(f"    {row},{note}\n" for row in rows)
        return f"e = Engine(\n{body})\n" if "call" in style else f"OPTIONS = {{\n{body}}}\n"
    body = ", ".join(rows)
    return f"e = Engine({body})\n" if "call" in style else f"OPTIONS = {{{body}}}\n"


def words_of(given_: Pairs) -> tuple[str, ...]:
    made: list[str] = []
    for name, value in given_:
        made += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return tuple(made)


def only(text: str) -> FoundCommand:
    (found,) = read_document(Document("a.py", text), sure=True)
    assert isinstance(found, FoundCommand), found
    return found


def operations(data: st.DataObject, words: tuple[str, ...], given_: Pairs) -> list[Operation]:
    made: list[Operation] = []
    at = 2  # the model stays
    ends = [1]
    for _, value in given_:
        width = 1 if value is True else 2
        chosen = data.draw(st.sampled_from(["stay", "stay", "delete", "replace"]))
        if chosen == "delete":
            made.append(Delete(at, width))
        else:
            ends.append(at + width - 1)
            if chosen == "replace" and width == 2:
                made.append(
                    Replace(at + 1, data.draw(st.sampled_from(["16", "-1", "auto", "a'b"])))
                )
        at += width
    if data.draw(st.booleans()):
        new = data.draw(st.sampled_from([("--trust-remote-code",), ("--dp-size", "4")]))
        made.append(Insert(ends[-1], new))
    assert at == len(words)
    return made


@given(chosen=pairs, style=styles, data=st.data())
@settings(max_examples=300, deadline=None)
def test_pairs_are_read_and_edited_as_they_are_written(
    chosen: Pairs, style: str, data: st.DataObject
) -> None:
    given_: Pairs = [("model_path", "m"), *chosen]
    if len(given_) == 1:
        given_.append(("tp_size", 2))
    text, words = rendered(given_, style), words_of(given_)
    found = only(text)
    assert found.words == words
    wanted = operations(data, words, given_[1:])
    edits = text_edits(Document("a.py", text), found, wanted)
    edited = applied(text, edits)
    ast.parse(edited)
    assert only(edited).words == tuple(carried_out(words, wanted))
    if "commented" in style:  # a note stays with its option
        gone = sum(isinstance(operation, Delete) for operation in wanted)
        assert edited.count("# a note, as ever") == len(given_) - gone
