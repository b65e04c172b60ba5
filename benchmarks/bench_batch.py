"""How many configurations a second one core judges through `kvsolve batch`, output included.

Processor time, the median of several parts, so that a busy machine blurs it less.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from commands import RELEASES, random_lines

from kvsolve.cli.main import main as kvsolve
from kvsolve.packs.pack import load_pack

PARTS, LINES = 10, 400
TARGET = 1000


def rate(rows: list[dict[str, Any]]) -> float:
    """Lines a second."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            code = kvsolve(["batch", str(file)])
        assert code == 0
        return len(rows) / (time.process_time() - start)


def main() -> int:
    rows = list(random_lines(PARTS * LINES))
    for release in RELEASES:
        load_pack(release).units(make=True)  # kept between starts, as compiled packs are
    rate(rows)
    measured = median(rate(rows[at : at + LINES]) for at in range(0, len(rows), LINES))
    print(f"batch, mixed contexts {measured:8.0f} lines a second a core (target: {TARGET})")
    return 0 if measured >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
