"""Record the real facts of releases for the ordinary tests: ``python -m conformance.record_facts``.

Writes ``recorded/facts-<release>.json.gz``: ``platform`` holds the facts of one platform and
``platforms`` how the others differ from it, ``models`` what a model's facts are on most platforms,
and ``pairs`` how they differ on one platform, by ``platform/model``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.home import RELEASES, TESTS, python
from .verdict_file import RECORDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["facts_of", "facts_path", "pack", "read_facts"]

Facts = dict[str, Any]

PLATFORM_KEYS = (
    "current_platform",
    "platform_context",
    "platform_helpers",
    "environment",
    "packages",
    "quantization",
    "torch",
)
MODEL_KEYS = ("hf_config", "hf_text_config", "model_config", "model_helpers", "raw")
BASE = "h100"


def facts_path(release: str) -> Path:
    """Where a release's recorded facts lie."""
    return RECORDED / f"facts-{release}.json.gz"


def read_facts(release: str) -> Facts:
    """A release's recording, as ``pack`` made it."""
    recording: Facts = json.loads(gzip.decompress(facts_path(release).read_bytes()))
    return recording


def facts_of(recording: Facts, platform: str, model: str) -> Facts:
    """All facts of one platform and one model."""
    machine = _overlaid(recording["platform"], recording["platforms"][platform])
    shared = {**machine, **recording["models"][model]}
    return _overlaid(shared, recording["pairs"].get(f"{platform}/{model}", {}))


def pack(found: Iterable[Facts]) -> Facts:
    """Store once what many platforms share.

    Args:
        found: What ``facts_probe`` wrote, one for each platform and model.
    """
    platforms: dict[str, Facts] = {}
    by_model: dict[str, dict[str, Facts]] = {}
    release = ""
    for facts in found:
        release = facts["release"]
        platforms[facts["platform"]] = {k: facts[k] for k in PLATFORM_KEYS if k in facts}
        told = {key: facts[key] for key in MODEL_KEYS if key in facts}
        by_model.setdefault(facts["model"], {})[facts["platform"]] = told
    models, pairs = {}, {}
    for model, told in by_model.items():
        usual = models[model] = _commonest(told.values())
        for platform, facts in told.items():
            if facts != usual:
                pairs[f"{platform}/{model}"] = _difference(usual, facts)
    base = platforms[BASE]
    return {
        "release": release,
        "platform": base,
        "platforms": {name: _difference(base, facts) for name, facts in platforms.items()},
        "models": models,
        "pairs": pairs,
    }


def _commonest(facts: Iterable[Facts]) -> Facts:
    [(text, _)] = Counter(json.dumps(one, sort_keys=True) for one in facts).most_common(1)
    usual: Facts = json.loads(text)
    return usual


def _difference(usual: Any, actual: Any) -> Any:
    """What to lay over ``usual`` to get ``actual``; a list stands for a member that is gone."""
    if not isinstance(usual, dict) or not isinstance(actual, dict):
        return {"__is__": actual}
    changed: Facts = {"__gone__": sorted(set(usual) - set(actual))}
    for name, value in actual.items():
        if name not in usual:
            changed[name] = {"__is__": value}
        elif usual[name] != value:
            changed[name] = _difference(usual[name], value)
    return changed if changed["__gone__"] else {k: v for k, v in changed.items() if k != "__gone__"}


def _overlaid(usual: Any, changed: Mapping[str, Any]) -> Any:
    if "__is__" in changed:
        return changed["__is__"]
    gone = set(changed.get("__gone__", ()))
    whole = {name: value for name, value in usual.items() if name not in gone}
    for name, change in changed.items():
        if name != "__gone__":
            whole[name] = _overlaid(whole.get(name), change)
    return whole


def probe(release: str, platform: str, into: Path) -> None:
    """Write the facts of one platform, a file a model."""
    command = [python(), "-P", "-m", "conformance.facts_probe"]
    command += ["--release", release, "--platform", platform, "--into", str(into)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"}
    subprocess.run(command, check=True, env=environment, capture_output=True)


def _read(path: Path) -> Facts:
    """One probed file, without the home directory of whoever recorded it."""
    facts: Facts = json.loads(path.read_text().replace(str(Path.home()), "~"))
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the real facts of releases.")
    parser.add_argument("--release", action="append", choices=RELEASES)
    parser.add_argument("--from", dest="source", type=Path, help="a directory probed before")
    options = parser.parse_args()
    for release in options.release or RELEASES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = options.source or Path(scratch)
            if not options.source:
                for platform in GPU_PROFILES:
                    probe(release, platform, folder)
            found = [_read(path) for path in sorted(folder.glob("*.json"))]
        text = json.dumps(pack(found), sort_keys=True, separators=(",", ":"))
        facts_path(release).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(f"{release}: {facts_path(release).stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
