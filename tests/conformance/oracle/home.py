"""Where the oracle keeps its environment: one torch, one directory a release."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

__all__ = ["ARGS_ONLY", "RELEASES", "TESTS", "home", "python", "site", "transformers_site"]

TESTS = Path(__file__).resolve().parents[2]
"""The directory to put on PYTHONPATH so that ``conformance`` can be imported."""

_COMPARED = tomllib.loads(
    (TESTS.parent / "constraints" / "sglang" / "compared.toml").read_text(encoding="utf-8")
)
RELEASES: tuple[str, ...] = tuple(_COMPARED["releases"])
"""Releases that are compared to the last stage."""
ARGS_ONLY: tuple[str, ...] = tuple(_COMPARED["args_only"])
"""Older releases, whose later stages nothing is known of."""


def home() -> Path:
    """The oracle's own directory, ``$KVSOLVE_ORACLE_HOME`` or one in the user's cache."""
    named = os.environ.get("KVSOLVE_ORACLE_HOME")
    return Path(named) if named else Path.home() / ".cache" / "kvsolve-oracle"


def python() -> Path:
    """The interpreter with the CPU torch."""
    return home() / "venv" / "bin" / "python"


def site(release: str) -> Path:
    """The directory that holds one release's ``sglang`` package and its metadata."""
    return home() / "sglang" / release


def requirement(directory: Path, project: str, package: str) -> str:
    """The version specifier with which an installed project asks for a package.

    Raises:
        LookupError: The project is not installed there, or does not ask for the package.
    """
    for metadata in sorted(directory.glob(f"{project}-*.dist-info/METADATA")):
        found = re.search(
            rf"^Requires-Dist: {package}([^;\n]*)", metadata.read_text(), re.MULTILINE
        )
        if found:
            return found.group(1).strip()
    raise LookupError(f"no {project} that asks for {package} is installed in {directory}")


def transformers_site(release: str) -> Path:
    """The directory of the transformers version that the release pins."""
    return home() / "tf" / requirement(site(release), "sglang", "transformers").removeprefix("==")
