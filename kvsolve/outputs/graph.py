"""An interaction graph as text, DOT and GraphML; all take the JSON of the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kvsolve.outputs.tables import text_table
from kvsolve.outputs.words import count_of, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["graph_dot", "graph_graphml", "graph_text"]

_LEAST = 2
"""Flags that make a community worth naming."""
_SHOWN = 12
"""Flags of a community that the text names; JSON has them all."""


def graph_text(graph: Mapping[str, Any], width: int = 100) -> str:
    """Size, hubs and communities, for a person."""
    kinds = [node["kind"] for node in graph["nodes"]]
    told = ", ".join(count_of(kinds.count(kind), kind) for kind in ("flag", "refusal", "rewrite"))
    head = f"{told}, {count_of(len(graph['edges']), 'tie')}"
    rows = [[h["dest"], str(h["entries"]), str(h["flags"])] for h in graph["hubs"]]
    table = text_table(["hub", "entries over it", "flags it meets there"], rows)
    return f"{head}\n\n{table}\n{''.join(_communities(graph, width))}"


def _communities(graph: Mapping[str, Any], width: int) -> Iterator[str]:
    groups = [g for g in graph["communities"] if len(g["dests"]) >= _LEAST]
    single = [g["dests"][0] for g in graph["communities"] if len(g["dests"]) < _LEAST]
    number = count_of(len(groups), "group")
    yield f"{number} of flags that hang together, the most read flag first\n"
    for group in groups:
        inside = "entry" if group["entries"] == 1 else "entries"
        about = f"{len(group['dests'])} flags, {group['entries']} {inside} inside: "
        yield wrap(about + _some(group["dests"]), width, "    ", "  - ") + "\n"
    if single:
        about = f"{count_of(len(single), 'flag')} in no group: "
        yield wrap(about + _some(single), width, "    ", "  - ") + "\n"


def _some(dests: Sequence[str]) -> str:
    more = len(dests) - _SHOWN
    return ", ".join(dests[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def graph_dot(graph: Mapping[str, Any]) -> str:
    """The graph in the language of Graphviz."""
    lines = ["graph kvsolve {", "  layout=sfdp; overlap=prism; node [fontname=Helvetica];"]
    for node in graph["nodes"]:
        flag = node["kind"] == "flag"
        label = node["flag"] if flag else node["code"]
        shape = {"flag": "box", "refusal": "ellipse", "rewrite": "diamond"}[node["kind"]]
        tip = "" if flag else f", tooltip={_quoted(node['slug'])}"
        lines.append(f"  {_quoted(node['id'])} [label={_quoted(label)}, shape={shape}{tip}];")
    for edge in graph["edges"]:
        style = " [style=bold]" if edge["role"] == "writes" else ""
        lines.append(f"  {_quoted(edge['entry'])} -- {_quoted(edge['flag'])}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def graph_graphml(graph: Mapping[str, Any]) -> str:
    """The graph as GraphML, for Gephi, yEd and the like."""
    import networkx

    made: networkx.Graph[Any] = networkx.Graph(release=graph["sglang"])
    for node in graph["nodes"]:
        made.add_node(node["id"], **{name: value for name, value in node.items() if name != "id"})
    for edge in graph["edges"]:
        made.add_edge(edge["entry"], edge["flag"], role=edge["role"])
    return "\n".join(networkx.generate_graphml(made)) + "\n"
