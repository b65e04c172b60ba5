"""Record the real parsers: ``python -m conformance.record_parsers`` (a minute a release).

Writes ``recorded/parsers-<release>.json.gz``, which the ordinary tests replay. Needs the
releases of ``python -m conformance.oracle.setup``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
from typing import TYPE_CHECKING, Any

from kvsolve.model.flag import FlagTable

from .oracle.home import RELEASES, TESTS, python
from .random_argv import random_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["RECORDED", "asked", "recorded"]

RECORDED = TESTS / "conformance" / "recorded"
TABLES = TESTS.parent / "constraints" / "sglang" / "flags"
LINES = 400


def asked(release: str, seed: int, lines: int) -> dict[str, Any]:
    """The real parser of a release and its answers to seeded random lines."""
    table = FlagTable.load(TABLES / f"{release}.json")
    chance = random.Random(f"{release} {seed}")
    questions = "".join(json.dumps(random_line(chance, table)) + "\n" for _ in range(lines))
    done = subprocess.run(
        [python(), "-P", "-m", "conformance.parser_probe", "--release", release],
        input=questions,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"},
        text=True,
        check=True,
    )
    return {**json.loads(done.stdout), "seed": seed}


def recorded(release: str) -> dict[str, Any]:
    """What was recorded of a release."""
    return json.loads(gzip.decompress(path(release).read_bytes()))


def path(release: str) -> Path:
    """Where a release's record is."""
    return RECORDED / f"parsers-{release}.json.gz"


def main(arguments: Sequence[str] | None = None) -> None:
    """Record the releases named, or all of them."""
    cli = argparse.ArgumentParser(description="Record the real parsers of releases.")
    cli.add_argument("--release", action="append", choices=RELEASES)
    cli.add_argument("--seed", type=int, default=1)
    options = cli.parse_args(arguments)
    RECORDED.mkdir(exist_ok=True)
    for release in options.release or RELEASES:
        text = json.dumps(asked(release, options.seed, LINES), separators=(",", ":"))
        path(release).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
