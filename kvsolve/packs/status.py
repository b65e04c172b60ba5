"""How far the pack of a release is borne out."""

from __future__ import annotations

import tomllib

from kvsolve.packs.files import constraints_directory

__all__ = ["compared_releases", "release_status"]


def compared_releases(*, to_args: bool = False) -> tuple[str, ...]:
    """Releases whose pack was held to their own validator, oldest first.

    Args:
        to_args: Those held to argument resolution only, in place of those held to the last stage.
    """
    path = constraints_directory() / "sglang" / "compared.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(table["args_only" if to_args else "releases"])


def release_status(release: str) -> str:
    """``compared`` as far as it is judged, or ``read`` for one that was read and not compared."""
    compared = (*compared_releases(), *compared_releases(to_args=True))
    return "compared" if release in compared else "read"
