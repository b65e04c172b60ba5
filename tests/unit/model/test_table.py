"""Terms as a table, and back."""

import marshal

import pytest

from kvsolve.model.expression import Expr, node, raw
from kvsolve.model.syntax import parse
from kvsolve.model.table import read_terms, write_terms

TEXTS = [
    "page_size in (32, 64) and not gpu.is_hip",
    "(tp_size + 1) % 2 == 0 or getattr(config, 'rope_scaling', None) is not None",
    "any(v1 in ('a', 'b') for v1 in names)",
    "isinstance(x, int, float) and environ('HOME', 'none')[1:] == {1, 2}",
    "max((a, 1), key) if helper('file', a, (b, (1, c))) else crash('ValueError')",
]


def there_and_back(operands):
    return read_terms(marshal.loads(marshal.dumps(write_terms(operands))))


def test_terms_come_back_as_the_same_objects() -> None:
    terms = [parse(text) for text in TEXTS]
    for before, after in zip(terms, there_and_back(terms), strict=True):
        assert before is after


@pytest.mark.parametrize("value", [None, True, 1, 1.0, "1", (1, True), frozenset({1, "a"}), b"x"])
def test_constants_keep_their_types(value: object) -> None:
    others = [True, 1, 1.0, "1"]
    back = there_and_back([*others, value, raw("eq", raw("ref", "x", 0), value)])
    assert [(type(b), b) for b in back[:-1]] == [(type(v), v) for v in [*others, value]]
    assert type(back[-1].args[1]) is type(value)


def test_a_tuple_with_terms_inside_keeps_its_shape() -> None:
    inner = raw("ref", "x", 0)
    (back,) = there_and_back([raw("in", inner, (1, (inner, 2)))])
    assert back.args[1][1][0] is inner


def test_terms_of_a_table_meet_those_made_otherwise() -> None:
    table = marshal.dumps(write_terms([parse("only_in_this_test > 3")]))
    (back,) = read_terms(marshal.loads(table))
    made = node("gt", raw("ref", "only_in_this_test", 0), 3)
    assert back is made
    assert isinstance(back, Expr)
    assert back.key == made.key


def test_a_deep_term_needs_no_deep_stack() -> None:
    term = raw("ref", "x", 0)
    for number in range(5000):
        term = raw("add", term, number)
    (back,) = there_and_back([term])
    assert back is term
