"""YAML documents as nodes with places, read event by event.

An alias is the node that it names, never a copy, so a file that expands to more than the machine
holds costs no more than its own size. Nesting is bounded, and nothing is constructed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MAPPING",
    "SCALAR",
    "SEQUENCE",
    "Node",
    "YamlSizeError",
    "YamlTextError",
    "yaml_documents",
]

SCALAR, SEQUENCE, MAPPING = "scalar", "sequence", "mapping"
_DEEPEST = 120
_MOST = 1_000_000
_TIMES = 10
"""With its aliases written out, a document may stand for so many values, or for so many times those
that it holds."""
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")


class YamlTextError(KvsolveError):
    """The text is no YAML; ``index`` is where it stops being that."""

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason)
        self.index = index


class YamlSizeError(YamlTextError):
    """The text is YAML, but more of it than is read."""


class Node:
    """A scalar, a sequence or a mapping.

    Attributes:
        kind: One of the three.
        start: Index of its first character in the text.
        end: Index after its last one.
        value: Text of a scalar.
        style: ``""`` plain, ``'``, ``"``, ``|``, ``>``; for the others ``{`` where in brackets.
        items: Of a sequence.
        pairs: Of a mapping, in order.
        plain: A scalar that may be a number, a boolean or null.
        size: Values that it stands for, itself included, with its aliases written out.
    """

    __slots__ = ("end", "items", "kind", "pairs", "plain", "size", "start", "style", "value")

    def __init__(self, kind: str, start: int, end: int, value: str, style: str) -> None:
        self.kind, self.start, self.end, self.value, self.style = kind, start, end, value, style
        self.items: list[Node] = []
        self.pairs: list[tuple[Node, Node]] = []
        self.plain = kind == SCALAR and style == ""
        self.size = 1

    def get(self, *names: str) -> Node | None:
        """The value of the first of these keys that is there, in the mappings it merges too."""
        for name in names:
            for mapping in self._merged():
                for key, value in mapping.pairs:
                    if key.kind == SCALAR and key.value == name:
                        return value
        return None

    def _merged(self) -> Iterator[Node]:
        """This mapping, then those behind ``<<``; each once, however often it is named."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            node = waiting.pop(0)
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.kind == SEQUENCE:
                waiting += node.items
            elif node.kind == MAPPING:
                yield node
                waiting += [v for k, v in node.pairs if k.value == "<<" and k.kind == SCALAR]

    def entries(self) -> Iterator[tuple[str, Node]]:
        """Keys that are texts, with their values, merged ones after its own; each key once."""
        seen: set[str] = set()
        for mapping in self._merged():
            for key, value in mapping.pairs:
                if key.kind == SCALAR and key.value not in seen and key.value != "<<":
                    seen.add(key.value)
                    yield key.value, value

    def text(self, *path: str) -> str | None:
        """The scalar at a path of keys, None where there is none."""
        node: Node | None = self
        for name in path:
            node = node.get(name) if node is not None and node.kind == MAPPING else None
        return node.value if node is not None and node.kind == SCALAR else None


def yaml_documents(text: str) -> Iterator[Node]:
    """The root nodes of a text, one a document; an empty document has none.

    Raises:
        YamlTextError: The text is no YAML from some place on.
        YamlSizeError: It is nested too deeply; or, after the last document, aliases stand for more
            than anybody would write out.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from _documents(yaml.parse(text, Loader=loader), text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlTextError(
            str(error.problem or "it makes no sense"), mark.index if mark else 0
        ) from None
    except yaml.YAMLError as error:
        reason = str(getattr(error, "reason", None) or "it makes no sense")
        raise YamlTextError(reason, getattr(error, "position", 0) or 0) from None


def _documents(events: Iterator[Any], text: str) -> Iterator[Node]:
    stack: list[tuple[Node, list[Node]]] = []
    anchors: dict[str, Node] = {}
    made, large = 0, None
    for event in events:
        name = type(event).__name__
        if name == "DocumentStartEvent":
            anchors.clear()
            continue
        if name in ("SequenceEndEvent", "MappingEndEvent"):
            node, children = stack.pop()
            _fill(node, children, event.end_mark.index)
            if large is None and node.size > _MOST and node.size > _TIMES * made:
                large = node
        elif name in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent"):
            node = _node(event, name, text)
            made += 1
            if event.anchor:
                anchors[event.anchor] = node
            if name != "ScalarEvent":
                if len(stack) >= _DEEPEST:
                    raise YamlSizeError("it is nested too deeply from here on", node.start)
                stack.append((node, []))
                continue
        elif name == "AliasEvent":
            if event.anchor not in anchors:
                raise YamlTextError(
                    f"the alias *{event.anchor} names nothing", event.start_mark.index
                )
            node = anchors[event.anchor]
        else:
            continue
        if stack:
            stack[-1][1].append(node)
        else:
            yield node
    if large is not None:
        # Whatever serves it would write them out; no manifest is meant to be that long.
        reason = f"its aliases stand for more than {_MOST:,} values"
        raise YamlSizeError(reason, large.start)


def _node(event: Any, name: str, text: str) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    properties = _PROPERTIES.match(text, start) if event.anchor or event.tag else None
    start = properties.end() if properties else start
    if name == "ScalarEvent":
        made = Node(SCALAR, start, end, event.value, event.style or "")
        made.plain = bool(event.implicit[0]) and made.style == ""
        return made
    kind = SEQUENCE if name == "SequenceStartEvent" else MAPPING
    return Node(kind, start, end, "", "{" if event.flow_style else "")


def _fill(node: Node, children: list[Node], end: int) -> None:
    node.end = end
    node.size += sum(child.size for child in children)
    if node.kind == SEQUENCE:
        node.items = children
    else:
        node.pairs = list(zip(children[::2], children[1::2], strict=False))
