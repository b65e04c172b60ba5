"""InfiniBand devices that a job says the machine has; this machine has none."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["FOLDER", "infiniband"]

FOLDER = "/sys/class/infiniband"


@contextlib.contextmanager
def infiniband(devices: Sequence[str] | None) -> Iterator[None]:
    """Let the folder of devices list these; None leaves the machine without the folder."""
    if devices is None:
        yield
        return
    isdir, listdir = os.path.isdir, os.listdir

    def is_folder(path: Any) -> bool:
        return path == FOLDER or isdir(path)

    def listed(path: Any = ".") -> list[str]:
        return list(devices) if path == FOLDER else listdir(path)

    with mock.patch("os.path.isdir", is_folder), mock.patch("os.listdir", listed):
        yield
