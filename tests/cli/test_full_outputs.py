"""The full matrix, rendered."""

from __future__ import annotations

import csv
import io

from kvsolve.outputs.full import full_csv, full_markdown, full_text
from kvsolve.outputs.full_html import full_html
from tests.cli.test_outputs import _Page


def value(dest: str, value: object, state: str = "yes", **known: object) -> dict[str, object]:
    return {
        "dest": dest, "value": value, "state": state, "codes": [], "edits": [], "facts": [], **known
    }  # fmt: skip


EDIT = {"op": "add", "flag": "--is-embedding", "from": False, "value": True, "cost": 1, "also": []}
FULL = {
    "context": {"release": "0.5.18", "gpus": 8, "gpu": "h100", "model": "m", "stage": "args"},
    "flags": [
        {"dest": "page_size", "flag": "--page-size", "values": [None, 1, 0]},
        {"dest": "is_embedding", "flag": "--is-embedding", "values": [False, True]},
        {"dest": "no_cache", "flag": "--no-cache", "values": [False, True]},
    ],
    "values": [
        value("page_size", None), value("page_size", 1),
        value("page_size", 0, "no", codes=["KV0001"]),
        value("is_embedding", False), value("is_embedding", True),
        value("no_cache", False), value("no_cache", True, "with", edits=[EDIT]),
    ],
    "pairs": [
        {
            "row": {"dest": "is_embedding", "values": [False]},
            "col": {"dest": "no_cache", "values": [True]},
            "state": "no", "codes": ["KV0002"],
        },
    ],
    "counts": {"supported": 11, "unsupported": 1, "dead": 4, "unknown": 0},
    "complete": True,
    "reasons": {"KV0001": "A page holds <something>.", "KV0002": "Only embeddings."},
}  # fmt: skip


def test_what_does_not_work_is_told_with_its_reason() -> None:
    text = full_text(FULL, 90)
    assert "16 pairs: 11 go together, 1 do not, 4 have a value" in " ".join(text.split())
    assert "Values that no launch has (1)" in text
    assert "KV0002: Only embeddings." in text
    assert "not decided" not in text
    assert "--is-embedding" in full_markdown(FULL)
    late = full_text({**FULL, "complete": False}, 90)
    assert "time was up" in " ".join(late.split())


def test_every_pair_is_a_line_of_csv_once() -> None:
    rows = list(csv.DictReader(io.StringIO(full_csv(FULL, every=True))))
    values = [row for row in rows if not row["col"]]
    pairs = [row for row in rows if row["col"]]
    assert [row["state"] for row in values].count("no") == 1
    assert [row["state"] for row in pairs].count("supported") == 11
    keys = [(r["row"], r["row_value"], r["col"], r["col_value"]) for r in pairs]
    assert len(set(keys)) == len(keys) == 12
    assert len(list(csv.DictReader(io.StringIO(full_csv(FULL))))) == len(values) + 1


def test_the_page_stands_alone_and_links_each_reason() -> None:
    text = full_html(FULL)
    page = _Page()
    page.feed(text.replace("<input ", "<meta ").replace("<br>", ""))
    assert not page.open
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert "A page holds &lt;something&gt;." in text
    assert 'src="' not in text
    assert "http" not in text
