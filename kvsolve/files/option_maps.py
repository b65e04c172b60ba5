"""Mappings whose keys are options: ``--config`` files, ConfigMaps that hold them, SLURM recipes."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.files.found import FoundCommand, Layout, Token
from kvsolve.files.hints import gpu_hint, gpu_of_label, gpus_hint, image_hint
from kvsolve.files.kubernetes import environment_of
from kvsolve.files.unknown import has_unknown
from kvsolve.files.yaml_nodes import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    YamlSizeError,
    YamlTextError,
    yaml_documents,
)
from kvsolve.files.yaml_scalars import scalar_strand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.files.found import Document
    from kvsolve.files.strand import Strand
    from kvsolve.files.unknown import Unknowns
    from kvsolve.files.yaml_nodes import Node

__all__ = ["OptionMapReader", "are_of_others", "are_options"]

_RECIPE = "sglang_config"
_MODELS = frozenset({"model-path", "model"})
_SIGNS = frozenset({
    "attention-backend", "chunked-prefill-size", "cuda-graph-max-bs", "disaggregation-mode",
    "enable-dp-attention", "ep-size", "kv-cache-dtype", "max-running-requests",
    "mem-fraction-static", "model-path", "moe-a2a-backend", "page-size", "speculative-algorithm",
    "tensor-parallel-size", "tp-size", "disable-radix-cache", "context-length",
    "expert-parallel-size", "data-parallel-size", "dp-size",
})  # fmt: skip
"""Options that few other programs have; one of them has to be among the keys."""
_OTHERS = frozenset({
    "gpu-memory-utilization", "max-model-len", "max-num-seqs", "max-num-batched-tokens",
    "enable-prefix-caching", "no-enable-prefix-caching", "kv-transfer-config", "kv-events-config",
    "compilation-config", "all2all-backend", "free-gpu-memory-fraction", "kv-cache-config",
    "cuda-graph-config", "moe-config", "max-batch-size", "max-num-tokens",
})  # fmt: skip
"""Options of other engines; one of them among the keys, and the mapping is not for SGLang."""
_KNOWN_SHARE = 0.6
_LARGEST = 10_000
"""Parts of a value that is a mapping or a list."""
_OTHER_ENGINES = ("vllm", "trtllm", "tensorrt", "llama_cpp", "tgi", "lmdeploy")


@lru_cache(maxsize=1)
def _names() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Names of all options of some releases, of the switches, and of those with many values."""
    from kvsolve.inputs.config_file import switches
    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.files import constraints_directory
    from kvsolve.packs.pack import releases

    known, folder = releases(), constraints_directory() / "sglang" / "flags"
    ends = dict.fromkeys((known[0], known[-1]))
    tables = [FlagTable.load(folder / f"{release}.json") for release in ends]
    names = {s[2:] for t in tables for s in t.spellings if s.startswith("--")}
    bare = {key.replace("_", "-") for t in tables for key in switches(t)}
    several = {
        spelling[2:]
        for table in tables
        for flag in table
        for spelling in flag.spellings
        if flag.nargs not in (None, 0, "?")
    }
    return frozenset(names), frozenset(bare), frozenset(several)


def _takes_many(name: str) -> bool:
    return name in _names()[2]


def are_of_others(names: Sequence[str]) -> bool:
    """Whether names, joined with dashes, hold an option of another engine."""
    return not _OTHERS.isdisjoint(names)


def are_options(names: Sequence[str]) -> bool:
    """Whether names, joined with dashes, are for the most part SGLang's options."""
    if not _SIGNS.intersection(names) or are_of_others(names):
        return False
    known = _names()[0]
    return sum(name in known for name in names) >= _KNOWN_SHARE * len(names)


