"""Guards with loops in them."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import Expr
from kvsolve.model.syntax import parse, render
from kvsolve.upstream.reader.quantified import guarded, hoisted, simple

NAMES = {"tp_size": 0}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "any(v1 not in config.a and 7 % tp_size != 0 for v1 in range(config.n))",
            "7 % tp_size != 0 and any(v1 not in config.a for v1 in range(config.n))",
        ),
        ("any(tp_size > 1 for v1 in range(config.n))", "tp_size > 1 and config.n > 0"),
        ("tp_size > 1", "tp_size > 1"),
    ],
)
def test_what_asks_no_element_is_asked_outside(before: str, after: str) -> None:
    assert render(hoisted(parse(before, NAMES)), NAMES) == after


@pytest.mark.parametrize(
    ("guard", "is_simple"),
    [
        ("any(v1 in config.a for v1 in range(config.n))", True),
        ("any(v1 == 3 for v1 in config.a)", True),
        ("any(v1 == tp_size for v1 in config.a)", False),
        ("any(v1 == 3 for v1 in config.a.keys())", False),
    ],
)
def test_a_loop_over_the_model_that_asks_no_flag_is_simple(guard: str, is_simple: bool) -> None:
    term = parse(guard, NAMES)
    assert isinstance(term, Expr)
    assert simple(term) is is_simple


def test_a_body_asks_first_what_it_needs() -> None:
    loop = parse("any(config.a[v1] == 3 for v1 in range(config.n))", NAMES)
    assert isinstance(loop, Expr)
    number = loop.args[0]
    need = parse("config.b", NAMES)
    asked = guarded(loop, {number: [need]})
    assert isinstance(asked, Expr)
    assert asked.args[2].args[0] == need
