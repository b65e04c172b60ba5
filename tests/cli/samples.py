"""Hand-made answers that hold one of everything a renderer must show."""

from __future__ import annotations

from dataclasses import replace

from kvsolve.model.edit import Conflict, Derived, Edit, Repair
from kvsolve.model.finding import (
    CheckResult,
    Finding,
    Ground,
    Kind,
    Location,
    ProfileVerdict,
    Severity,
    Verdict,
)

SECRET = "sk-live-4242"
ARGV = (
    "--model-path", "meta-llama/Llama-3.1-8B-Instruct", "--is-embedding",
    "--prefill-only-disable-kv-cache", "--kv-cache-dtype", "nvfp4",
    "--page-size", "64", "--api-key", SECRET,
)  # fmt: skip
PROGRAM = ("python", "-m", "sglang.launch_server")
GROUND = Ground("server_args.py", "ServerArgs._handle_prefill_only", "0.5.18", 4711)

FIRST = Finding(
    code="KV0101",
    slug="prefill-only-needs-auto-dtype",
    kind=Kind.VIOLATION,
    severity=Severity.ERROR,
    stage="args",
    flags=("--kv-cache-dtype", "--prefill-only-disable-kv-cache"),
    message="A run without a KV cache stores nothing, so it takes no KV dtype of its own.",
    ground=GROUND,
    raises="ValueError",
    remedy="Leave --kv-cache-dtype at auto, or drop --prefill-only-disable-kv-cache.",
    step=10,
)
LATER = Finding(
    code="KV0202",
    slug="fp4-pool-needs-blackwell",
    kind=Kind.VIOLATION,
    severity=Severity.ERROR,
    stage="pool",
    flags=("--kv-cache-dtype",),
    message="The FP4 pool runs on compute capability 10.0 and later.",
    ground=Ground("mem_cache/memory_pool.py", "FP4Pool.__init__", ">=0.5.16", 12, "source"),
    raises="AssertionError",
    after_first=True,
    crash=True,
    location=Location("serve.sh", 3, 5),
    step=20,
)
UNREACHED = Finding(
    code="KV0303",
    slug="page-size-divides",
    kind=Kind.VIOLATION,
    severity=Severity.NOTE,
    stage="pool",
    flags=("--page-size",),
    message="The page size divides the chunk.",
    ground=GROUND,
    after_first=True,
    not_reached=True,
    step=30,
)
TYPED = Finding(
    code="KV0007",
    slug="no-such-flag",
    kind=Kind.PARSE,
    severity=Severity.ERROR,
    stage="parse",
    flags=("--kv-cache-dtyp",),
    message="SGLang 0.5.18 has no option --kv-cache-dtyp.",
    remedy="Write --kv-cache-dtype.",
)
REWRITTEN = Finding(
    code="KV0404",
    slug="page-size-follows-backend",
    kind=Kind.REWRITE,
    severity=Severity.WARNING,
    stage="args",
    flags=("--page-size",),
    message="The backend stores pages of its own size.",
    ground=GROUND,
    before=64,
    after=1,
    dest="page_size",
    step=40,
)
FILLED = Finding(
    code="KV0405",
    slug="chunk-off",
    kind=Kind.REWRITE,
    severity=Severity.NOTE,
    stage="args",
    flags=("--chunked-prefill-size",),
    message="Nothing is left to chunk.",
    ground=GROUND,
    before=8192,
    after=-1,
    dest="chunked_prefill_size",
    step=41,
)
REPORTED = Finding(
    code="KV9001",
    slug="ngram-dies-in-warm-up",
    kind=Kind.REPORT,
    severity=Severity.WARNING,
    stage="request",
    flags=("--speculative-algorithm",),
    message="Publicly reported to fail at the first request.",
    remedy="Another attention backend helped.",
    step=50,
)


