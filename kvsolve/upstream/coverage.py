"""Which entries of the first scope have no curated text yet."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from kvsolve.model.noun import dataclass
from kvsolve.model.program import Refuse, Set, load_program
from kvsolve.packs.phrase_book import PhraseBook
from kvsolve.packs.registry import load_registry
from kvsolve.packs.texts import read_texts, text_for
from kvsolve.packs.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kvsolve.model.program import Program

__all__ = ["FIRST_SCOPE", "Uncurated", "uncurated"]

FIRST_SCOPE = frozenset(
    {
        "attention_backend",
        "attn_cp_size",
        "chunked_prefill_size",
        "cp_strategy",
        "dcp_comm_backend",
        "dcp_replicate_q_proj",
        "dcp_size",
        "decode_attention_backend",
        "disable_radix_cache",
        "dsa_decode_backend",
        "dsa_prefill_backend",
        "dsa_prefill_cp_mode",
        "enable_dsa_prefill_context_parallel",
        "enable_hierarchical_cache",
        "enable_hisparse",
        "enable_mixed_chunk",
        "enable_prefill_context_parallel",
        "enable_prefill_cp",
        "hisparse_config",
        "is_embedding",
        "kv_cache_dtype",
        "moe_dp_size",
        "page_size",
        "prefill_attention_backend",
        "prefill_cp_mode",
        "prefill_only_disable_kv_cache",
        "tp_size",
    }
)
"""Flags whose every refusal and rewrite has a text of its own; the hicache flags besides."""


@dataclass(frozen=True, slots=True)
class Uncurated:
    """An entry without a text.

    Attributes:
        code: Its code.
        release: The newest release that has it.
        symbol: Function.
        reason: What is told of it meanwhile.
    """

    code: str
    release: str
    symbol: str
    reason: str


def uncurated(
    root: Path, scope: Iterable[str] = FIRST_SCOPE, releases: Iterable[str] | None = None
) -> list[Uncurated]:
    """Entries in which a flag of the scope takes part and that have no text, by code.

    Args:
        root: The directory with programs, registry and texts.
        scope: Dests; every ``hicache_`` flag counts besides.
        releases: Which to look at; all registered ones where None.
    """
    wanted = frozenset(scope)
    registry = load_registry(tomllib.loads((root / "codes.toml").read_text(encoding="utf-8")))
    texts = read_texts(sorted(root.glob("[1-6][0-9]-*.toml")))
    phrases = (root / "phrases.toml").read_text(encoding="utf-8")
    book = PhraseBook.from_data(tomllib.loads(phrases))
    found: dict[str, Uncurated] = {}
    for release in registry.releases if releases is None else releases:
        with (root / "program" / f"{release}.jsonl").open(encoding="utf-8") as handle:
            program = load_program(handle, release)
        codes = registry.index(release)
        wording = Wording(program, lambda dest: f"--{dest.replace('_', '-')}", book)
        for step in _in_scope(program, wording, wanted):
            code = codes.get(("refuse" if isinstance(step, Refuse) else "set", step.key), "")
            if text_for(texts, code, release) is None:
                reason = wording.reason(step)
                found[code] = Uncurated(code, release, step.place.symbol, reason)
    return [found[code] for code in sorted(found)]


def _in_scope(program: Program, wording: Wording, wanted: frozenset[str]) -> Iterator[Refuse | Set]:
    for step in program.steps:
        if isinstance(step, Set) or (isinstance(step, Refuse) and step.stage == "args"):
            flags = set(wording.flags(step.when))
            if isinstance(step, Set):
                flags.add(step.name.removeprefix("raw."))
            if flags & wanted or any(flag.startswith("hicache_") for flag in flags):
                yield step
