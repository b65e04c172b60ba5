"""The order of releases."""

from __future__ import annotations

__all__ = ["base_of", "release_order"]

_POST = ".post"


def release_order(release: str) -> tuple[int, ...]:
    """A key that sorts releases: by number, a ``.postN`` behind the release that it mends.

    >>> sorted(["0.5.10", "0.5.9", "0.5.9.post1"], key=release_order)
    ['0.5.9', '0.5.9.post1', '0.5.10']
    """
    base, _, post = release.partition(_POST)
    return (*(int(part) for part in base.split(".")), int(post or 0))


def base_of(release: str) -> str:
    """The release that a ``.postN`` mends; the release itself where it mends none."""
    return release.partition(_POST)[0]
