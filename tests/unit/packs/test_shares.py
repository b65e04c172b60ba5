"""What is told of refusals over shares of a model."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import Expr
from kvsolve.model.program import Place, Refuse
from kvsolve.model.syntax import parse
from kvsolve.packs.pack import load_pack
from kvsolve.packs.phrase_book import PhraseBook
from kvsolve.packs.shares import Share, Shares

BOOK = PhraseBook(
    widths=frozenset({"tp_size", "dp_size", "cp_size"}),
    counts={"heads": "heads", "kv": "KV heads", "swa_kv": "KV heads", "experts": "experts"},
)
SPELLED = {"tp_size": "--tp-size", "dp_size": "--dp-size", "cp_size": "--cp-size"}
NAMES = {"built_model": 1}
RANKS = "max(1, tp_size // max(1, dp_size) // max(1, cp_size))"


def told(guard: str) -> Share | None:
    when = parse(guard, NAMES)
    assert isinstance(when, Expr)
    shares = Shares({("built_model", 1): True}, {**SPELLED, "other": "--other"}.get, BOOK)
    place = Place("models/a.py", "A.__init__", 1, "")
    return shares.of(Refuse("AssertionError", when, place, stage="load"))


@pytest.mark.parametrize(
    ("guard", "slug", "flags"),
    [
        ("config.heads % max(1, tp_size) != 0", "heads-shared-evenly", ["tp_size"]),
        ("config.a.kv % tp_size", "kv-heads-shared-evenly", ["tp_size"]),
        (f"config.kv % {RANKS} != 0", "kv-heads-shared-evenly", ["tp_size", "dp_size", "cp_size"]),
        (
            "(getattr(config, 'swa_kv', 8) if config.b else config.kv) % tp_size != 0",
            "kv-heads-shared-evenly",
            ["tp_size"],
        ),
        (
            "config.kv < tp_size // dp_size and tp_size // max(1, dp_size) % config.kv != 0",
            "kv-heads-copied-evenly",
            ["tp_size", "dp_size"],
        ),
        (
            "not config.kv >= tp_size and tp_size % config.kv != 0",
            "kv-heads-copied-evenly",
            ["tp_size"],
        ),
        ("tp_size > config.experts", "experts-for-every-rank", ["tp_size"]),
    ],
)  # fmt: skip
def test_a_share_is_told_with_the_flags_that_make_its_width(guard, slug, flags):
    found = told(f"built_model == 'A' and hasattr(config, 'kv') and {guard}")
    assert found is not None
    assert (found.slug, list(found.flags)) == (slug, flags)
    for dest in flags:
        assert SPELLED[dest] in found.reason
        assert SPELLED[dest] in found.remedy


@pytest.mark.parametrize(
    "guard",
    [
        "config.size % tp_size != 0",  # nobody said what it counts
        "config.heads % other != 0",  # no width
        "config.heads % (tp_size + 1) != 0",  # not a quotient
        "config.heads % tp_size != 1",
        "config.heads % tp_size == 0",
        "config.heads % config.kv != 0",
        "tp_size % cp_size != 0",
        "tp_size % config.kv != 0",
        "config.kv >= tp_size and tp_size % config.kv != 0",
        "config.heads > tp_size",
        "(config.heads if config.b else config.kv) % tp_size != 0",
        "config.heads % tp_size != 0 and config.b",
    ],
)
def test_anything_else_is_told_by_its_conditions(guard):
    assert told(f"built_model == 'A' and {guard}") is None


def test_a_refusal_that_another_flag_has_a_part_in_is_told_by_its_conditions():
    assert told("other and config.heads % tp_size != 0") is None


def test_the_sentences():
    found = told("config.kv < tp_size and tp_size // max(1, dp_size) % config.kv != 0")
    assert found == Share(
        "kv-heads-copied-evenly",
        "The model has fewer KV heads than --tp-size / --dp-size ranks, so each is copied to"
        " several; the number of ranks is not a multiple of theirs.",
        "Choose --tp-size and --dp-size so that --tp-size / --dp-size is a multiple of the number"
        " of the model's KV heads, or divides it.",
        ("tp_size", "dp_size"),
    )


def test_what_constructors_refuse_is_told_so_in_a_release():
    entries = [e for e in load_pack("0.5.23").catalog.all() if e.stage == "load" and not e.curated]
    shares = [e for e in entries if e.slug.rpartition("-")[0].endswith(("evenly", "every-rank"))]
    assert len(shares) > 150
    widths = {"tp_size", "attn_dp_size", "attn_cp_size", "ep_size", "moe_dp_size"}
    assert all(set(e.flags) <= widths for e in shares)
    assert all(e.remedy for e in shares)
