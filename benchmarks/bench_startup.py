"""What a whole `kvsolve check` process costs, beside a bare Typer hello-world process.

CPU time of the child, user and system, so that a busy machine does not blur it; the two are run in
turn, so that both see the same machine. The first run of each is left out: it fills the caches.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from statistics import median

RUNS = 25
TARGET = 1.5
HELLO = """
import typer

app = typer.Typer()


@app.command()
def main(name: str = "world") -> None:
    print(f"Hello {name}")


if __name__ == "__main__":
    app()
"""
COMMAND = [
    "--sglang", "0.5.18", "--gpu", "h100", "--", "python", "-m", "sglang.launch_server",
    "--model-path", "meta-llama/Llama-3.1-8B-Instruct", "--is-embedding",
    "--prefill-only-disable-kv-cache", "--kv-cache-dtype", "nvfp4",
]  # fmt: skip


def cpu_ms(command: list[str], folder: str) -> float:
    # As installed packages are: with their bytecode written, wherever this runs.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
    quiet = subprocess.DEVNULL
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=quiet, stderr=quiet, check=False, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used * 1000


def main() -> int:
    kvsolve = str(Path(sysconfig.get_path("scripts")) / "kvsolve")
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "typer hello world": [sys.executable, str(hello)],
            "kvsolve check": [kvsolve, "check", *COMMAND],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS + 1):
            for name, command in commands.items():
                times[name].append(cpu_ms(command, folder))
    medians = {name: median(values[1:]) for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:<20} {value:7.1f} ms CPU (median of {RUNS})")
    ratio = medians["kvsolve check"] / medians["typer hello world"]
    print(f"{'ratio':<20} {ratio:7.2f} (target: at most {TARGET})")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
