"""How long ``kvsolve check`` takes for a tree of 1,000 manifests, and how much memory.

Run with ``python benchmarks/bench_tree.py``. The manifests are those of the corpus of the tests, in
Kubernetes', compose's and the other YAML shapes, each with an address of its own. They are checked
for one GPU, and with none given, where every command that names none is judged for every GPU; and
so once more with a port of its own for each, which SGLang's own checks look at. At last come 1,000
Pods of which no two have the same options; without a GPU each runs for every one, which is told
apart from the limit. Times are
of the processor, the start of the command and the loading of four releases' packs included.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sysconfig
import tempfile
from itertools import cycle, islice
from pathlib import Path

FILES = Path(__file__).parents[1] / "tests" / "corpus" / "files"
COUNT = 1000
WITHIN_S = 10.0
MODELS = ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-235B-A22B", "deepseek-ai/DeepSeek-V3")
RELEASES = ("0.5.18", "0.5.20", "0.5.22", "0.5.23")
OPTIONS: dict[str, tuple[object, ...]] = {
    "--tp-size": (1, 2, 4, 8),
    "--mem-fraction-static": (0.8, 0.85, 0.9),
    "--chunked-prefill-size": (2048, 4096, 8192, -1),
    "--kv-cache-dtype": ("auto", "fp8_e4m3", "fp8_e5m2"),
    "--page-size": (1, 16, 32, 64),
    "--attention-backend": ("fa3", "flashinfer", "triton", "trtllm_mha"),
    "--context-length": (4096, 8192, 16384),
    "--schedule-policy": ("lpm", "fcfs"),
}
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


def with_ports(folder: Path) -> None:
    """Give each manifest that names the usual port one of its own."""
    for number, file in enumerate(sorted(folder.rglob("*.*"))):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("30000", str(31000 + number)), encoding="utf-8")


def write_distinct(folder: Path) -> None:
    """A thousand Pods, each with options of its own."""
    draw = random.Random(3)
    for number in range(COUNT):
        words = ["python", "-m", "sglang.launch_server", "--model-path", draw.choice(MODELS)]
        for option, values in draw.sample(sorted(OPTIONS.items()), draw.randint(3, 6)):
            words += [option, str(draw.choice(values))]
        words += ["--max-running-requests", str(16 + number)]
        image = f"lmsysorg/sglang:v{draw.choice(RELEASES)}"
        container = {"name": "sglang", "image": image, "command": words}
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}}
        (folder / f"{number}.json").write_text(json.dumps(pod), encoding="utf-8")


def run(title: str, *arguments: str) -> bool:
    """Measure one run; whether it kept to the limits."""
    script = str(Path(sysconfig.get_path("scripts")) / "kvsolve")
    command = [script, "check", "--format", "jsonl", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = after.ru_maxrss / 1024
    answers = ran.stdout.count(b"\n")
    print(f"{title}: {answers} commands, {seconds:.1f} s, at most {memory:.0f} MiB")
    return seconds <= WITHIN_S and memory <= WITHIN_MIB


def main() -> int:
    """Measure after a first run that makes the packs."""
    print(f"{COUNT} manifests")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        run("first run of a few", str(FILES / "k8s"))
        good = run("for h100", "--gpu", "h100", folder)
        good &= run("for any GPU", folder)
        with_ports(Path(folder))
        good &= run("for any GPU, a port each", folder)
    with tempfile.TemporaryDirectory() as folder:
        write_distinct(Path(folder))
        good &= run("all different, for h100", "--gpu", "h100", folder)
        run("all different, for any GPU", folder)
    return int(not good)


if __name__ == "__main__":
    raise SystemExit(main())
