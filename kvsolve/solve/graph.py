"""graph: which flags and entries hang together in a context, and where everything meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.solve.domains import bare
from kvsolve.solve.network import network_of

if TYPE_CHECKING:
    import networkx

    from kvsolve.solve.check import Prepared

__all__ = ["Hub", "hubs", "interaction_graph"]


@dataclass(frozen=True, slots=True)
class Hub:
    """A flag that many entries read.

    Attributes:
        dest: The flag.
        entries: How many entries read it.
        flags: How many other flags it meets in them.
    """

    dest: str
    entries: int
    flags: int


def interaction_graph(prepared: Prepared) -> networkx.Graph[Any]:
    """The bipartite graph of flags and the refusals that read them in a context.

    Nodes carry ``kind`` (``flag`` or ``entry``); an entry also its ``code`` and ``step``.
    """
    import networkx

    graph: networkx.Graph[Any] = networkx.Graph()
    for step, constraint in sorted(network_of(prepared).constraints.items()):
        entry = f"entry {step}"
        code = str(prepared.pack.catalog.entry(step).code)
        graph.add_node(entry, kind="entry", code=code, step=step)
        for dest in sorted({bare(slot) for slot in constraint.cone}):
            graph.add_node(dest, kind="flag")
            graph.add_edge(dest, entry)
    return graph


def hubs(prepared: Prepared, most: int = 20) -> tuple[Hub, ...]:
    """The flags that the most entries read, most read first."""
    graph = interaction_graph(prepared)
    found = []
    for node, known in graph.nodes(data=True):
        if known["kind"] == "flag":
            near = {flag for entry in graph[node] for flag in graph[entry]} - {node}
            found.append(Hub(node, graph.degree(node), len(near)))
    found.sort(key=lambda hub: (-hub.entries, -hub.flags, hub.dest))
    return tuple(found[:most])
