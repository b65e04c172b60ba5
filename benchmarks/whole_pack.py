"""What the benchmarks of operations on a whole pack share: a context, and what they print.

Times are of the processor; memory is the most that the process has held so far.
"""

from __future__ import annotations

import platform
import resource
import sys
import time
import tomllib
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from kvsolve.packs.pack import newest
from kvsolve.session import Request, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.session import Question

__all__ = ["asked", "first_scope", "timed"]

_SAMPLING = Path(__file__).parents[1] / "tests/conformance/sampling.toml"


def asked() -> Question:
    """The context named on the command line: ``[RELEASE [GPU [MODEL PROFILE]]]``."""
    usual = (newest(), "h100", "llama-mha")
    release, gpu, model = (*sys.argv[1:4], *usual[len(sys.argv) - 1 :])
    request = Request(["--model-path", model], sglang=release, gpu=gpu, family=model)
    question = Session().ask(request)
    print(
        f"{release} on {gpu}, {model}; Python {platform.python_version()}, "
        f"python-sat {version('python-sat')}"
    )
    return question


def first_scope(question: Question) -> list[str]:
    """The flags that decide about a KV cache, as the conformance samples have them."""
    names = tomllib.loads(_SAMPLING.read_text())["first_scope"]
    flags = question.pack.flags
    return [d for d in names if flags.by_dest(d) and d not in question.config.given]


@contextmanager
def timed(what: str) -> Iterator[list[str]]:
    """Print how long something took, with what is put into the list given."""
    told: list[str] = []
    start = time.process_time()
    yield told
    seconds = time.process_time() - start
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {what}: {seconds:.2f} s, {held:.0f} MB{''.join(f'; {t}' for t in told)}")