def result(*findings: Finding, verdict: Verdict | None = None, **changes: object) -> CheckResult:
    """An answer with these findings; the verdict follows from them unless told."""
    bad = any(f.is_error for f in findings)
    values: dict[str, object] = {
        "argv": ARGV,
        "sglang": "0.5.18",
        "sglang_from": "option",
        "facts": {"gpu": "h100", "gpus": 8, "model": "llama-mha", "model_from": "family"},
        "judged_to": "pool",
        "verdict": verdict or (Verdict.INVALID if bad else Verdict.VALID),
        "findings": findings,
        "effective": {
            "page_size": 1,
            "api_key": SECRET,
            "is_embedding": True,
            "quantization": None,
        },
        "provenance": {"page_size": "KV0404", "api_key": "user", "quantization": "default"},
    }
    return CheckResult(**(values | changes))  # type: ignore[arg-type]


EVERYTHING = result(
    TYPED, replace(FIRST, after_first=True), LATER, UNREACHED, REWRITTEN, FILLED, REPORTED
)
CLEAN = result()
OPEN = result(
    verdict=Verdict.UNKNOWN,
    not_modelled=("mm_process_config",),
    unknown=("gpu.sm",),
    facts={"gpu": None, "gpus": 8, "model": "llama-mha", "model_from": "family"},
    profiles=(
        ProfileVerdict("h100", "llama-mha", Verdict.VALID),
        ProfileVerdict("h200", "llama-mha", Verdict.VALID),
        ProfileVerdict("t4", "llama-mha", Verdict.INVALID, ("KV0202",)),
    ),
)

BEST = Repair(
    cost=3,
    edits=(
        Edit("set", "kv_cache_dtype", "--kv-cache-dtype", "nvfp4", "auto", 2, ("bf16", "fp8_e4m3")),
        Edit("add", "disable_radix_cache", "--disable-radix-cache", False, True, 1),
    ),
    argv=(*ARGV[:5], "auto", *ARGV[6:], "--disable-radix-cache"),
    removes=("KV0101", "KV0202"),
    optimal=True,
    bound=3,
)
OTHER = Repair(
    cost=5,
    edits=(
        Edit("remove", "kv_cache_dtype", "--kv-cache-dtype", "nvfp4", "auto", 2),
        Edit("remove", "is_embedding", "--is-embedding", True, False, 3),
    ),
    argv=ARGV[:2],
    removes=("KV0101", "KV0202"),
    optimal=False,
    bound=4,
    rewritten=("page_size",),
    reports=("KV9001",),
)
CONFLICT = Conflict(
    pins=(("--kv-cache-dtype", "nvfp4"), ("--api-key", SECRET)),
    facts=("gpu h100",),
    codes=("KV0101", "KV0202"),
    chain=(
        Derived(1, "KV0101", ("kv_cache_dtype", "page_size"), (), "page_size == 64"),
        Derived(2, None, ("page_size",), (1,), "page_size == 64", "page_size == 64"),
        Derived(3, "KV0202", ("kv_cache_dtype", "page_size"), (2,), "False"),
    ),
)
MATRIX = {
    "rows": {"name": "kv_cache_dtype", "values": ["auto", "nvfp4"]},
    "cols": {"name": "attention_backend", "values": [None, "fa3"]},
    "context": {"sglang": "0.5.18", "gpu": "h100", "model": "llama-mha", "gpus": 8},
    "cells": [
        {"row": "auto", "col": None, "state": "yes", "codes": [], "edits": []},
        {
            "row": "auto", "col": "fa3", "state": "with", "codes": ["KV0404"],
            "edits": [
                {"op": "set", "flag": "--page-size", "from": 64, "value": 1, "cost": 2, "also": []},
                {"op": "remove", "flag": "--x", "from": True, "value": False, "cost": 3},
            ],
        },
        {"row": "nvfp4", "col": None, "state": "no", "codes": ["KV0202"], "edits": []},
        {"row": "nvfp4", "col": "fa3", "state": "no", "codes": ["KV0202", "KV0101"], "edits": []},
    ],
}  # fmt: skip
REASONS = {"KV0202": "Needs <Blackwell> | later.", "KV0101": "=No dtype."}