class OptionMapReader:
    """Reads mappings of options at nodes of one YAML text.

    Args:
        document: The file.
        source: The text that was parsed.
        unknowns: Keeps what is not known.
        sure: The user names this file, so options alone are for SGLang.
    """

    def __init__(self, document: Document, source: Strand, unknowns: Unknowns, sure: bool) -> None:
        self.document, self.source, self.unknowns, self.sure = document, source, unknowns, sure

    def mapping(
        self, node: Node, around: Sequence[Node], keys: Sequence[str], top: bool
    ) -> Iterator[FoundCommand]:
        """The server that a mapping of options configures, if it is one.

        Args:
            node: The mapping.
            around: The mappings around it, itself first.
            keys: The keys that lead to it.
            top: It is the whole document.
        """
        if len(keys) > 1 and keys[-2] == _RECIPE:
            yield self._recipe(node, around, keys[-1])
        elif self._is_options(node, keys, top):
            yield self._options(node, around, keys[-1] if keys else "", recipe=not top)

    def embedded(self, node: Node, around: Sequence[Node], key: str) -> Iterator[FoundCommand]:
        """The server that the options in a text configure, as in a ConfigMap."""
        if ":" not in node.value or not any(sign in node.value for sign in _SIGNS):
            return
        strand = scalar_strand(node, self.source)
        inner = OptionMapReader(self.document, strand, self.unknowns, self.sure)
        roots: list[Node] = []
        try:
            for root in yaml_documents(strand.text):
                roots.append(root)
        except YamlSizeError:
            pass  # the file that it stands in may be read all the same
        except YamlTextError:
            return
        for root in roots:
            if root.kind == MAPPING and inner._is_options(root, (), True):
                yield inner._options(root, around, key, recipe=False)

    def _is_options(self, node: Node, keys: Sequence[str], top: bool) -> bool:
        names = [_dashed(key.value) for key, _ in node.pairs if key.kind == SCALAR]
        if len(names) != len(node.pairs) or not are_options(names):
            return False
        if not top and not _MODELS.intersection(names):
            return False  # a part of something else, such as one case of a launcher of its own
        if (
            not top
            and _SIGNS.intersection(names) == {"model-path"}
            and not _names()[0].issuperset(names)
        ):
            return False  # an entry of a catalogue of models
        if not self.sure and len(names) < 2:
            return False
        return not any(engine in key.lower() for key in keys for engine in _OTHER_ENGINES)

    def _recipe(self, node: Node, around: Sequence[Node], role: str) -> FoundCommand:
        """One role of a recipe; its neighbours give the image, the GPU and the environment."""
        root = around[-1]
        found = self._options(node, around, role, recipe=True)
        env: dict[str, str] = {}
        for holder in around:
            extra = holder.get(f"{role}_environment")
            if extra is not None and extra.kind == MAPPING:
                env = {name: value.value for name, value in extra.entries()}
                break
        image = root.text("model", "container")
        gpu = gpu_of_label(root.text("resources", "gpu_type") or "")
        gpus = root.text("resources", "gpus_per_node") or ""
        tokens = (*found.tokens, *_spread(root, role, found.tokens))
        return FoundCommand(
            tokens,
            "options",
            found.location,
            env,
            {},
            image,
            gpu,
            int(gpus) if gpus.isdecimal() else None,
            role,
        )

    def _options(
        self, node: Node, around: Sequence[Node], name: str, *, recipe: bool
    ) -> FoundCommand:
        tokens = tuple(self._tokens(node, recipe))
        environment = environment_of(around[1:])
        start = self.source.span(node.start, node.start + 1)[0]
        return FoundCommand(
            tokens,
            "options",
            self.document.location(start),
            environment.known,
            environment.unknown,
            image_hint(around[1:]),
            gpu_hint(around[1:]),
            gpus_hint(around[1:]),
            name,
        )

    def _tokens(self, node: Node, recipe: bool) -> Iterator[Token]:
        at = self.source.at
        group = at[node.start] if node.start < len(at) else 0
        bare = _names()[1]
        for key, value in node.pairs:
            if key.kind != SCALAR or key.value == "<<":
                continue
            start, _ = self.source.span(key.start, key.end)
            column = self.document.location(start).column - 1
            kind = "flow" if node.style == "{" else "map"
            layout = Layout(kind, group, column, keys="_" if "_" in key.value else "-")
            yield from self._pair(key, value, layout, recipe or _dashed(key.value) in bare, recipe)

    def _pair(
        self, key: Node, value: Node, layout: Layout, is_switch: bool, recipe: bool
    ) -> Iterator[Token]:
        span = self.source.span(key.start, key.end)
        whole = self.source.span(key.start, value.end)
        option = "--" + (_dashed(key.value) if recipe else key.value)
        locked = "" if layout.kind == "map" else "its mapping is written in one line"
        meant = _meant(value)
        if isinstance(meant, bool) and is_switch:
            if meant:
                yield Token(option, span[0], whole[1], layout, "", "", locked)
            return
        texts = list(self._values(value, meant, layout))
        if recipe and len(texts) > 1 and not _takes_many(_dashed(key.value)):
            reason = "the recipe tries several values"
            shown = self.source.text[value.start : value.end]
            start, end = self.source.span(value.start, value.end)
            texts = [Token(shown, start, end, layout, "", reason, reason)]
        if not texts and value.kind == SEQUENCE:
            return
        yield Token(option, *span, layout, "", "", locked)
        yield from texts

    def _values(self, value: Node, meant: Any, layout: Layout) -> Iterator[Token]:
        if value.kind == SEQUENCE and all(item.kind == SCALAR for item in value.items):
            for item in value.items:
                yield self._value(item, _meant(item), layout, "a list of values is one option")
        else:
            yield self._value(value, meant, layout, "")

    def _json(self, node: Node) -> str:
        try:
            return json.dumps(_plain(node, [_LARGEST]))
        except (_TooLargeError, RecursionError, ValueError):
            return self.unknowns.mark("{...}", "it is too large, or holds itself")

    def _value(self, node: Node, meant: Any, layout: Layout, locked: str) -> Token:
        start, end = self.source.span(node.start, node.end)
        if node.kind != SCALAR:
            text, locked = self._json(node), "a mapping is one value"
        else:
            text = str(meant).lower() if isinstance(meant, bool) else str(meant)
        unknown = "; ".join(self.unknowns.reasons(text)) if has_unknown(text) else ""
        written = self.unknowns.written(text)
        return Token(written, start, end, layout, node.style, unknown, unknown or locked)


