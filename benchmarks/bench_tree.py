"""How long ``kvsolve check`` takes for a tree of 1,000 manifests, and how much memory.

Run with ``python benchmarks/bench_tree.py``. The manifests are those of the corpus of the tests, in
Kubernetes', compose's and the other YAML shapes, each with an address of its own. Times are of the
processor, the start of the command and the loading of four releases' packs included.
"""

from __future__ import annotations

import resource
import subprocess
import sysconfig
import tempfile
from itertools import cycle, islice
from pathlib import Path

FILES = Path(__file__).parents[1] / "tests" / "corpus" / "files"
COUNT = 1000
WITHIN_S = 10.0
WITHIN_MIB = 400


def write(folder: Path) -> None:
    """A thousand manifests in twenty folders."""
    sources = sorted(f for f in FILES.rglob("*") if f.suffix in (".yaml", ".yml"))
    for number, source in enumerate(islice(cycle(sources), COUNT)):
        place = folder / str(number % 20)
        place.mkdir(exist_ok=True)
        text = source.read_text(encoding="utf-8").replace(
            "0.0.0.0", f"10.0.{number // 250}.{number % 250}"
        )
        (place / f"{number}-{source.name}").write_text(text, encoding="utf-8")


def main() -> int:
    """Measure once more after a first run that makes the packs."""
    script = str(Path(sysconfig.get_path("scripts")) / "kvsolve")
    command = [script, "check", "--gpu", "h100", "--format", "jsonl"]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        warm = [*command, str(FILES / "k8s")]
        subprocess.run(warm, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run([*command, folder], check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = after.ru_maxrss / 1024
    answers = ran.stdout.count(b"\n")
    print(f"{COUNT} manifests, {answers} commands: {seconds:.1f} s, at most {memory:.0f} MiB")
    return int(seconds > WITHIN_S or memory > WITHIN_MIB)


if __name__ == "__main__":
    raise SystemExit(main())
