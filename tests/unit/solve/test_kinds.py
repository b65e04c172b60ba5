"""Kinds of outcomes hold wherever one of the outcomes does."""

from __future__ import annotations

from kvsolve.model.syntax import parse
from kvsolve.solve.domains import State
from kvsolve.solve.lowering.gates import TRUE
from kvsolve.solve.lowering.kinds import LIST
from kvsolve.solve.lowering.outcomes import Encoder


def test_a_raw_tuple_is_a_list_whatever_its_parts_are() -> None:
    states = [State(1, False), State(2, True), State(3, True)]
    encoder = Encoder(("depth",), (tuple(states),), {}, {})
    kinds = encoder.kinds((parse("depth"), 1))
    assert list(kinds.values()) == [(LIST, TRUE)]