class _TooLargeError(Exception):
    """A value is larger than any option's."""


def _spread(root: Node, role: str, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The number of nodes, which the recipe's launcher hands to each worker of a role."""
    part = "agg" if role == "aggregated" else role
    counts = [root.text("resources", f"{part}_{what}") or "" for what in ("nodes", "workers")]
    if not tokens or not all(count.isdecimal() and int(count) for count in counts):
        return ()
    nodes = int(counts[0]) // int(counts[1])
    if nodes < 2 or any(token.text == "--nnodes" for token in tokens):
        return ()
    lock = "the recipe's launcher adds it"
    first = tokens[0]
    bare = Token("", first.start, first.start, first.layout, "", "", lock)
    address = bare._replace(text="HOST:PORT", unknown=lock)
    words = (bare._replace(text=word) for word in ("--nnodes", str(nodes), "--dist-init-addr"))
    return (*words, address)


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _meant(node: Node) -> Any:
    """A scalar as YAML reads it: a number, a truth value, None or a text."""
    if node.kind != SCALAR or not node.plain:
        return node.value
    import yaml

    try:
        made = yaml.safe_load(node.value) if node.value else None
    except (yaml.YAMLError, ValueError):
        return node.value
    return made if isinstance(made, (bool, int, float, str)) or made is None else node.value


def _plain(node: Node, budget: list[int]) -> Any:
    """A value as JSON has it; aliases are written out, as the release reads them."""
    budget[0] -= 1
    if budget[0] < 0:
        raise _TooLargeError
    if node.kind == SCALAR:
        return _meant(node)
    if node.kind == SEQUENCE:
        return [_plain(item, budget) for item in node.items]
    return {key.value: _plain(value, budget) for key, value in node.pairs}
