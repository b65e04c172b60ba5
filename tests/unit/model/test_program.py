"""The program file: same bytes, same program, and clear words for a broken one."""

from __future__ import annotations

import json

import pytest

from kvsolve.model.expression import node, raw
from kvsolve.model.program import (
    Gap,
    Let,
    Need,
    Place,
    Program,
    ProgramError,
    Refuse,
    Set,
    load_program,
)

PLACE = Place("server_args.py", "ServerArgs._handle", 12, "handle")
PAGE = raw("ref", "page_size", 0)


def program() -> Program:
    later = raw("ref", "page_size", 1)
    return Program(
        "0.5.18",
        (
            Let("base", raw("ref", "attention_backend", 0), True, PLACE),
            Set("page_size", 64, node("is", PAGE, None), PLACE, "declare", "ab12"),
            Refuse("ValueError", node("eq", later, 64), PLACE, "cd34", ("00aa", "11bb")),
            Need(node("mod", PAGE, 2), node("eq", raw("ref", "base", 1), "fa4"), PLACE),
        ),
        (Gap(PLACE, "a loop over files", 2, ("load_format",)),),
        "f00",
        {"total": 2, "entries": 2},
    )


def test_a_file_gives_its_program_back() -> None:
    text = program().dump()
    assert load_program(text.splitlines()) == program()
    assert load_program(text.splitlines()).dump() == text


def test_the_file_names_current_values_plainly_and_old_ones_by_version() -> None:
    rows = [json.loads(line) for line in program().dump().splitlines()]
    assert rows[3]["when"] == "page_size == 64"
    assert rows[4]["need"] == "(page_size@0) % 2"


@pytest.mark.parametrize(
    ("line", "text", "why"),
    [
        (1, "{}", "line 1: not a kvsolve program"),
        (2, "nonsense", "line 2"),
        (3, '{"set":"page_size","to":"open(1)","at":0}', "line 3: `open"),
        (3, '{"set":"page_size","to":"1"}', "needs its place"),
        (4, '{"refuse":"ValueError","at":9}', "line 4"),
        (4, '{"jump":1,"at":0}', "let, set, refuse, need, gap"),
    ],
)
def test_a_malformed_file_is_told_by_line(line: int, text: str, why: str) -> None:
    rows = program().dump().splitlines()
    rows[line - 1] = text
    with pytest.raises(ProgramError, match=why):
        load_program(rows, "0.5.18.jsonl")
