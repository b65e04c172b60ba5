"""Remedies are read as the edits that they propose, or not at all."""

from __future__ import annotations

import pytest

from kvsolve.model.flag import Flag, FlagTable
from kvsolve.packs.remedies import proposals

DTYPES = ("auto", "fp8_e4m3", "mx")
FLAGS = (
    Flag("page_size", ("--page-size",), type="int", default=None),
    Flag("dcp_size", ("--dcp-size",), type="int", default=1),
    Flag(
        "kv_cache_dtype", ("--kv-cache-dtype",), choices=("auto", "fp8_e4m3", "mx"), default="auto"
    ),
    Flag("is_embedding", ("--is-embedding",), action="store_true", nargs=0, default=False),
    Flag("backend", ("--attention-backend",), choices=("fa3", "triton"), default=None),
)
TABLE = FlagTable("0.0.1", list(FLAGS), {f.dest: f.default for f in FLAGS}, {})


@pytest.mark.parametrize(
    ("remedy", "edits"),
    [
        ("Drop --page-size.", [{"page_size": None}]),
        (
            "Set --kv-cache-dtype to fp8_e4m3 or auto, or drop it.",
            [{"kv_cache_dtype": "fp8_e4m3"}, {"kv_cache_dtype": "auto"}, {"kv_cache_dtype": None}],
        ),
        (
            "Use --kv-cache-dtype fp8_e4m3, or mx for four bits elsewhere.",
            [{"kv_cache_dtype": "fp8_e4m3"}, {"kv_cache_dtype": "mx"}],
        ),
        (
            "Serve with --is-embedding or drop --page-size and --dcp-size.",
            [{"is_embedding": True}, {"page_size": None, "dcp_size": None}],
        ),
        (
            "Set --attention-backend to fa3 (Hopper) or triton, and drop --page-size.",
            [{"backend": "fa3", "page_size": None}, {"backend": "triton", "page_size": None}],
        ),
        (
            "Set --kv-cache-dtype to mx and --attention-backend to triton (fa3 on Hopper).",
            [{"kv_cache_dtype": "mx", "backend": "triton"}],
        ),
        ("Drop --page-size or --dcp-size.", [{"page_size": None}, {"dcp_size": None}]),
        ("Leave --page-size unset on this GPU.", [{"page_size": None}]),
        ("Leave --kv-cache-dtype at auto.", [{"kv_cache_dtype": "auto"}]),
        ("Set --dcp-size above 1, or drop --page-size.", [{"dcp_size": 2}, {"page_size": None}]),
        ("Set --dcp-size to at most 8.", [{"dcp_size": 8}]),
    ],
)
def test_the_ways_out_of_a_remedy(remedy, edits):
    found = [{c.dest: c.value for c in p.changes} for p in proposals(remedy, TABLE)]
    assert found == edits


@pytest.mark.parametrize(
    "remedy",
    [
        "Choose another attention backend.",
        "Set --page-size to a multiple of --dcp-size.",
        "Leave --page-size as it is.",
        "Set --kv-cache-dtype to nonsense.",
        "Drop --no-such-flag.",
        "Add --is-embedding with --page-size equal to --dcp-size.",
        "Install FlashInfer 0.6 or newer.",
    ],
)
def test_what_is_not_understood_proposes_nothing(remedy):
    assert not any(p.changes for p in proposals(remedy, TABLE))
