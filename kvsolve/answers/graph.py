"""graph: which flags and entries hang together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import dest_of, facts_of
from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.session import Question

__all__ = ["graph_of"]


def graph_of(
    question: Question, around: Sequence[str] = (), most: int = 20, *, deep: bool = False
) -> dict[str, Any]:
    """The interaction graph of a question's context, its hubs and its communities, as plain values.

    Args:
        question: The context; of the command only what changes the context matters.
        around: Flags to look around; all where empty.
        most: How many hubs to name.
        deep: Tie refusals to all that their outcome depends on.

    Raises:
        KvsolveError: GPU or model is not known, or no entry reads any of the flags.
    """
    from kvsolve.solve.graph import communities, hubs, interaction_graph, near

    graph = interaction_graph(question.context, deep=deep)
    flags = question.pack.flags
    wanted = [dest_of(flags, name) for name in around]
    if wanted:
        graph = near(graph, wanted)
        if not graph:
            raise KvsolveError(f"no entry reads {' or '.join(wanted)} here")
    groups = communities(graph)
    group_of = {dest: number for number, group in enumerate(groups) for dest in group.dests}
    nodes: list[dict[str, Any]] = []
    for name, known in sorted(graph.nodes(data=True), key=lambda n: (n[1]["kind"], n[0])):
        if known["kind"] == "flag":
            title = flags.flag(name).name if flags.by_dest(name) else name
            nodes.append({"id": name, "kind": "flag", "flag": title, "community": group_of[name]})
        else:
            entry = question.pack.catalog.by_code(name)
            told = {} if entry is None else {"slug": entry.slug, "message": entry.message}
            nodes.append({"id": name, **known, **told})
    edges = [
        {"entry": node["id"], "flag": dest, **graph[node["id"]][dest]}
        for node in nodes
        if node["kind"] != "flag"
        for dest in sorted(graph[node["id"]])
    ]
    return {
        **facts_of(question),
        "nodes": nodes,
        "edges": edges,
        "hubs": [
            {"dest": h.dest, "entries": h.entries, "flags": h.flags} for h in hubs(graph, most)
        ],
        "communities": [{"dests": list(g.dests), "entries": g.entries} for g in groups],
    }
