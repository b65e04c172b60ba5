"""Which packages a release can import, and in which version."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kvsolve.packs.files import constraints_directory, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.model.fact import Facts

__all__ = ["package_facts", "package_spec"]

DTYPES = (
    "bfloat16",
    "float16",
    "float32",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
)
BUILDS = {"cuda": "+cu130", "hip": "+rocm7.0", "cpu": "+cpu"}


def package_facts(release: str, kind: str, changes: Mapping[str, bool]) -> Facts:
    """``packages.NAME`` and ``packages.version.NAME``.

    Args:
        release: Release of SGLang.
        kind: Kind of platform, as in a GPU profile.
        changes: Import names that are there, or not, unlike in the official image.
    """
    table = _table()
    there = set(table["everywhere"].split()) | set(table[kind].split())
    names = {
        name
        for key in ("everywhere", "cuda", "hip", "npu", "cpu", "xpu", "plugin", "absent")
        for name in table[key].split()
    }
    facts: Facts = {f"packages.{name}": name in there for name in sorted(names)}
    facts |= {f"packages.{name}": is_there for name, is_there in changes.items()}
    for part in table["parts"].split():
        facts.setdefault(f"packages.{part}", facts.get(f"packages.{part.split('.')[0]}", False))
    versions = {**_versions().get(release, {}), **table["versions"]}
    if "torch" in versions:
        facts["packages.torch_release"] = _release(versions["torch"])
        versions["torch"] += BUILDS.get(kind, "")
    facts |= {f"packages.version.{name}": text for name, text in versions.items()}
    facts |= {f"packages.torch.{name}": f"torch.{name}" for name in DTYPES}
    return facts


def package_spec(facts: Facts, name: str) -> str | None:
    """What a search for an import name finds: something, or None."""
    found = facts.get(f"packages.{name}", facts.get(f"packages.{name.split('.')[0]}", False))
    return name if found else None


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    path = constraints_directory() / "sglang" / "profiles" / "packages.toml"
    return read_toml(path)


@lru_cache(maxsize=1)
def _versions() -> Mapping[str, Mapping[str, str]]:
    path = constraints_directory() / "sglang" / "profiles" / "package-versions.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
