"""Commands for the benchmarks: mixed releases, GPUs, models and flags, drawn with a fixed seed.

Contexts are shared as in real use: a few dozen of them, each asked again and again.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

from kvsolve.packs.pack import releases

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RELEASES", "random_lines"]

SEED = 20
RELEASES = ("0.5.18", releases()[-1])
"""An older release and the newest."""
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


def random_lines(count: int) -> Iterator[dict[str, Any]]:
    """Lines of a batch: up to five flags each."""
    draw = random.Random(SEED)
    contexts = list(itertools.product(RELEASES, GPUS, MODELS))
    for number in range(count):
        release, gpu, family = draw.choice(contexts)
        argv = ["--model-path", "m"]
        for flag, *values in draw.sample(FLAGS, draw.randint(0, 5)):
            argv += [flag, draw.choice(values)] if values else [flag]
        yield {"id": number, "argv": argv, "sglang": release, "gpu": gpu, "family": family}
