"""How terms fold, and what a term may do when it is evaluated."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import (
    Expr,
    all_of,
    any_of,
    can_crash,
    if_,
    is_boolean,
    negate,
    node,
    raw,
    walk,
)

X = raw("ref", "page_size", 0)
Y = raw("ref", "backend", 0)
CUDA = node("eq", raw("fact", "gpu.vendor"), "nvidia")


def test_equal_terms_are_one_object() -> None:
    assert node("eq", X, 64) is node("eq", X, 64)


def test_equal_numbers_of_other_types_make_other_terms() -> None:
    assert node("eq", X, 1) is not node("eq", X, True)
    assert node("eq", X, 1) is not node("eq", X, 1.0)


@pytest.mark.parametrize(
    ("made", "folded"),
    [
        (lambda: all_of(True, CUDA), CUDA),
        (lambda: all_of(CUDA, False), False),
        (lambda: all_of(CUDA, negate(CUDA)), False),
        (lambda: any_of(CUDA, negate(CUDA)), True),
        (
            lambda: any_of(CUDA, all_of(negate(CUDA), node("eq", X, 1))),
            any_of(CUDA, node("eq", X, 1)),
        ),
        (lambda: negate(negate(CUDA)), CUDA),
        (lambda: if_(CUDA, 64, 64), 64),
        (lambda: if_(raw("not", X), 1, 64), if_(X, 64, 1)),
        (lambda: if_(CUDA, True, False), CUDA),
        (lambda: node("eq", if_(CUDA, 64, 1), 64), CUDA),
        (lambda: node("in", X, (64,)), node("eq", X, 64)),
        (lambda: node("in", X, ()), False),
        (lambda: node("add", 2, 3), 5),
        (lambda: node("method", "FA3", "lower"), "fa3"),
        (lambda: node("call", "max", 1, 2), 2),
        (lambda: node("item", ("a", "b"), 1), "b"),
    ],
)
def test_folding(made, folded) -> None:  # type: ignore[no-untyped-def]
    assert made() is folded or made() == folded


def test_an_operation_that_fails_on_constants_is_a_crash() -> None:
    assert node("lt", None, 1) is raw("crash", "TypeError")
    assert node("floordiv", 1, 0) is raw("crash", "ZeroDivisionError")


def test_the_truth_of_a_value_is_kept_apart_from_the_value() -> None:
    assert if_(X, True, False) is raw("call", "bool", X)
    assert is_boolean(if_(X, True, False))
    assert not is_boolean(X)


def test_what_can_crash() -> None:
    assert can_crash(node("lt", X, 1))
    assert can_crash(CUDA)  # the fact may be missing
    assert can_crash(all_of(node("eq", Y, "fa3"), node("eq", node("mod", X, 2), 0)))
    assert not can_crash(all_of(node("eq", X, 64), node("in", Y, ("fa3", "fa4"))))


def test_walking_meets_each_term_once() -> None:
    shared = node("eq", X, 64)
    term = all_of(any_of(shared, CUDA), any_of(shared, node("eq", Y, "fa3")))
    met = list(walk(term))
    assert len(met) == len(set(met))
    assert all(isinstance(t, Expr) for t in met)
    assert {X, Y, shared} <= set(met)
