"""How many configurations a second one core judges, in-process and through `kvsolve batch`.

Configurations mix releases, GPUs, models and flags, so that contexts are shared as in real use: a
few dozen of them, each asked again and again.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from kvsolve.answers.asking import session
from kvsolve.cli.main import main as kvsolve
from kvsolve.packs.pack import releases
from kvsolve.session import Request

LINES = 4000
SEED = 20
TARGETS = {"batch": 1000.0, "prepared": 300.0, "unprepared": 5.0}
GPUS = ("h100", "b200", "mi300x", "a100")
MODELS = ("llama-mha", "deepseek-v3", "qwen3-moe")
FLAGS = (
    ("--kv-cache-dtype", "auto", "fp8_e4m3", "nvfp4", "bf16"),
    ("--attention-backend", "fa3", "triton", "flashinfer", "trtllm_mha"),
    ("--page-size", "1", "16", "64"),
    ("--tp-size", "1", "4", "8"),
    ("--chunked-prefill-size", "-1", "4096", "8192"),
    ("--disable-radix-cache",),
    ("--enable-hierarchical-cache",),
    ("--is-embedding",),
    ("--enable-mixed-chunk",),
)


def lines() -> list[dict[str, Any]]:
    draw = random.Random(SEED)
    contexts = list(itertools.product((releases()[2], releases()[-1]), GPUS, MODELS))
    out = []
    for number in range(LINES):
        release, gpu, family = draw.choice(contexts)
        argv = ["--model-path", "m"]
        for flag, *values in draw.sample(FLAGS, draw.randint(0, 5)):
            argv += [flag, draw.choice(values)] if values else [flag]
        out.append({"id": number, "argv": argv, "sglang": release, "gpu": gpu, "family": family})
    return out


def through_batch(rows: list[dict[str, Any]]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            code = kvsolve(["batch", str(file)])
        assert code == 0
        return len(rows) / (time.process_time() - start)


def in_process() -> tuple[float, float]:
    """Microseconds a check once its context is prepared, and milliseconds before it is."""
    from kvsolve.solve.check import check

    argv = ["--model-path", "m", "--is-embedding", "--kv-cache-dtype", "fp8_e4m3"]
    fresh = []
    for gpus in range(1, 12):
        start = time.process_time()
        question = session().ask(
            Request(argv, sglang=releases()[-1], gpu="h100", family="llama-mha", gpus=gpus)
        )
        session().judge(question)
        fresh.append((time.process_time() - start) * 1e3)
    question.context.specialise()
    times = []
    for _ in range(400):
        start = time.process_time()
        check(question.context, question.config)
        times.append((time.process_time() - start) * 1e6)
    return median(times), median(fresh[1:])


def main() -> int:
    rows = lines()
    prepared, unprepared = in_process()
    through_batch(rows[:500])
    rate = through_batch(rows)
    print(
        f"check, context prepared   {prepared:8.0f} us (target: at most {TARGETS['prepared']:.0f})"
    )
    limit = TARGETS["unprepared"]
    print(f"ask and check, unprepared {unprepared:8.1f} ms (target: at most {limit:.0f})")
    print(
        f"batch, {LINES} mixed lines  {rate:8.0f} a second a core (target: {TARGETS['batch']:.0f})"
    )
    met = (
        prepared <= TARGETS["prepared"]
        and unprepared <= TARGETS["unprepared"]
        and rate >= TARGETS["batch"]
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
