"""Install what the oracle needs, once: ``python -m conformance.oracle.setup 0.5.18 0.5.23``.

One virtual environment holds a CPU-only torch and the pure-Python packages that argument
resolution imports; each release and each transformers it pins lies in a directory of its own,
installed without dependencies. ``TORCH_INDEX`` may name an index of CPU builds of torch,
``KVSOLVE_ORACLE_HOME`` the place. Without a CPU build at hand the default build of torch is taken,
which is several gigabytes larger and serves as well.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

from .home import RELEASES, home, python, requirement, site, transformers_site

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TORCH = "2.13.0"

PACKAGES = [
    "numpy",
    "requests",
    "aiohttp",
    "fastapi",
    "msgspec",
    "pydantic",
    "pyzmq",
    "orjson",
    "psutil",
    "IPython",
    "pybase64",
    "pillow",
    "openai==2.6.1",
    "huggingface_hub>=1.31,<2",
    "regex",
    "safetensors",
    "tqdm",
    "pyyaml",
    "packaging",
    "loguru",
    "sentencepiece",
    "einops",
    "scipy",
    "xxhash",
    "prometheus-client",
    "python-multipart",
    "uvicorn",
    "httpx",
    "dill",
    "cloudpickle",
    "cachetools",
    "setproctitle",
    "interegular",
    "partial_json_parser",
    "tiktoken",
    "jinja2",
    "typer",
]


def install(releases: Sequence[str]) -> None:
    """Install the environment and the releases that are not there yet."""
    environment()
    for release in releases:
        _packages(site(release), f"sglang=={release}")
        transformers = transformers_site(release)
        _packages(transformers, f"transformers=={transformers.name}")
        if not (transformers / "tokenizers").is_dir():
            _beside(transformers, "tokenizers")
        if transformers.name.startswith("4.") and not (transformers / "huggingface_hub").is_dir():
            _beside(transformers, "huggingface-hub")
        print(f"sglang {release}: ready, with transformers {transformers.name}", flush=True)


def _beside(transformers: Path, package: str) -> None:
    """Install what a transformers wants in another version than the environment has."""
    wanted = f"{package}{requirement(transformers, 'transformers', package)}"
    _pip("--no-deps", "--no-compile", "--target", str(transformers), wanted)


def environment() -> None:
    """Make the virtual environment, unless it is complete."""
    done = home() / "venv" / ".ok4"
    if done.exists():
        return
    if not python().exists():
        venv.create(home() / "venv", with_pip=True)
    _torch()
    _pip(*PACKAGES)
    done.touch()


def _torch() -> None:
    """Install a CPU build if pip knows one, else the default build."""
    index = os.environ.get("TORCH_INDEX")
    source = ["--extra-index-url", index] if index else []
    try:
        _pip(*source, f"torch=={TORCH}+cpu")
    except subprocess.CalledProcessError:
        print("no CPU build of torch found (TORCH_INDEX may name an index); taking the default")
        _pip(*source, f"torch=={TORCH}")


def _packages(target: Path, wanted: str) -> None:
    """Install one package without its dependencies into a directory of its own."""
    if (target / ".ok").exists():
        return
    shutil.rmtree(target, ignore_errors=True)
    _pip("--no-deps", "--no-compile", "--target", str(target), wanted)
    (target / ".ok").touch()


def _pip(*arguments: str) -> None:
    command = [python(), "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Install the oracle's environment.")
    parser.add_argument(
        "release", nargs="*", default=list(RELEASES), help="default: all compared to the last stage"
    )
    try:
        install(parser.parse_args().release)
    except subprocess.CalledProcessError as error:
        sys.exit(f"the oracle could not be installed: {' '.join(map(str, error.cmd))} failed")


if __name__ == "__main__":
    main()
