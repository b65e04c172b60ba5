"""graph: which flags and entries hang together in a context, and where everything meets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kvsolve.model.program import Let, Refuse, Set
from kvsolve.solve.completion import fixed_flags
from kvsolve.solve.domains import bare
from kvsolve.solve.network import network_of
from kvsolve.solve.specialise import specialise, support

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import networkx

    from kvsolve.model.expression import Operand
    from kvsolve.model.program import Program
    from kvsolve.solve.check import Prepared

__all__ = ["Community", "Hub", "communities", "hubs", "interaction_graph", "near"]


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


@dataclass(frozen=True, slots=True)
class Community:
    """Flags that meet each other in entries more often than they meet other flags.

    Attributes:
        dests: The flags, those that the most entries read first.
        entries: How many entries read flags of this community alone.
    """

    dests: tuple[str, ...]
    entries: int


def interaction_graph(prepared: Prepared, *, deep: bool = False) -> networkx.Graph[Any]:
    """The bipartite graph of flags and the entries over them that can fire in a context.

    Nodes carry ``kind`` (``flag``, ``refusal`` or ``rewrite``); an entry also its ``code`` and
    ``stage``. Edges carry ``role``: ``reads`` or, for a flag that a rewrite sets, ``writes``.

    Args:
        prepared: Pack, context and stage.
        deep: Tie a refusal to every flag that its outcome depends on, through rewrites and checks
            passed before, and leave rewrites out; else to those that its own condition reads.
    """
    import networkx

    graph: networkx.Graph[Any] = networkx.Graph()
    pack, required = prepared.pack, fixed_flags(prepared)
    choosable = {d for d in pack.flags.fields if pack.flags.by_dest(d)} - required
    for step, kind, read, written in _entries(prepared, deep):
        ties = dict.fromkeys(sorted(read & choosable), "reads")
        ties |= dict.fromkeys(sorted(written & choosable), "writes")
        if ties:
            entry = pack.catalog.entry(step)
            code, stage = str(entry.code), pack.steps[step].stage
            graph.add_node(code, kind=kind, code=code, stage=stage)
            graph.add_nodes_from(ties, kind="flag")
            graph.add_edges_from((code, dest, {"role": role}) for dest, role in ties.items())
    return graph


_Entry = tuple[int, str, frozenset[str], frozenset[str]]
"""Step, kind, dests read and dests written."""


def _entries(prepared: Prepared, deep: bool) -> Iterator[_Entry]:
    """The entries that can fire in a context."""
    program = prepared.pack.program
    none: frozenset[str] = frozenset()
    if deep:
        for step, constraint in sorted(network_of(prepared).constraints.items()):
            if isinstance(program.steps[step], Refuse):
                yield step, "refusal", frozenset(map(bare, constraint.cone)), none
        return
    named = _named_results(program)
    for step in specialise(program, prepared.facts).origin:
        known = program.steps[step]
        if isinstance(known, Refuse) and prepared.judges(step):
            yield step, "refusal", _reads(known.when, named), none
        elif isinstance(known, Set):
            read = _reads(known.when, named) | _reads(known.value, named)
            yield step, "rewrite", read, frozenset({bare(known.name)})


def _named_results(program: Program) -> dict[str, frozenset[str]]:
    """The flags behind each name that the program gives to a result."""
    named: dict[str, frozenset[str]] = {}
    for step in program.steps:
        if isinstance(step, Let):
            read = _reads(step.when, named) | _reads(step.value, named)
            named[step.name] = named.get(step.name, frozenset()) | read
    return named


def _reads(operand: Operand, named: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The flags that a term reads by itself, not through what rewrites made of others."""
    found: set[str] = set()
    for name in support(operand):
        found |= named.get(name, {bare(name)})
    return frozenset(found)


def near(graph: networkx.Graph[Any], dests: Iterable[str]) -> networkx.Graph[Any]:
    """The part of a graph around flags: the entries that read one of them, and what those read."""
    kept = set(dests) & set(graph)
    entries = {entry for dest in kept for entry in graph[dest]}
    return graph.subgraph(kept | entries | {flag for entry in entries for flag in graph[entry]})


def hubs(graph: networkx.Graph[Any], most: int = 20) -> tuple[Hub, ...]:
    """The flags that the most entries read, most read first."""
    found = []
    for node in _flags(graph):
        met = {flag for entry in graph[node] for flag in graph[entry]} - {node}
        found.append(Hub(node, len(graph[node]), len(met)))
    found.sort(key=lambda hub: (-hub.entries, -hub.flags, hub.dest))
    return tuple(found[:most])


def communities(graph: networkx.Graph[Any]) -> tuple[Community, ...]:
    """The flags in groups that hang together, the largest first.

    Louvain's method (Blondel et al., "Fast unfolding of communities in large networks", 2008) on
    the flags alone: an entry over n flags ties each pair of them with the weight 1 / (n - 1), so
    that it counts once for each flag however many it reads. The same graph gives the same groups.
    """
    import networkx

    flags: networkx.Graph[Any] = networkx.Graph()
    flags.add_nodes_from(sorted(_flags(graph)))
    for entry in (node for node, known in graph.nodes(data=True) if known["kind"] != "flag"):
        read = sorted(graph[entry])
        for first, second in combinations(read, 2):
            weight = flags.get_edge_data(first, second, {"weight": 0.0})["weight"]
            flags.add_edge(first, second, weight=weight + 1 / (len(read) - 1))
    parts = networkx.community.louvain_communities(flags, weight="weight", seed=0)
    found = [_community(graph, frozenset(part)) for part in parts]
    return tuple(sorted(found, key=lambda c: (-len(c.dests), c.dests)))


def _community(graph: networkx.Graph[Any], dests: frozenset[str]) -> Community:
    entries = {entry for dest in dests for entry in graph[dest]}
    own = sum(dests.issuperset(graph[entry]) for entry in entries)
    return Community(tuple(sorted(dests, key=lambda d: (-len(graph[d]), d))), own)


def _flags(graph: networkx.Graph[Any]) -> list[str]:
    return [node for node, known in graph.nodes(data=True) if known["kind"] == "flag"]
