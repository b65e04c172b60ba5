"""The interaction graph ties entries to the flags that they read and write."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import node, raw
from kvsolve.model.program import Let, Program, Refuse, Set
from kvsolve.solve.graph import communities, hubs, interaction_graph, near
from tests.property.strategies import PLACE, prepared_of


def is_(dest: str, value: object, version: int = 0):
    return node("eq", raw("ref", dest, version), value)


ALPHA, DEPTH, EXTRA = is_("alpha", True), is_("depth", 4), is_("extra", "on")
PROGRAM = Program(
    "0.0.1",
    (
        Let("deep", DEPTH, True, PLACE),
        Set("codec", "x", node("and", raw("ref", "deep", 1), ALPHA), PLACE, "assign"),
        Refuse("ValueError", node("and", is_("codec", "x", 1), EXTRA), PLACE),
        Refuse("ValueError", node("and", is_("bravo", False), is_("fixed", True)), PLACE),
        Refuse("ValueError", node("and", raw("fact", "gpu.new"), is_("bravo", True)), PLACE),
    ),
)


@pytest.fixture
def prepared():
    return prepared_of(PROGRAM, {"gpu.new": False})


def test_an_entry_is_tied_to_what_its_own_condition_reads(prepared) -> None:
    graph = interaction_graph(prepared)
    entries = [name for name in graph if name.startswith("KV")]
    ties = {(e, dest, graph[e][dest]["role"]) for e in entries for dest in graph[e]}
    assert ties == {
        ("KV0001", "depth", "reads"), ("KV0001", "alpha", "reads"), ("KV0001", "codec", "writes"),
        ("KV0002", "codec", "reads"), ("KV0002", "extra", "reads"),
        ("KV0003", "bravo", "reads"), ("KV0003", "fixed", "reads"),
    }  # fmt: skip
    assert graph.nodes["KV0001"]["kind"] == "rewrite"


def test_what_the_context_rules_out_is_no_entry(prepared) -> None:
    assert "KV0004" not in interaction_graph(prepared)
    assert "KV0004" in interaction_graph(prepared_of(PROGRAM, {"gpu.new": True}))


def test_deep_ties_go_through_rewrites(prepared) -> None:
    graph = interaction_graph(prepared, deep=True)
    assert set(graph["KV0002"]) == {"depth", "alpha", "codec", "extra"}
    assert "KV0001" not in graph


def test_the_part_around_a_flag(prepared) -> None:
    assert set(near(interaction_graph(prepared), ["fixed"])) == {"KV0003", "fixed", "bravo"}


def test_hubs_and_communities(prepared) -> None:
    graph = interaction_graph(prepared)
    assert [(h.dest, h.entries, h.flags) for h in hubs(graph, 2)] == [
        ("codec", 2, 3), ("alpha", 1, 2),
    ]  # fmt: skip
    groups = communities(graph)
    one, other = {"codec", "alpha", "depth", "extra"}, {"bravo", "fixed"}
    assert [set(g.dests) for g in groups] == [one, other]
    assert [g.entries for g in groups] == [2, 1]
    assert groups == communities(interaction_graph(prepared))
